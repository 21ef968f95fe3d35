#include "gauze/mechanism/quantile_internal.h"

#include <algorithm>
#include <cmath>

#include "gauze/base/error.h"
#include "gauze/noise/choice.h"
#include "gauze/numeric/exact_sum.h"
#include "gauze/numeric/lattice.h"
#include "gauze/random/uniform.h"

namespace gauze::internal {
namespace {

constexpr double kLargestScore = 0x1p53;

/// Candidates with one score: all indices in [first, last].
struct Plateau {
  std::uint64_t first;
  std::uint64_t last;
  double score;
};

/// Scores are integers: ranks times the denominator of the probability.
class RankScore {
 public:
  RankScore(const Ratio& probability, std::size_t records)
      : unit_(static_cast<double>(denominator(probability).convert_to<std::int64_t>())),
        target_(static_cast<double>(numerator(probability).convert_to<std::int64_t>()) *
                static_cast<double>(records)) {}

  /// Minus the distance of the target from [below, upto]. Saturating keeps differences as they are
  /// or smaller.
  double operator()(std::size_t below, std::size_t upto) const {
    const double low = unit_ * static_cast<double>(below);
    const double high = unit_ * static_cast<double>(upto);
    const double distance = target_ < low ? low - target_ : std::max(0.0, target_ - high);
    return -std::min(distance, kLargestScore);
  }

 private:
  double unit_;
  double target_;
};

std::vector<Plateau> plateaus(std::span<const std::uint64_t> sorted, std::uint64_t first,
                              std::uint64_t last, const Ratio& probability) {
  const RankScore score(probability, sorted.size());
  std::vector<Plateau> result;
  std::uint64_t next = first;  // the first index not yet covered
  for (std::size_t below = 0; below < sorted.size();) {
    const std::uint64_t value = sorted[below];
    std::size_t upto = below + 1;
    while (upto < sorted.size() && sorted[upto] == value) ++upto;
    if (value > next) result.push_back({next, value - 1, score(below, below)});
    result.push_back({value, value, score(below, upto)});
    next = value + 1;
    below = upto;
  }
  if (next <= last) result.push_back({next, last, score(sorted.size(), sorted.size())});
  return result;
}

}  // namespace

QuantileDomain::QuantileDomain(const Ratio& lower, const Ratio& upper, const Ratio& granularity)
    : range_(lower, upper),
      granularity_(granularity == 0 ? Ratio(range_.width() * power_of_two(-20)) : granularity) {
  require(granularity >= 0, "granularity must be positive, or 0 for 2^20 steps");
  const Integer steps = floor(Ratio(range_.width() / granularity_));
  require(steps >= 1 && steps <= (Integer(1) << 50),
          "granularity must divide the range into 1 to 2^50 steps");
  size_ = steps.convert_to<std::uint64_t>() + 1;
  shift_ = -floor_log2(granularity_);
  const Ratio unit = power_of_two(shift_);
  low_ = nearest_double(Ratio(lower * unit));
  per_unit_ = nearest_double(Ratio(1 / (granularity_ * unit)));
}

std::vector<std::uint64_t> QuantileDomain::indices(std::span<const double> values) const {
  std::vector<std::uint64_t> result;
  result.reserve(values.size());
  const auto last = static_cast<double>(size_ - 1);
  for (const double value : values) {
    // At most 2^50 steps and 2^53 doubles fit the range: the scaled value is below 2^104.
    const double scaled = std::ldexp(range_.clamp(value), shift_);
    const double steps = std::floor((scaled - low_) * per_unit_ + 0.5);
    result.push_back(static_cast<std::uint64_t>(std::clamp(steps, 0.0, last)));
  }
  std::sort(result.begin(), result.end());
  return result;
}

double QuantileDomain::value(std::uint64_t index) const {
  return nearest_double(Ratio(range_.lower() + granularity_ * Ratio(Integer(index))));
}

void check_quantile_probability(const Ratio& probability) {
  require(probability >= 0 && probability <= 1, "probability must lie in [0, 1]");
  require(denominator(probability) <= (1 << 20),
          "probability must be a fraction with a denominator of at most 2^20; round it");
}

Ratio rank_sensitivity(const Ratio& probability, Relation relation) {
  if (relation == Relation::kReplace) return 1;
  return std::max<Ratio>(probability, 1 - probability);
}

std::uint64_t choose_quantile(std::span<const std::uint64_t> sorted, std::uint64_t first,
                              std::uint64_t last, const Ratio& probability, const Ratio& rate,
                              BitSource& bits) {
  const std::vector<Plateau> groups = plateaus(sorted, first, last, probability);
  std::vector<double> scores;
  std::vector<Integer> multiplicity;
  for (const Plateau& group : groups) {
    scores.push_back(group.score);
    multiplicity.emplace_back(group.last - group.first + 1);
  }
  const Ratio rate_per_unit = rate / Ratio(denominator(probability));
  const Plateau& chosen = groups[choose_exp(scores, rate_per_unit, bits, multiplicity)];
  return chosen.first + uniform_below(bits, chosen.last - chosen.first + 1);
}

}  // namespace gauze::internal
