#pragma once

#include <chrono>
#include <functional>

namespace gauze::internal {

/// Tells how much is done, at most twenty times a second.
class ProgressTicks {
 public:
  explicit ProgressTicks(const std::function<void(double)>& progress) : progress_(progress) {}
  void tell(double done) {
    if (!progress_) return;
    const auto now = std::chrono::steady_clock::now();
    if (now - last_ < kBetween) return;
    last_ = now;
    progress_(done);
  }

 private:
  static constexpr auto kBetween = std::chrono::milliseconds(50);
  const std::function<void(double)>& progress_;
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

}  // namespace gauze::internal
