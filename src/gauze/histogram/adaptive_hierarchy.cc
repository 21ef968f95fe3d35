#include "gauze/histogram/adaptive_hierarchy.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>

#include "gauze/base/error.h"
#include "gauze/histogram/halving_tree.h"

namespace gauze {
namespace {

/// The budget comes in equal parts, so that what blocks spend adds up exactly.
constexpr std::uint32_t kParts = 128;
constexpr std::uint32_t kTotal = 12;  // for the number of rows
/// Parting a block takes this many rows for a unit of noise.
constexpr double kShows = 30;
/// By how much even parts are taken to be emptier than they are, at most; by less where a unit of noise is as little as a
/// row, as rows scatter by themselves.
constexpr double kEven = 0.2;
constexpr double kScatter = 0.1;
/// Parts of nearly even ones are halved less often at once, and for good unless they are so many times full.
constexpr double kNearlyEven = 0.6;
constexpr std::uint32_t kFewHalvings = 2;
constexpr double kMuch = 3;
/// Below so many rows for a unit of noise even parts are trusted in domains that are small for that, too, if they
/// are no more uneven than this.
constexpr double kFewRows = 2000;
constexpr double kQuiteEven = 0.5;
/// From so many rows for a unit of noise on there are heaps in blocks of large planes that seem empty.
constexpr double kManyRows = 5000;
/// Halves that both are to be closed remain apart if they differ by so much, in variances of noise.
constexpr double kApart = 3;

}  // namespace

/// One run: a tree, and what its blocks have left to spend.
class AdaptiveHierarchy::Growth {
 public:
  Growth(const AdaptiveHierarchy& method, std::span<const std::int64_t> counts, BitSource& bits)
      : method_(method),
        rate_(method.noise(kParts).rate() / kParts),
        tree_(method.options_.shape, counts),
        bits_(bits) {}

  RangeHistogram grown() {
    const Shape& shape = method_.options_.shape;
    const std::uint32_t left = kParts - kTotal;
    spend(kTotal, std::vector<std::size_t>{0});
    measure();
    const std::uint64_t expected = method_.options_.expected_rows;
    const double rows = expected == 0 ? tree_.estimate(0) : static_cast<double>(expected);
    rules_ = rules_for(shape, strength(rows, left), method_.is_loud());
    const double full = strength(rows, left);
    if (tree_.is_cell(0) || full < rules_.empty)
      close(0, left);
    else
      part(0, left, full, full < rules_.few ? kFewHalvings : rules_.halvings);
    while (!families_.empty()) {
      measure();
      for (const Family& family : std::exchange(families_, {})) {
        const double uneven = unevenness(family.blocks);
        if (settles(family.whole, family, uneven)) close(family.whole, family.left);
      }
    }
    measure();
    RangeHistogram histogram = tree_.fitted_sparse();
    if (expected == 0)
      histogram.set_note("from a paid count of about " + std::to_string(std::llround(rows)) +
                         " rows on");
    return histogram;
  }

 private:
  /// By the shape and how many rows there are for a unit of noise: measured on public arrays, as are the
  /// numbers above.
  struct Rules {
    std::uint32_t halvings = 0;  ///< at once, at most
    double full = 0;             ///< rows for a unit of noise from which a block is parted
    double empty = 3;            ///< the whole is parted unless it has fewer than so many,
    double few = 0;              ///< and by `kFewHalvings` with fewer than so many
    double most_share = 0.5;     ///< of what is left, so that something is left for what is found
    double most_uneven = 0;      ///< parts up to this are taken to be as even inside as they are
    double least_share = 0;  ///< of what is left, for parts that are parted again; 0 shares evenly
    std::uint32_t closing_halvings = 0;  ///< of what is closed, so that a small heap is spread less
  };
  static Rules rules_for(const Shape& shape, double strength, bool is_loud) {
    const auto cells = static_cast<double>(shape.cells());
    if (shape.axes() == 1) {
      const bool strong = strength >= 4 * cells;
      const double most_uneven = !strong ? 1 : strength < kFewRows ? kQuiteEven : 0;
      return {.halvings = strong ? 4u : 3u,
              .full = 20,
              .empty = 5,
              .few = 20,
              .most_share = 0.3,
              .most_uneven = most_uneven};
    }
    // No hierarchy beats a flat histogram with fewer cells, all of them full: Qardaji, Yang and Li (2013).
    const bool few = cells <= (shape.axes() == 2 ? 4096 : 1.7e6);
    const bool strong =  // so little shows which blocks are full
        strength >= (shape.axes() == 2 ? cells : cells / 4);
    const bool in_halves = shape.axes() == 2 && !few && strength >= kManyRows;
    const std::uint32_t closing = in_halves ? 1 : 0;
    if (shape.axes() == 2 && !few && !strong && !is_loud)  // a block that seems full may be noise
      return {.halvings = 4, .full = 8, .least_share = 1.0 / 6, .closing_halvings = closing};
    const double least = few && strong ? 1.0 / 16 : is_loud || strong ? 1.0 / 8 : 0;
    return {.halvings = 4, .full = 5, .least_share = least, .closing_halvings = closing};
  }

  /// Blocks that were measured together, as parts of one, and what each has left.
  struct Family {
    std::size_t whole;
    std::vector<std::size_t> blocks;
    std::uint32_t height;  ///< of the blocks, unless they are cells
    std::uint32_t left;
  };

  /// How many rows there are for a unit of the noise that so much of the budget buys.
  double strength(double rows, std::uint32_t parts) const {
    return std::max(0.0, rows) * rate_ * parts;
  }

  void spend(std::uint32_t parts, std::span<const std::size_t> blocks) {
    auto& same = pending_[parts];
    same.insert(same.end(), blocks.begin(), blocks.end());
  }

  // No row lies in two blocks of a round, whatever they spend.
  void measure() {
    for (const auto& [parts, blocks] : pending_) {
      const CountNoise noise = method_.noise(parts);
      Meter paid(noise.event());
      Context context{paid, bits_};
      tree_.measure(blocks, noise, context);
    }
    pending_.clear();
  }

  /// Spends what is left on the block, or on its halves, and looks no further.
  void close(std::size_t block, std::uint32_t left) {
    const std::vector<std::size_t> parts = tree_.below(block, rules_.closing_halvings);
    spend(left, parts);
    for (const std::size_t each : parts) tree_.close(each);
  }

  /// Spends on the parts of a block that has so much of the budget left.
  void part(std::size_t block, std::uint32_t left, double strength, std::uint32_t most_halvings) {
    const std::uint32_t height = tree_.height(block);
    const std::uint32_t steps = (height + rules_.halvings - 1) / rules_.halvings;
    std::uint32_t halvings = (height + steps - 1) / steps;
    std::uint32_t parts = left;
    if (steps > 1) {
      halvings = std::min(halvings, most_halvings);
      const double least = rules_.least_share > 0 ? rules_.least_share : 1.0 / steps;
      const double share = std::clamp(kShows / strength, least, std::max(least, rules_.most_share));
      parts = std::max(1u, static_cast<std::uint32_t>(std::lround(share * left)));
    }
    if (parts == left) return part_for_good(block, left, halvings);
    std::vector<std::size_t> below = tree_.below(block, halvings);
    spend(parts, below);
    families_.push_back({block, std::move(below), height - halvings, left - parts});
  }

  /// Spends what is left on the parts of a block, and looks no further.
  void part_for_good(std::size_t block, std::uint32_t left, std::uint32_t halvings) {
    for (const std::size_t each : tree_.below(block, halvings)) close(each, left);
  }

  /// Parts what is full in a block of a family and closes the rest, neighbours that show no difference
  /// as one. Whether that is all of the block, which is then left to be closed.
  bool settles(std::size_t block, const Family& family, double uneven) {
    if (tree_.is_cell(block)) return true;
    if (tree_.height(block) == family.height) {
      const double full = uneven * strength(tree_.estimate(block), family.left);
      if (full < rules_.full) return true;
      if (uneven >= kNearlyEven)
        part(block, family.left, full, rules_.halvings);
      else if (full >= kMuch * rules_.full)
        part(block, family.left, full, kFewHalvings);
      else  // parts of the whole only once: their noise adds up in long ranges
        part_for_good(block, family.left, family.whole == 0 ? 1 : kFewHalvings);
      return false;
    }
    const auto [left, right] = tree_.halves(block);
    const bool left_settles = settles(left, family, uneven);
    const bool right_settles = settles(right, family, uneven);
    if (left_settles && right_settles && tree_.evidence(block) < kApart) {
      tree_.learn_from_halves(block);
      return true;
    }
    if (left_settles) close(left, family.left);
    if (right_settles) close(right, family.left);
    return false;
  }

  /// Their standard deviation over their mean, 1 if that is not to be trusted.
  double unevenness(const std::vector<std::size_t>& blocks) const {
    double sum = 0;
    double squares = 0;
    for (const std::size_t block : blocks) {
      sum += tree_.estimate(block);
      squares += tree_.estimate(block) * tree_.estimate(block);
    }
    const double mean = sum / static_cast<double>(blocks.size());
    if (mean <= 0) return 1;
    const double variance = squares / static_cast<double>(blocks.size()) - mean * mean;
    const double least = kEven + kScatter * std::min(1.0, rate_ * kParts);
    const double uneven = std::clamp(std::sqrt(std::max(0.0, variance)) / mean, least, 1.0);
    return uneven <= rules_.most_uneven ? uneven : 1;
  }

  const AdaptiveHierarchy& method_;
  const double rate_;
  HalvingTree tree_;
  BitSource& bits_;
  Rules rules_;
  std::map<std::uint32_t, std::vector<std::size_t>> pending_;  // by what they spend
  std::vector<Family> families_;
};

AdaptiveHierarchy::AdaptiveHierarchy(Options options) : options_(std::move(options)) {
  check_dense(options_.shape);
  require(options_.shape->cells() <= 1u << 24, "shape: must have at most 2^24 cells");
  check_budget({options_.epsilon, 0, options_.rows_per_unit});
}

Event AdaptiveHierarchy::event() const {
  return {events::Pure{options_.epsilon}, Relation::kAddRemove};
}

bool AdaptiveHierarchy::is_loud() const {
  return options_.epsilon.get() >= 3 * Ratio(options_.rows_per_unit.get());
}

CountNoise AdaptiveHierarchy::noise(std::uint32_t parts) const {
  return CountNoise::laplace(Ratio(options_.epsilon.get() * Ratio(parts, kParts)),
                             options_.rows_per_unit);
}

Accuracy AdaptiveHierarchy::accuracy(double confidence) const {
  const CountNoise total = noise(kTotal);
  return {noise_half_width(total.variance(), confidence, false), confidence, "the number of rows"};
}

Release<RangeHistogram> AdaptiveHierarchy::run(std::span<const std::int64_t> counts,
                                               Context& context) const {
  if (counts.size() != options_.shape->cells())
    throw Error(ErrorCode::kInvalidInput, "there must be one count for each cell of the shape");
  context.meter.charge(event());
  return {Growth(*this, counts, context.bits).grown(), accuracy(), event()};
}

}  // namespace gauze
