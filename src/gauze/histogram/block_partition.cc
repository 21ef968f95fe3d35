#include "gauze/histogram/block_partition.h"

#include <algorithm>
#include <cmath>

#include "gauze/base/error.h"
#include "gauze/histogram/count_noise.h"
#include "gauze/histogram/halving.h"
#include "gauze/numeric/lattice.h"
#include "gauze/random/uniform.h"

namespace gauze {
namespace {

__extension__ typedef __int128 Wide;

constexpr Wide kMostDeviation = Wide{1} << 62;

/// Sum of |count - median|: the upper half minus the lower half. Whole, and moves by at most one when
/// one count does, because |count - c| does for every c and the median minimises over c.
Wide deviation(std::span<const std::int64_t> sorted) {
  const std::size_t half = sorted.size() / 2;
  Wide sum = 0;
  for (const std::int64_t count : sorted.first(half)) sum -= count;
  for (const std::int64_t count : sorted.last(half)) sum += count;
  return std::min(sum, kMostDeviation);
}

/// ln(e^a + e^b) for logarithms in units of 2^-bits, within one unit.
Wide log_sum(Wide a, Wide b, int bits) {
  const Wide gap = a > b ? a - b : b - a;
  if (gap >> bits >= 64) return std::max(a, b);
  const long double more = std::log1p(std::exp(-std::ldexp(static_cast<long double>(gap), -bits)));
  return std::max(a, b) + static_cast<Wide>(std::llround(std::ldexp(more, bits)));
}

/// True with probability exactly 1 / (1 + e^-x), x = log_odds 2^-bits.
bool happens(Wide log_odds, int bits, BitSource& uniform_bits) {
  const double x = std::ldexp(static_cast<double>(log_odds), -bits);
  const double estimate = x >= 0 ? 1 / (1 + std::exp(-x)) : std::exp(x) / (1 + std::exp(x));
  return LazyUniform(uniform_bits).below(estimate, [&](unsigned precision) {
    const Wide size = log_odds < 0 ? -log_odds : log_odds;
    const Integer high = static_cast<std::uint64_t>(size >> 64);
    const Ratio exact =
        Ratio((high << 64) + static_cast<std::uint64_t>(size)) * power_of_two(-bits);
    const Interval one(Integer(1), precision);
    const Interval tail = exp(-Interval(exact, precision));
    return log_odds < 0 ? tail / (one + tail) : one / (one + tail);
  });
}

/// The exponential mechanism over all partitions, by their total weight below each block: a block is
/// kept with weight (1 - p) e^-(rate deviation), and split with p times the weights of its halves.
class Chooser {
 public:
  Chooser(const BlockPartition::Options& options, int unit_bits, std::int64_t rate_units,
          std::span<const std::int64_t> counts)
      : options_(options),
        unit_bits_(unit_bits),
        rate_units_(rate_units),
        counts_(counts),
        log_odds_(counts.size()) {
    sorted_.reserve(counts.size());
    merged_.resize(counts.size());
    weigh(HalvedBox::whole(options_.shape), 0);
  }

  BlockTree choose(BitSource& bits) {
    struct Open {
      HalvedBox box;
      std::size_t inner;
    };
    BlockTree tree;
    std::vector<Open> boxes = {{HalvedBox::whole(options_.shape), 0}};
    for (std::size_t i = 0; i < boxes.size(); ++i) {
      const auto [box, inner] = boxes[i];
      tree.nodes.emplace_back();
      box.append_to(tree.bounds);
      if (box.cells() == 1 || !happens(log_odds_[inner], unit_bits_, bits)) continue;
      tree.nodes[i].first_child = static_cast<std::uint32_t>(boxes.size());
      tree.nodes[i].children = 2;
      const auto [first, second] = box.halves();
      boxes.push_back({first, inner + 1});
      boxes.push_back({second, inner + first.cells()});
    }
    return tree;
  }

 private:
  /// The log weight of the box; its inner nodes are numbered from `inner` on, parents first, so that
  /// a box of m cells takes m - 1 numbers. Leaves its counts, sorted, at the end of `sorted_`.
  Wide weigh(const HalvedBox& box, std::size_t inner) {
    const std::size_t cells = box.cells();
    if (cells == 1) {
      sorted_.push_back(counts_[box.first_cell(options_.shape)]);
      return 0;
    }
    const auto [first, second] = box.halves();
    const std::size_t in_first = first.cells();
    const double prior = prior_log_odds(cells);
    Wide split = in_units(-std::log1p(std::exp(-prior)));
    split += weigh(first, inner + 1);
    split += weigh(second, inner + in_first);
    const auto begin = sorted_.end() - static_cast<std::ptrdiff_t>(cells);
    std::merge(begin, begin + static_cast<std::ptrdiff_t>(in_first),
               begin + static_cast<std::ptrdiff_t>(in_first), sorted_.end(), merged_.begin());
    std::copy_n(merged_.begin(), cells, begin);
    const Wide keep = in_units(-std::log1p(std::exp(prior))) -
                      rate_units_ * deviation(std::span(merged_).first(cells));
    log_odds_[inner] = split - keep;
    return log_sum(split, keep, unit_bits_);
  }

  double prior_log_odds(std::size_t cells) const {
    const double whole = static_cast<double>(counts_.size());
    return options_.split_bias +
           options_.split_slope * std::log2(static_cast<double>(cells) / std::sqrt(whole));
  }
  Wide in_units(double log_weight) const {
    return std::llround(std::ldexp(log_weight, unit_bits_));
  }

  const BlockPartition::Options& options_;
  int unit_bits_;
  std::int64_t rate_units_;
  std::span<const std::int64_t> counts_;
  std::vector<std::int64_t> sorted_;
  std::vector<std::int64_t> merged_;
  std::vector<Wide> log_odds_;
};

}  // namespace

Box BlockTree::box(std::size_t node, std::size_t axes) const {
  const auto at = bounds.begin() + static_cast<std::ptrdiff_t>(2 * axes * node);
  const auto count = static_cast<std::ptrdiff_t>(axes);
  return {{at, at + count}, {at + count, at + 2 * count}};
}

BlockPartition::BlockPartition(Options options) : options_(std::move(options)) {
  check_budget({options_.epsilon, 0, options_.rows_per_unit});
  check_dense(options_.shape);
  const std::uint64_t cells = options_.shape->cells();
  require(cells <= 1u << 24, "shape: must have at most 2^24 cells; use fewer cells, or a grid");
  require(std::abs(options_.split_bias) <= 100 && std::abs(options_.split_slope) <= 10,
          "split_bias must lie in [-100, 100] and split_slope in [-10, 10]");
  // Rounding can tell about a block only where a row of the unit lies in it.
  const auto levels = static_cast<std::uint64_t>(std::ceil(std::log2(static_cast<double>(cells)))) +
                      1 + options_.shape->axes();
  const Ratio& epsilon = options_.epsilon;
  const Ratio rows = options_.rows_per_unit.get();
  const Ratio touched = std::min(Ratio(rows * levels), Ratio(2 * cells));
  const Ratio unit = epsilon / std::max(Ratio(4 * touched), Ratio(2 * rows)) / (1 << 16);
  unit_bits_ = std::max(0, -floor_log2(unit));
  require(unit_bits_ <= 60, "epsilon: too small for so many cells and rows per unit");
  const Ratio paid = epsilon - 4 * touched * power_of_two(-unit_bits_);
  const Integer rate = floor(Ratio(paid / (2 * rows) * power_of_two(unit_bits_)));
  rate_units_ = saturate(rate);
}

Event BlockPartition::event() const {
  return {events::Exponential{options_.epsilon}, Relation::kAddRemove};
}

Accuracy BlockPartition::accuracy(double confidence) const {
  require(confidence > 0 && confidence < 1, "confidence must lie strictly between 0 and 1");
  const double rate = std::ldexp(static_cast<double>(rate_units_), -unit_bits_);
  return {-std::log1p(-confidence) / rate * (1 + 1e-12), confidence, "score of the choice"};
}

Release<BlockTree> BlockPartition::run(std::span<const std::int64_t> counts,
                                       Context& context) const {
  if (counts.size() != options_.shape->cells())
    throw Error(ErrorCode::kInvalidInput, "there must be one count for each cell of the shape");
  context.meter.charge(event());
  return {Chooser(options_, unit_bits_, rate_units_, counts).choose(context.bits), accuracy(),
          event()};
}

}  // namespace gauze
