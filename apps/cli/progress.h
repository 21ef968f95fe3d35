#pragma once

#include <array>
#include <chrono>
#include <csignal>
#include <string>
#include <string_view>

namespace gauze::cli {

/// A bar on standard error while a scan lasts, if that is a terminal and the scan is long enough to
/// wonder about. While it lives, SIGINT (Ctrl-C), SIGTERM and SIGHUP ask the scan to stop instead of ending the program,
/// so that what was reserved is marked interrupted.
/// After `expect_answer` the first of them is told that the answer comes, and the second ends the program.
class Progress {
 public:
  /// `doing` is what the bar says: "reading".
  explicit Progress(const char* doing = "reading");
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// `done` in (0, 1]; 0 or less when nobody knows, and then seconds are shown. `doing` is what the bar says
  /// where it is not "". Throws `door::Stop` after one of these signals.
  void show(double done, std::string_view doing = "");
  /// From here on noise is drawn for an answer that a ledger has charged.
  void expect_answer();

 private:
  void erase();
  void handle(int flags);

  std::chrono::steady_clock::time_point start_, last_;
  const char* doing_;
  bool terminal_, shown_ = false;
  std::array<struct sigaction, 3> before_{};
};

}  // namespace gauze::cli
