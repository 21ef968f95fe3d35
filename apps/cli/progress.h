#pragma once

#include <chrono>
#include <csignal>

namespace gauze::cli {

/// A bar on standard error while a scan lasts, if that is a terminal and the scan is long enough to
/// wonder about. While it lives, Ctrl-C asks the scan to stop instead of ending the program.
class Progress {
 public:
  /// `doing` is what the bar says: "reading".
  explicit Progress(const char* doing = "reading");
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// `done` in [0, 1], negative when nobody knows. Throws `Stopped` after Ctrl-C.
  void show(double done);

 private:
  void erase();

  std::chrono::steady_clock::time_point start_, last_;
  const char* doing_;
  bool terminal_, shown_ = false;
  struct sigaction before_ {};
};

}  // namespace gauze::cli
