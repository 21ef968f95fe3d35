#include "gauze/histogram/php.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "gauze/base/error.h"
#include "gauze/histogram/count_noise.h"
#include "gauze/mechanism/exponential.h"

namespace gauze {
namespace {

__extension__ typedef __int128 WideSum;

/// Larger counts are taken for this, so that scores are exact.
constexpr std::int64_t kMostCount = std::int64_t{1} << 31;
constexpr double kMostNoise = 0x1p52;
/// By how much a row moves a deviation, at most.
constexpr std::uint64_t kDeviationOfARow = 2;

/// Sum of |count - mean| of what was added so far, rounded down. Counts at most the mean lie as far
/// below it, together, as the others lie above: Fenwick trees over all counts in order add them up.
class RunningDeviation {
 public:
  explicit RunningDeviation(std::span<const std::int64_t> counts)
      : order_(counts.begin(), counts.end()) {
    std::sort(order_.begin(), order_.end());
    order_.erase(std::unique(order_.begin(), order_.end()), order_.end());
    below_.resize(order_.size() + 1);
  }

  void add(std::int64_t count) {
    for (std::size_t i = rank(count); i < below_.size(); i += i & -i) below_[i].add(1, count);
    all_.add(1, count);
  }
  std::int64_t value() const {
    Few low;
    for (std::size_t i = rank(all_.sum / all_.number); i > 0; i -= i & -i)
      low.add(below_[i].number, below_[i].sum);
    const WideSum lacking = WideSum{low.number} * all_.sum - WideSum{all_.number} * low.sum;
    return static_cast<std::int64_t>(2 * lacking / all_.number);
  }

 private:
  struct Few {
    std::int64_t number = 0, sum = 0;
    void add(std::int64_t more, std::int64_t counts) {
      number += more;
      sum += counts;
    }
  };

  /// How many different counts are at most this one.
  std::size_t rank(std::int64_t count) const {
    const auto above = std::upper_bound(order_.begin(), order_.end(), count);
    return static_cast<std::size_t>(above - order_.begin());
  }

  std::vector<std::int64_t> order_;
  std::vector<Few> below_;
  Few all_;
};

/// Entry i: the deviation of the first i + 1 counts.
template <class Iterator>
std::vector<std::int64_t> deviations_of_prefixes(Iterator begin, Iterator end,
                                                 RunningDeviation running) {
  std::vector<std::int64_t> deviations;
  for (; begin != end; ++begin) {
    running.add(*begin);
    deviations.push_back(running.value());
  }
  return deviations;
}

struct Bucket {
  std::uint32_t begin, end;
};

/// Entry i is for a cut after i + 1 counts: minus the deviations of the parts.
std::vector<double> cut_scores(std::span<const std::int64_t> counts) {
  const RunningDeviation none(counts);
  const auto left = deviations_of_prefixes(counts.begin(), counts.end(), none);
  const auto right = deviations_of_prefixes(counts.rbegin(), counts.rend(), none);
  std::vector<double> scores;
  for (std::size_t i = 0; i + 1 < counts.size(); ++i)
    scores.push_back(-static_cast<double>(left[i] + right[counts.size() - i - 2]));
  return scores;
}

double deviation_of(std::span<const std::int64_t> counts) {
  RunningDeviation running(counts);
  for (const std::int64_t count : counts) running.add(count);
  return static_cast<double>(running.value());
}

}  // namespace

/// Cuts in the order they were made, and the deviations of all buckets after each, before any first.
struct PhpHistogram::Cuts {
  std::vector<std::uint32_t> places;
  std::vector<double> deviations;
};

PhpHistogram::PhpHistogram(Options options) : options_(std::move(options)) {
  check_budget({options_.epsilon, 0, options_.rows_per_unit});
  check_dense(options_.shape);
  require(options_.shape->axes() == 1 && options_.shape->cells() <= 1u << 20,
          "shape: must have one axis of at most 2^20 cells; use dawa for more");
  require(options_.partition_share > 0 && options_.partition_share < 1,
          "partition_share must lie strictly between 0 and 1");
  require(options_.depth <= 24, "depth: must be at most 24");
  const auto bits = static_cast<std::uint32_t>(std::bit_width(options_.shape->cells() - 1));
  if (options_.depth == 0) options_.depth = bits + 4;
}

BucketMeasurement PhpHistogram::measurement() const {
  return {options_.epsilon.get() * (1 - options_.partition_share), options_.rows_per_unit,
          options_.aim};
}

ExponentialMechanism PhpHistogram::choice(const Ratio& epsilon) const {
  return ExponentialMechanism(
      {.epsilon = epsilon,
       .sensitivity = Ratio(kDeviationOfARow) * Ratio(options_.rows_per_unit.get())});
}

ExponentialMechanism PhpHistogram::cutting() const {
  return choice(Ratio(options_.epsilon.get() * options_.partition_share / 2 / options_.depth));
}

ExponentialMechanism PhpHistogram::stopping() const {
  return choice(Ratio(options_.epsilon.get() * options_.partition_share / 2));
}

Event PhpHistogram::event() const {
  Event levels = cutting().event();
  levels.count = options_.depth;
  return {events::Composed{{levels, stopping().event(), measurement().event()}},
          Relation::kAddRemove};
}

Accuracy PhpHistogram::accuracy(double confidence) const {
  const std::uint64_t most = std::min(options_.shape->cells(), std::uint64_t{1} << options_.depth);
  return measurement().accuracy(most, confidence);
}

PhpHistogram::Cuts PhpHistogram::cuts(std::span<const std::int64_t> counts,
                                      Context& context) const {
  const ExponentialMechanism choose = cutting();
  std::vector<Bucket> buckets = {{0, static_cast<std::uint32_t>(counts.size())}};
  Cuts made{{}, {deviation_of(counts)}};
  for (std::uint32_t level = 0; level < options_.depth; ++level) {
    context.meter.charge(choose.event());
    std::vector<Bucket> next;
    for (const Bucket& bucket : buckets) {
      if (bucket.end - bucket.begin == 1) continue;
      const auto inside = counts.subspan(bucket.begin, bucket.end - bucket.begin);
      const auto scores = cut_scores(inside);
      // Buckets hold different rows, so all choices of a level together cost one.
      Meter own(choose.event());
      Context part{own, context.bits};
      const std::size_t chosen = choose.run(scores, part).value;
      const auto cut = bucket.begin + static_cast<std::uint32_t>(chosen) + 1;
      made.places.push_back(cut);
      made.deviations.push_back(made.deviations.back() - deviation_of(inside) - scores[chosen]);
      next.push_back({bucket.begin, cut});
      next.push_back({cut, bucket.end});
    }
    buckets = std::move(next);
  }
  return made;
}

/// How many of the cuts are worth the noise of one bucket more.
std::size_t PhpHistogram::enough(const Cuts& cuts, Context& context) const {
  const double noise = round_down(Ratio(options_.rows_per_unit.get()) / measurement().epsilon);
  std::vector<double> scores;
  for (std::size_t i = 0; i < cuts.deviations.size(); ++i) {
    const double all = std::min(kMostNoise, std::floor(noise * static_cast<double>(i + 1)));
    scores.push_back(-cuts.deviations[i] - all);
  }
  return stopping().run(scores, context).value;
}

Release<RangeHistogram> PhpHistogram::run(std::span<const std::int64_t> counts,
                                          Context& context) const {
  if (counts.size() != options_.shape->cells())
    throw Error(ErrorCode::kInvalidInput, "there must be one count for each cell of the shape");
  StepMeter steps(event(), context);
  std::vector<std::int64_t> limited;
  for (const std::int64_t count : counts)
    limited.push_back(std::clamp<std::int64_t>(count, 0, kMostCount));
  const Cuts all = cuts(limited, steps.context());
  std::vector<std::uint32_t> begins(
      all.places.begin(),
      all.places.begin() + static_cast<std::ptrdiff_t>(enough(all, steps.context())));
  begins.push_back(0);
  begins.push_back(static_cast<std::uint32_t>(counts.size()));
  std::sort(begins.begin(), begins.end());
  return {measurement().run(counts, begins, steps.context()), accuracy(), event()};
}

}  // namespace gauze
