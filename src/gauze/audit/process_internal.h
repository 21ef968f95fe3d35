#pragma once

#include <string>
#include <vector>

namespace gauze::audit {

struct Ended {
  int exit = 0;  ///< as the shell has it: 128 plus the signal that ended it
  std::string out;
  std::string err;
};

/// Runs `command` (shell syntax) with more arguments and an empty standard input. Throws `kIo` when it
/// cannot be started and `kInvalidInput` when it takes longer than `seconds`.
Ended run_process(const std::string& command, const std::vector<std::string>& arguments,
                  double seconds);

}  // namespace gauze::audit
