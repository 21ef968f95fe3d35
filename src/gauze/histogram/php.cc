#include "gauze/histogram/php.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <queue>

#include "gauze/base/error.h"
#include "gauze/histogram/count_noise.h"
#include "gauze/mechanism/exponential.h"

namespace gauze {
namespace {

/// Larger counts are taken for this, so that scores are exact.
constexpr std::int64_t kMostCount = std::int64_t{1} << 32;

/// Sum of |count - median| of what was added so far.
class RunningDeviation {
 public:
  void add(std::int64_t count) {
    if (low_.empty() || count <= low_.top()) {
      low_.push(count);
      low_sum_ += count;
    } else {
      high_.push(count);
      high_sum_ += count;
    }
    if (low_.size() > high_.size() + 1) {
      high_.push(low_.top());
      high_sum_ += low_.top();
      low_sum_ -= low_.top();
      low_.pop();
    } else if (high_.size() > low_.size()) {
      low_.push(high_.top());
      low_sum_ += high_.top();
      high_sum_ -= high_.top();
      high_.pop();
    }
  }
  std::int64_t value() const {
    return high_sum_ - low_sum_ + (low_.size() > high_.size() ? low_.top() : 0);
  }

 private:
  std::priority_queue<std::int64_t> low_;  // one more than in the upper half, or as many
  std::priority_queue<std::int64_t, std::vector<std::int64_t>, std::greater<>> high_;
  std::int64_t low_sum_ = 0;
  std::int64_t high_sum_ = 0;
};

/// Entry i: the deviation of the first i + 1 counts.
template <class Iterator>
std::vector<std::int64_t> deviations_of_prefixes(Iterator begin, Iterator end) {
  RunningDeviation running;
  std::vector<std::int64_t> deviations;
  for (; begin != end; ++begin) {
    running.add(std::clamp<std::int64_t>(*begin, 0, kMostCount));
    deviations.push_back(running.value());
  }
  return deviations;
}

struct Bucket {
  std::uint32_t begin, end;
};

/// Entry 0 is for no cut, entry i for one before the i-th count: minus the deviations of the parts. No cut
/// gets as much more as makes it as likely as all cuts together when none helps.
std::vector<double> cut_scores(std::span<const std::int64_t> counts, double rate) {
  const auto left = deviations_of_prefixes(counts.begin(), counts.end());
  const auto right = deviations_of_prefixes(counts.rbegin(), counts.rend());
  const double extra = std::floor(std::log(static_cast<double>(counts.size())) / rate);
  std::vector<double> scores = {extra - static_cast<double>(left.back())};
  for (std::size_t cut = 1; cut < counts.size(); ++cut)
    scores.push_back(-static_cast<double>(left[cut - 1] + right[counts.size() - cut - 1]));
  return scores;
}

}  // namespace

PhpHistogram::PhpHistogram(Options options) : options_(std::move(options)) {
  check_budget({options_.epsilon, 0, options_.rows_per_unit});
  check_dense(options_.shape);
  require(options_.shape->axes() == 1 && options_.shape->cells() <= 1u << 20,
          "shape: must have one axis of at most 2^20 cells; use dawa for more");
  require(options_.partition_share > 0 && options_.partition_share < 1,
          "partition_share must lie strictly between 0 and 1");
  require(options_.depth <= 20, "depth: must be at most 20");
  const auto bits = static_cast<std::uint32_t>(std::bit_width(options_.shape->cells() - 1));
  if (options_.depth == 0) options_.depth = std::max(1u, bits);
}

BucketMeasurement PhpHistogram::measurement() const {
  return {options_.epsilon.get() * (1 - options_.partition_share), options_.rows_per_unit,
          options_.aim};
}

Ratio PhpHistogram::level_epsilon() const {
  return options_.epsilon.get() * options_.partition_share / options_.depth;
}

Event PhpHistogram::event() const {
  const Event bisections{events::Exponential{level_epsilon()}, Relation::kAddRemove,
                         options_.depth};
  return {events::Composed{{bisections, measurement().event()}}, Relation::kAddRemove};
}

Accuracy PhpHistogram::accuracy(double confidence) const {
  const std::uint64_t most = std::min(options_.shape->cells(), std::uint64_t{1} << options_.depth);
  return measurement().accuracy(most, confidence);
}

std::vector<std::uint32_t> PhpHistogram::find_buckets(std::span<const std::int64_t> counts,
                                                      Context& context) const {
  const ExponentialMechanism choose(
      {.epsilon = level_epsilon(), .sensitivity = Ratio(options_.rows_per_unit.get())});
  const double rate =
      round_down(level_epsilon()) / 2 / static_cast<double>(options_.rows_per_unit.get());
  std::vector<Bucket> buckets = {{0, static_cast<std::uint32_t>(counts.size())}};
  for (std::uint32_t level = 0; level < options_.depth; ++level) {
    context.meter.charge(choose.event());
    std::vector<Bucket> next;
    for (const Bucket& bucket : buckets) {
      const std::size_t cells = bucket.end - bucket.begin;
      if (cells == 1) {
        next.push_back(bucket);
        continue;
      }
      const auto scores = cut_scores(counts.subspan(bucket.begin, cells), rate);
      // Buckets hold different rows, so all choices of a level together cost one.
      Meter own(choose.event());
      Context part{own, context.bits};
      const auto cut = static_cast<std::uint32_t>(choose.run(scores, part).value);
      if (cut != 0) next.push_back({bucket.begin, bucket.begin + cut});
      next.push_back({bucket.begin + cut, bucket.end});
    }
    buckets = std::move(next);
  }
  std::vector<std::uint32_t> begins;
  for (const Bucket& bucket : buckets) begins.push_back(bucket.begin);
  begins.push_back(static_cast<std::uint32_t>(counts.size()));
  return begins;
}

Release<RangeHistogram> PhpHistogram::run(std::span<const std::int64_t> counts,
                                          Context& context) const {
  if (counts.size() != options_.shape->cells())
    throw Error(ErrorCode::kInvalidInput, "there must be one count for each cell of the shape");
  StepMeter steps(event(), context);
  const auto begins = find_buckets(counts, steps.context());
  return {measurement().run(counts, begins, steps.context()), accuracy(), event()};
}

}  // namespace gauze
