#include <algorithm>

#include "gauze/histogram/hierarchical.h"

namespace gauze {
namespace {

using Real = long double;

/// Let p(t) be the share of a block's count that its first t cells along an axis have in the fitted
/// histogram; here the sums of p and p^2 over t = 1 .. width.
struct Shares {
  Real sum = 0;
  Real squares = 0;

  static Shares even(Real width) {
    return {(width + 1) / 2, (width + 1) * (2 * width + 1) / (6 * width)};
  }
};

struct Block {
  Real known = 0;   // the variance of what its own subtree knows about its count
  Real excess = 0;  // that, less the sum of the same over its children
  Shares shares;    // in one dimension
};

/// The blocks of one height. They differ only in whether they are cut off at the end of an axis: a bit
/// of `kind` for each axis says so.
class Level {
 public:
  Level(const Shape& shape, std::uint64_t side) : shape_(shape), side_(side) {
    blocks.resize(std::size_t{1} << shape.axes());
  }

  std::vector<Block> blocks;

  /// Cells along an axis of a block.
  std::uint64_t width(std::size_t axis, std::size_t kind) const {
    return kind >> axis & 1 ? shape_.extents[axis] % side_ : side_;
  }
  /// How many blocks of a kind a box has that begins at a border of blocks and has these widths.
  template <class Width>
  Real count(std::size_t kind, Width width_of_box) const {
    Real product = 1;
    for (std::size_t axis = 0; axis < shape_.axes(); ++axis) {
      const std::uint64_t cells = width_of_box(axis);
      const std::uint64_t blocks_along =
          kind >> axis & 1 ? std::min<std::uint64_t>(cells % side_, 1) : cells / side_;
      product *= static_cast<Real>(blocks_along);
    }
    return product;
  }

  /// (p(j) - p(i))^2 summed over all blocks of a kind along an axis and averaged over the ranges i < j:
  /// the sum over ranges is (m + 1) sum p(t)^2 - (sum p(t))^2, t = 0 .. m, and p is 1 after the block.
  Real average(std::size_t axis, std::size_t kind, const Shares& p) const {
    const Real m = shape_.extents[axis];
    const auto side = static_cast<Real>(side_);
    const bool cut = kind >> axis & 1;
    const Real blocks_along = cut ? 1 : static_cast<Real>(shape_.extents[axis] / side_);
    // Cells after each block, summed over blocks, and their squares.
    const Real pairs = blocks_along * (blocks_along + 1);
    const Real after = cut ? 0 : blocks_along * m - side * pairs / 2;
    const Real squares = cut ? 0
                             : blocks_along * m * m - m * side * pairs +
                                   side * side * pairs * (2 * blocks_along + 1) / 6;
    const Real all = (m + 1) * (blocks_along * p.squares + after) -
                     (blocks_along * p.sum * p.sum + 2 * p.sum * after + squares);
    return all / (m * (m + 1) / 2);
  }

  /// How many blocks of a kind there are.
  Real count(std::size_t kind) const {
    return count(kind, [&](std::size_t axis) { return shape_.extents[axis]; });
  }
  /// How many blocks the border of a box can cut.
  Real on_border() const {
    Real all = 1;
    Real inside = 1;
    for (const std::uint64_t extent : shape_.extents) {
      const auto along = static_cast<Real>((extent + side_ - 1) / side_);
      all *= along;
      inside *= std::max<Real>(along - 2, 0);
    }
    return all - inside;
  }
  std::size_t axes() const { return shape_.axes(); }

 private:
  const Shape& shape_;
  std::uint64_t side_;
};

/// The shares of a block of one axis, from those of its children: each has a part in proportion to what
/// is known of it, and starts where the ones before it end.
Shares joined(Real whole, Real cut, const Level& below) {
  const Block& first = below.blocks[0];
  const Block& last = below.blocks[1];
  const Real sum = whole * first.known + cut * last.known;
  const Real each = first.known / sum;
  const auto side = static_cast<Real>(below.width(0, 0));
  const Real k1 = whole * (whole - 1) / 2;
  const Real k2 = k1 * (2 * whole - 1) / 3;
  Shares shares{
      each * (k1 * side + whole * first.shares.sum),
      each * each * (k2 * side + 2 * k1 * first.shares.sum + whole * first.shares.squares)};
  if (cut > 0) {
    const Real before = whole * each;
    const Real part = last.known / sum;
    const auto rest = static_cast<Real>(below.width(0, 1));
    shares.sum += before * rest + part * last.shares.sum;
    shares.squares += before * before * rest + 2 * before * part * last.shares.sum +
                      part * part * last.shares.squares;
  }
  return shares;
}

Block leaf(Real variance) {
  return {variance, variance, Shares::even(1)};
}

/// A block whose own count has this variance. An axis of fewer cells than a whole block has no such
/// blocks; what is said of them is then used nowhere.
Block inner(const Level& level, std::size_t kind, Real variance, const Level& below) {
  const auto width = [&](std::size_t axis) { return level.width(axis, kind); };
  Real children = 0;
  for (std::size_t child = 0; child < below.blocks.size(); ++child)
    children += below.count(child, width) * below.blocks[child].known;
  if (children == 0) return {};
  const Real known = variance * children / (variance + children);
  Block block{known, known - children, {}};
  if (level.axes() == 1) block.shares = joined(below.count(0, width), below.count(1, width), below);
  return block;
}

/// All levels below the root, cells first.
std::vector<Level> levels_of(const Shape& shape, std::uint32_t branching,
                             std::span<const double> level_variances) {
  std::vector<Level> levels;
  std::uint64_t side = 1;
  for (std::size_t height = 0; height < level_variances.size(); ++height) {
    const Real variance = level_variances[level_variances.size() - 1 - height];
    Level level(shape, side);
    for (std::size_t kind = 0; kind < level.blocks.size(); ++kind)
      level.blocks[kind] =
          height == 0 ? leaf(variance) : inner(level, kind, variance, levels.back());
    levels.push_back(std::move(level));
    side = std::min<std::uint64_t>(side * branching, std::uint64_t{1} << 32);
  }
  return levels;
}

}  // namespace

// The variance of the sum of cells with weights x is the sum over all nodes of excess times the square
// of the node's share in x: hierarchical.md.
double average_range_variance(const Shape& shape, std::uint32_t branching,
                              std::span<const double> level_variances) {
  Real total = 0;
  for (const Level& level : levels_of(shape, branching, level_variances)) {
    for (std::size_t kind = 0; kind < level.blocks.size(); ++kind) {
      if (level.count(kind) == 0) continue;
      Real average = level.blocks[kind].excess;
      for (std::size_t axis = 0; axis < shape.axes(); ++axis) {
        const Shares even = Shares::even(static_cast<Real>(level.width(axis, kind)));
        average *= level.average(axis, kind, shape.axes() == 1 ? level.blocks[kind].shares : even);
      }
      total += average;
    }
  }
  return static_cast<double>(total);
}

// The root is not measured: its children together have at most the sum of their variances. A block that
// the border of the range cuts adds at most a quarter of the sum over its children.
double largest_range_variance(const Shape& shape, std::uint32_t branching,
                              std::span<const double> level_variances) {
  Real top = 0;
  Real cut = 0;
  for (const Level& level : levels_of(shape, branching, level_variances)) {
    Real children = 0;
    top = 0;
    for (std::size_t kind = 0; kind < level.blocks.size(); ++kind) {
      const Block& block = level.blocks[kind];
      children = std::max(children, block.known - block.excess);
      top += block.known * level.count(kind);
    }
    cut += level.on_border() * children / 4;
  }
  return static_cast<double>(top + cut);
}

}  // namespace gauze
