#include "gauze/audit/timing.h"

#include <chrono>

namespace gauze::audit {
namespace {

/// Seconds that recent runs took, of both inputs.
class Lately {
 public:
  void add(double seconds) {
    constexpr double kForget = 1.0 / 64;
    mean_ = mean_ == 0 ? seconds : mean_ + kForget * (seconds - mean_);
  }
  double times(double seconds) const { return mean_ > 0 ? seconds / mean_ : 1; }

 private:
  double mean_ = 0;
};

}  // namespace

Subject timed(Subject subject) {
  using Clock = std::chrono::steady_clock;
  subject.name += ", by its run time";
  subject.probabilities = {};
  subject.draw = [draw = subject.draw](std::size_t pair, Side side, std::uint64_t runs,
                                       BitSource& bits) {
    constexpr std::uint64_t kWarmUp = 32;
    Lately lately;
    Outputs outputs;
    for (std::uint64_t i = 0; i < kWarmUp + runs; ++i) {
      const bool first_comes_first = (bits.next() & 1) == 0;
      for (const Side now : {first_comes_first ? Side::kFirst : Side::kSecond,
                             first_comes_first ? Side::kSecond : Side::kFirst}) {
        const auto start = Clock::now();
        const Outputs one = draw(pair, now, 1, bits);
        const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
        lately.add(seconds);
        if (i < kWarmUp || now != side) continue;
        std::vector<double> joined = {lately.times(seconds)};
        if (one.width() > 0)
          joined.insert(joined.end(), one.vector(0).begin(), one.vector(0).end());
        outputs.add(std::span<const double>(joined));
      }
    }
    return outputs;
  };
  return subject;
}

}  // namespace gauze::audit
