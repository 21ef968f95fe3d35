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

__extension__ typedef __int128 Wide;

constexpr Wide kLargestScore = Wide{1} << 53;

/// The ranks of sorted records and how far candidates are from the wanted one. Distances are
/// integers: ranks times the denominator of the probability.
class Ranks {
 public:
  Ranks(std::span<const Run> runs, const RankTarget& target)
      : runs_(runs), unit_(denominator(target.probability).convert_to<std::int64_t>()) {
    std::uint64_t records = 0;
    for (const Run& run : runs) upto_.push_back(records += run.count);
    wanted_ = Wide{numerator(target.probability).convert_to<std::int64_t>()} * records +
              unit_ * target.shift;
  }

  /// Of candidates between the runs i - 1 and i, and of run i itself.
  Wide gap_distance(std::size_t i) const { return distance(below(i), below(i)); }
  Wide run_distance(std::size_t i) const { return distance(below(i), upto_[i]); }
  /// Of candidates that stand for all ranks up to (from) their own.
  Wide open_below(std::uint64_t index) const {
    return std::max(Wide{0}, wanted_ - unit_ * below(place(index + 1)));
  }
  Wide open_above(std::uint64_t index) const {
    return std::max(Wide{0}, unit_ * below(place(index)) - wanted_);
  }
  Wide at(std::uint64_t index) const {
    const std::size_t i = place(index);
    return i < runs_.size() && runs_[i].index == index ? run_distance(i) : gap_distance(i);
  }

  /// The first run with this index or a larger one.
  std::size_t place(std::uint64_t index) const {
    const auto less = [](const Run& run, std::uint64_t i) { return run.index < i; };
    return static_cast<std::size_t>(std::lower_bound(runs_.begin(), runs_.end(), index, less) -
                                    runs_.begin());
  }
  /// The runs up to `far` away: from the first of the pair to before the second.
  std::pair<std::size_t, std::size_t> within(Wide far) const {
    const auto reaches = [&](Wide rank) {
      return std::partition_point(upto_.begin(), upto_.end(),
                                  [&](std::uint64_t upto) { return unit_ * upto < rank; }) -
             upto_.begin();
    };
    const auto from = static_cast<std::size_t>(reaches(wanted_ - far));
    std::size_t to = static_cast<std::size_t>(reaches(wanted_ + far + 1));
    if (to < runs_.size() && unit_ * below(to) <= wanted_ + far) ++to;
    return {from, std::max(from, to)};
  }

 private:
  Wide below(std::size_t i) const { return i == 0 ? 0 : upto_[i - 1]; }
  Wide distance(Wide low, Wide high) const {
    return std::max({Wide{0}, unit_ * low - wanted_, wanted_ - unit_ * high});
  }

  std::span<const Run> runs_;
  std::vector<std::uint64_t> upto_;  // records up to and with each run
  Wide unit_;
  Wide wanted_;
};

/// Candidates that are proposed with one weight.
struct Group {
  std::uint64_t first;
  std::uint64_t last;
  Wide distance;  // of each; of remote ones a lower bound
  bool remote = false;
};

/// All candidates in [first, last] as groups: by themselves if near, one group on each side if not.
std::vector<Group> groups_of(std::span<const Run> runs, const Ranks& ranks, std::uint64_t first,
                             std::uint64_t last, Wide far) {
  std::vector<Group> groups;
  const auto [near, end] = ranks.within(far);
  std::uint64_t next = first;  // the first index not yet covered
  if (near > 0 && runs[near - 1].index >= first) {
    const std::uint64_t to = std::min(runs[near - 1].index, last);
    groups.push_back({first, to, far, true});
    next = to + 1;
  }
  for (std::size_t i = std::max(near, ranks.place(next)); i < end && next <= last; ++i) {
    if (runs[i].index > last) break;
    if (runs[i].index > next) {
      groups.push_back({next, runs[i].index - 1, ranks.gap_distance(i)});
    }
    groups.push_back({runs[i].index, runs[i].index, ranks.run_distance(i)});
    next = runs[i].index + 1;
  }
  if (next > last) return groups;
  const std::size_t after = ranks.place(next);
  if (after == runs.size() || runs[after].index > last) {
    groups.push_back({next, last, ranks.gap_distance(after)});
    return groups;
  }
  if (runs[after].index > next) {
    groups.push_back({next, runs[after].index - 1, ranks.gap_distance(after)});
  }
  groups.push_back({runs[after].index, last, far, true});
  return groups;
}

/// Counted records by increasing index, each index once.
std::vector<Run> merged(std::vector<Run> runs) {
  const auto before = [](const Run& a, const Run& b) { return a.index < b.index; };
  if (!std::is_sorted(runs.begin(), runs.end(), before)) {
    std::sort(runs.begin(), runs.end(), before);
  }
  std::vector<Run> result;
  for (const Run& run : runs) {
    if (run.count == 0) continue;
    if (!result.empty() && result.back().index == run.index) {
      result.back().count += run.count;
    } else {
      result.push_back(run);
    }
  }
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

std::vector<Run> QuantileDomain::runs(std::span<const double> values) const {
  std::vector<std::uint64_t> indices;
  indices.reserve(values.size());
  const auto last = static_cast<double>(size_ - 1);
  for (const double value : values) {
    // At most 2^50 steps and 2^53 doubles fit the range: the scaled value is below 2^104.
    const double scaled = std::ldexp(range_.clamp(value), shift_);
    const double steps = std::floor((scaled - low_) * per_unit_ + 0.5);
    indices.push_back(static_cast<std::uint64_t>(std::clamp(steps, 0.0, last)));
  }
  std::sort(indices.begin(), indices.end());
  std::vector<Run> result;
  for (const std::uint64_t index : indices) {
    if (result.empty() || result.back().index != index) result.push_back({index, 0});
    ++result.back().count;
  }
  return result;
}

std::vector<Run> QuantileDomain::runs(std::span<const GridCount> counts) const {
  std::vector<Run> result;
  result.reserve(counts.size());
  const auto last = static_cast<std::int64_t>(size_ - 1);
  for (const auto& [grid, count] : counts) {
    result.push_back({static_cast<std::uint64_t>(std::clamp<std::int64_t>(grid, 0, last)), count});
  }
  return merged(std::move(result));
}

Ratio QuantileDomain::exact(std::uint64_t index) const {
  return range_.lower() + granularity_ * Ratio(Integer(index));
}

double QuantileDomain::value(std::uint64_t index) const {
  return nearest_double(exact(index));
}

void check_quantile_probability(const Ratio& probability) {
  require(probability >= 0 && probability <= 1, "probability must lie in [0, 1]");
  require(denominator(probability) <= (1 << 20),
          "probability must be a fraction with a denominator of at most 2^20; round it");
}

void check_records_per_unit(std::uint64_t records) {
  require(records >= 1 && records <= (std::uint64_t{1} << 32),
          "records_per_unit must lie between 1 and 2^32");
}

Ratio rank_sensitivity(const Ratio& probability, Relation relation, std::uint64_t records) {
  const Ratio of_record =
      relation == Relation::kReplace ? Ratio(1) : std::max<Ratio>(probability, 1 - probability);
  return of_record * Ratio(Integer(records));
}

std::uint64_t choose_quantile(std::span<const Run> runs, std::uint64_t first, std::uint64_t last,
                              const RankTarget& target, const Ratio& rate, BitSource& bits,
                              unsigned far_nats) {
  const Ratio rate_per_unit = rate / Ratio(Integer(denominator(target.probability)));
  const Integer limit = ceil(Ratio(Ratio(far_nats) / rate_per_unit));
  const Wide far = std::min<Wide>(saturate(limit), kLargestScore);
  const Ranks ranks(runs, target);
  std::vector<Group> groups;
  if (target.shift < 0) groups.push_back({first, first, ranks.open_below(first)});
  if (target.shift > 0) groups.push_back({last, last, ranks.open_above(last)});
  const std::uint64_t from = first + (target.shift < 0 ? 1 : 0);
  const std::uint64_t to = last - (target.shift > 0 ? 1 : 0);
  if (from <= to) {
    const std::vector<Group> inner = groups_of(runs, ranks, from, to, far);
    groups.insert(groups.end(), inner.begin(), inner.end());
  }
  std::vector<double> scores;
  std::vector<Integer> multiplicity;
  for (const Group& group : groups) {
    // Saturating keeps differences as they are or smaller.
    scores.push_back(-static_cast<double>(std::min(group.distance, kLargestScore)));
    multiplicity.emplace_back(group.last - group.first + 1);
  }
  while (true) {
    const Group& group = groups[choose_exp(scores, rate_per_unit, bits, multiplicity)];
    const std::uint64_t index = group.first + uniform_below(bits, group.last - group.first + 1);
    if (!group.remote) return index;
    // Proposed too often by e^(rate (distance - far)): accept as much less often, or begin again.
    const auto excess = static_cast<std::int64_t>(std::min(ranks.at(index) - far, kLargestScore));
    if (bernoulli_exp(bits, Ratio(rate_per_unit * Ratio(excess)))) return index;
  }
}

}  // namespace gauze::internal
