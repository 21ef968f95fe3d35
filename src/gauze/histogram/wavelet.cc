#include "gauze/histogram/wavelet.h"

#include <bit>
#include <cmath>

#include "gauze/base/error.h"

namespace gauze {
namespace {

/// How often an interval of so many cells is halved until only cells are left.
std::size_t halvings(std::uint32_t cells) {
  return static_cast<std::size_t>(std::bit_width(cells - 1));
}

/// Intervals, each cut in halves of which the left may have one cell more; level k has the nodes from
/// ends[k - 1] to ends[k], the root is level 0.
struct Halves {
  std::vector<TreeNode> nodes = {TreeNode{}};
  std::vector<std::uint32_t> bounds;
  std::vector<std::size_t> ends = {0, 1};

  explicit Halves(std::uint32_t cells) : bounds{0, cells} {
    while (ends.back() > ends[ends.size() - 2]) {
      for (std::size_t i = ends[ends.size() - 2]; i < ends.back(); ++i) {
        const std::uint32_t begin = bounds[2 * i];
        const std::uint32_t end = bounds[2 * i + 1];
        if (end - begin == 1) continue;
        const std::uint32_t middle = begin + (end - begin + 1) / 2;
        nodes[i].first_child = static_cast<std::uint32_t>(nodes.size());
        nodes[i].children = 2;
        nodes.resize(nodes.size() + 2);
        bounds.insert(bounds.end(), {begin, middle, middle, end});
      }
      ends.push_back(nodes.size());
    }
  }
};

/// The number of rows in each node.
std::vector<std::int64_t> sums(const Halves& halves, std::span<const std::int64_t> counts) {
  std::vector<std::int64_t> sums(halves.nodes.size());
  for (std::size_t i = sums.size(); i-- > 0;) {
    const std::uint32_t child = halves.nodes[i].first_child;
    sums[i] =
        child == 0 ? counts[halves.bounds[2 * i]] : saturating_add(sums[child], sums[child + 1]);
  }
  return sums;
}

std::int64_t difference(std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  if (!__builtin_sub_overflow(a, b, &result)) return result;
  return a < b ? INT64_MIN : INT64_MAX;
}

}  // namespace

WaveletHistogram::WaveletHistogram(Options options) : options_(std::move(options)) {
  check_dense(options_.shape);
  require(options_.shape->axes() == 1, "shape: must have one axis; hierarchies take more");
  noises_ = split_budget({options_.epsilon, options_.delta, options_.rows_per_unit},
                         std::vector<Ratio>(1 + halvings(options_.shape->extents[0]), 1));
}

// The total, and a quarter of the noise of each difference that a border of the range lies in: the
// whole is cut once, of every smaller length two at most.
Accuracy WaveletHistogram::accuracy(double confidence) const {
  const double one = noises_.front().variance();
  const auto lengths = static_cast<double>(noises_.size() - 1);
  const double variance = one + (lengths > 0 ? one / 4 + (lengths - 1) * one / 2 : 0);
  return {noise_half_width(variance, confidence, noises_.front().is_gaussian()), confidence,
          "any range"};
}

Release<RangeHistogram> WaveletHistogram::run(std::span<const std::int64_t> counts,
                                              Context& context) const {
  const std::uint32_t cells = options_.shape->extents[0];
  if (counts.size() != cells)
    throw Error(ErrorCode::kInvalidInput, "there must be one count for each cell of the shape");
  StepMeter steps(event(), context);
  Halves halves(cells);
  auto& nodes = halves.nodes;
  const std::vector<std::int64_t> truth = sums(halves, counts);
  const double variance = noises_.front().variance();
  const auto total = noises_.front().run(std::span(truth).first(1), steps.context());
  nodes.front().estimate = static_cast<double>(total.front());
  nodes.front().variance = variance;
  for (std::size_t level = 1; level < noises_.size(); ++level) {
    std::vector<std::int64_t> differences;
    for (std::size_t i = halves.ends[level - 1]; i < halves.ends[level]; ++i)
      if (const std::uint32_t left = nodes[i].first_child; left != 0)
        differences.push_back(difference(truth[left], truth[left + 1]));
    const auto noisy = noises_[level].run(differences, steps.context());
    std::size_t next = 0;
    for (std::size_t i = halves.ends[level - 1]; i < halves.ends[level]; ++i) {
      const std::uint32_t left = nodes[i].first_child;
      if (left == 0) continue;
      const auto apart = static_cast<double>(noisy[next++]);
      nodes[left] = {nodes[left].first_child, nodes[left].children, (nodes[i].estimate + apart) / 2,
                     variance / 2};
      nodes[left + 1] = {nodes[left + 1].first_child, nodes[left + 1].children,
                         (nodes[i].estimate - apart) / 2, variance / 2};
    }
  }
  return {RangeHistogram(options_.shape, std::move(nodes), std::move(halves.bounds),
                         noises_.front().is_gaussian()),
          accuracy(), event()};
}

}  // namespace gauze
