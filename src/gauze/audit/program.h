#pragma once

#include <optional>
#include <string>

#include "gauze/audit/pairs.h"
#include "gauze/audit/subject.h"

namespace gauze::audit {

/// How a program is asked for many runs.
enum class ProgramMode : std::uint8_t {
  kMany,  ///< `PROGRAM FILE RUNS` prints one output per line, RUNS of them
  kOne,   ///< `PROGRAM FILE` makes one run; all it prints, its exit code and errors are the output
};

/// Somebody's mechanism: a program that reads a file with one row per line.
struct Program {
  std::string command;                   ///< shell syntax; the arguments are appended
  std::optional<ProgramMode> mode = {};  ///< found out by trying where it is not said
  double timeout = 60;                   ///< seconds that a process may take
};

/// Tries the program on the inputs, and gives it as a subject. Throws `kInvalidInput` when it fails on
/// every input or prints another number of lines than asked for, and when two processes print the
/// same "random" outputs. A program that ends or complains differently on two neighbours is given
/// by what it shows besides its output: `side_channel` says so.
struct ProgramSubject {
  Subject subject;
  ProgramMode mode = ProgramMode::kMany;
  bool side_channel = false;
};
ProgramSubject program_subject(const Program& program, const Claim& claim, const LinePairs& pairs);

}  // namespace gauze::audit
