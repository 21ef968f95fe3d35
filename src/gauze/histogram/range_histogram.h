#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "gauze/histogram/cells.h"
#include "gauze/histogram/tree.h"

namespace gauze {

/// A released number of rows.
struct RangeEstimate {
  double value = 0;
  double variance = 0;  ///< of the noise in it
  /// The noise is at most this, with the confidence that was asked for; infinite where nothing was measured.
  double half_width = 0;
};

/// A released histogram: answers how many rows lie in any range of cells, or weigh any predicate, each
/// with the variance of its noise.
///
/// It is a tree of boxes; the leaves partition the cells, and a leaf of several cells is spread evenly
/// over them. Error bars are about noise alone: what even spreading adds is in nobody's power to say
/// without another look at the data. Everything here is post-processing and costs nothing. Argument:
/// range_histogram.md
class RangeHistogram {
 public:
  /// The variance of the sum of cells with these weights, one per cell.
  using Variance = std::function<double(std::span<const double> weights)>;
  /// The same of the sum of the cells of a box, without a look at each cell.
  using BoxVariance = std::function<double(const Box& box)>;

  /// A fitted tree (`fit`, or made by hand) and the box of each of its nodes: for node i the begins of
  /// all axes, then the ends, in `bounds`. `gaussian` says which tails the noise has.
  RangeHistogram(Shape shape, std::vector<TreeNode> nodes, std::vector<std::uint32_t> bounds,
                 bool gaussian);
  /// One value for each cell of a dense shape, whose noise is not that of a tree. Without a
  /// `box_variance` a range takes as long as a weighted sum.
  RangeHistogram(Shape shape, std::span<const double> cells, Variance variance, bool gaussian,
                 BoxVariance box_variance = {});
  /// One value for each cell of a dense shape, with independent noise of one variance: a flat histogram.
  RangeHistogram(Shape shape, std::span<const double> cells, double variance, bool gaussian);

  const Shape& shape() const { return shape_; }
  /// How it was made and why, for people; may be empty.
  const std::string& note() const { return note_; }
  void set_note(std::string note) { note_ = std::move(note); }
  std::size_t leaves() const;

  /// How many rows lie in the box. Throws `kInvalidOption` for one that is not inside the shape.
  /// Time O(nodes that the border of the box crosses).
  RangeEstimate range(const Box& box, double confidence = 0.95) const;
  /// Its value alone.
  double count(const Box& box) const;
  RangeEstimate total(double confidence = 0.95) const {
    return range(Box::whole(shape_), confidence);
  }
  /// The sum of all cells, each times its weight; one weight for each cell of a dense shape. O(cells).
  RangeEstimate weighted(std::span<const double> weights, double confidence = 0.95) const;

  /// The same histogram on a longer axis: its cell i is spread evenly over the cells from begins[i] up
  /// to begins[i + 1]. One dimension only; begins[0] is 0 and each is larger than the one before.
  RangeHistogram stretched(std::span<const std::uint32_t> begins) const;

  /// The value of every cell of a dense shape.
  std::vector<double> cells() const;
  /// The leaves with their boxes, in the order of the tree.
  struct Leaf {
    Box box;
    double value;
    double variance;
  };
  std::vector<Leaf> partition() const;

  /// The histogram without negative leaves: the nearest in least squares with the same total (or with
  /// total 0 when that is negative). Biased: what was near zero rises, what was large falls a little. The
  /// variances stay those of the unbiased values.
  RangeHistogram non_negative() const;
  /// Besides, whole numbers in every cell of a dense shape, none negative, that sum to the whole total.
  RangeHistogram whole() const;
  /// Whole numbers in every leaf instead, for shapes of any size.
  RangeHistogram whole_leaves() const;

  /// Equal values for all ranges.
  bool operator==(const RangeHistogram& other) const {
    return shape_ == other.shape_ && nodes_ == other.nodes_ && bounds_ == other.bounds_;
  }

 private:
  /// A sum over part of a node: its value, which is `weight` times the node's plus noise of this
  /// variance that is independent of the node's.
  struct Part {
    double value = 0;
    double weight = 0;
    double variance = 0;
  };
  /// Adds up parts of a node's children; those that are left out have weight 0.
  class Joined;
  Part part(std::size_t node, const Box& box) const;
  std::uint32_t first_inside(const TreeNode& node, const Box& box) const;
  RangeEstimate estimate(const Part& root, double largest_weight, double confidence) const;
  std::vector<double> weights(const Box& box) const;
  double box_variance(const Box& box) const;
  std::vector<double> leaf_values() const;
  void set_leaves(std::span<const double> values);
  void sum_upwards();
  void add_child_variances();
  std::span<const std::uint32_t> bounds(std::size_t node) const {
    return std::span(bounds_).subspan(node * 2 * shape_.axes(), 2 * shape_.axes());
  }

  Shape shape_;
  std::vector<TreeNode> nodes_;
  std::vector<std::uint32_t> bounds_;
  std::vector<double> child_variances_;  // of all children of a node together
  Variance variance_;                    // empty: that of the tree
  BoxVariance box_variance_;             // empty: by `variance_`
  bool gaussian_;
  std::string note_;
};

}  // namespace gauze
