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
/// same "random" outputs. The names of the input files are hidden in what it shows.
struct ProgramSubject {
  Subject subject;
  ProgramMode mode = ProgramMode::kMany;
  /// Where processes that make many runs end or complain in different ways: how they do, by
  /// processes that make one run each. To be audited before the outputs, which are lost when a
  /// process fails.
  std::optional<Subject> asides = {};
};
ProgramSubject program_subject(const Program& program, const Claim& claim, const LinePairs& pairs);

}  // namespace gauze::audit
