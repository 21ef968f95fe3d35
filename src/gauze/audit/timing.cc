#include "gauze/audit/timing.h"

#include <chrono>

namespace gauze::audit {
namespace {

using Draw = decltype(Subject::draw);

struct TimedRun {
  double seconds;
  Outputs output;
};

TimedRun timed_run(const Draw& draw, std::size_t pair, Side side, BitSource& bits) {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  Outputs output = draw(pair, side, 1, bits);
  return {std::chrono::duration<double>(Clock::now() - start).count(), std::move(output)};
}

/// What a run takes at present: of runs of either input that serve for nothing else, so that no output
/// depends on one that is judged.
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
  subject.name += ", by its run time";
  subject.probabilities = {};
  subject.draw_in_turns = [draw = subject.draw](std::size_t pair, std::uint64_t runs,
                                                BitSource& bits) {
    constexpr int kWarmUp = 32;
    Lately lately;
    const auto look_again = [&] {
      lately.add(timed_run(draw, pair, random_side(bits), bits).seconds);
    };
    for (int i = 0; i < kWarmUp; ++i) look_again();
    BothOutputs outputs;
    for (std::uint64_t i = 0; i < runs; ++i) {
      look_again();
      const Side earlier = random_side(bits);
      for (const Side side : {earlier, other(earlier)}) {
        const auto [seconds, output] = timed_run(draw, pair, side, bits);
        std::vector<double> joined = {lately.times(seconds)};
        if (output.width() > 0)
          joined.insert(joined.end(), output.vector(0).begin(), output.vector(0).end());
        outputs.of(side).add(std::span<const double>(joined));
      }
    }
    return outputs;
  };
  return subject;
}

}  // namespace gauze::audit
