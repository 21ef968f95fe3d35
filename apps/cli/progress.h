#pragma once

#include <array>
#include <chrono>
#include <csignal>
#include <functional>
#include <optional>

namespace gauze::cli {

/// A bar on standard error while a scan lasts, if that is a terminal and the scan is long enough to
/// wonder about. While it lives, SIGINT (Ctrl-C), SIGTERM and SIGHUP ask the scan to stop instead of ending the program,
/// so that what was reserved is marked interrupted.
class Progress {
 public:
  /// `doing` is what the bar says: "reading".
  explicit Progress(const char* doing = "reading");
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// `done` in (0, 1]; 0 or less when nobody knows, and then seconds are shown. Throws `door::Stop` after one of these signals.
  void show(double done);

 private:
  void erase();

  std::chrono::steady_clock::time_point start_, last_;
  const char* doing_;
  bool terminal_, shown_ = false;
  std::array<struct sigaction, 3> before_{};
};

/// For what reads rows first and works on them afterwards: the bar lives until all are read; from then on signals end
/// the program again.
std::function<void(double done)> until_read(std::optional<Progress>& progress);

}  // namespace gauze::cli
