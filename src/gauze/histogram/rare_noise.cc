#include "gauze/histogram/rare_noise.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <map>
#include <utility>

#include "gauze/histogram/halving.h"

namespace gauze {
namespace {

/// Noise that is expected less often than this, over all cells, is not looked for.
constexpr double kRare = 0.01;

/// How large a block is: by powers of two.
using SizeClass = std::uint8_t;
SizeClass size_class(const HalvedBox& box) {
  return static_cast<SizeClass>(std::bit_width(box.cells()));
}

/// Finds the largest block of halves around every cell in which no other count differs from 0.
class Surroundings {
 public:
  struct Alone {
    std::size_t cell;
    SizeClass size;
  };

  Surroundings(const Shape& shape, const std::vector<double>& counts)
      : shape_(shape), counts_(counts) {
    const HalvedBox whole = HalvedBox::whole(shape);
    settle(whole, visit(whole));
  }

  const std::vector<Alone>& alone() const { return alone_; }
  /// How many cells with count 0 have a block of this size.
  double zeros(SizeClass size) const { return zeros_[size]; }

 private:
  struct Found {
    std::uint32_t counts = 0;  // that are not 0; 2 stands for more, too
    std::size_t cell = 0;      // the one, if there is one
  };

  Found visit(const HalvedBox& box) {
    if (box.cells() == 1) {
      const std::size_t cell = box.first_cell(shape_);
      return {counts_[cell] != 0 ? 1u : 0u, cell};
    }
    const auto [low, high] = box.halves();
    const Found first = visit(low);
    const Found second = visit(high);
    if (first.counts + second.counts < 2) return first.counts == 1 ? first : second;
    settle(low, first);
    settle(high, second);
    return {2, 0};
  }

  void settle(const HalvedBox& box, const Found& found) {
    if (found.counts == 0) zeros_[size_class(box)] += static_cast<double>(box.cells());
    if (found.counts == 1) alone_.push_back({found.cell, size_class(box)});
    if (found.counts == 1) zeros_[size_class(box)] += static_cast<double>(box.cells() - 1);
  }

  const Shape& shape_;
  const std::vector<double>& counts_;
  std::array<double, 65> zeros_{};
  std::vector<Alone> alone_;
};

/// How often +k and -k were seen.
struct Seen {
  double plus = 0, minus = 0;
};

}  // namespace

std::vector<double> without_rare_noise(const Shape& shape, std::vector<double> counts, double alpha,
                                       HistogramAim aim) {
  const Surroundings surroundings(shape, counts);
  const auto cells = static_cast<double>(counts.size());
  // How much noise of +k there would be if all cells were empty.
  const auto most_noise = [&](double k) { return cells * std::pow(alpha, k); };
  std::map<std::pair<SizeClass, double>, Seen> seen;  // by the size of the block and k
  for (const auto& [cell, size] : surroundings.alone()) {
    if (most_noise(std::abs(counts[cell])) < kRare) continue;
    Seen& same = seen[{size, std::abs(counts[cell])}];
    (counts[cell] > 0 ? same.plus : same.minus) += 1;
  }
  for (const auto& [cell, size] : surroundings.alone()) {
    const double k = std::abs(counts[cell]);
    if (most_noise(k) < kRare) continue;
    const Seen& same = seen[{size, k}];
    const double noise = surroundings.zeros(size) * std::pow(alpha, k);  // expected, of either sign
    // Without what is below 0, sums grow by the noise above: squared less than what is gained if below 1.
    if (aim == HistogramAim::kCells || most_noise(k) < 1) {
      counts[cell] *= counts[cell] < 0 ? 0 : std::max(0.0, 1 - noise / same.plus);
    } else {
      const double rows = same.plus - same.minus;
      counts[cell] *= rows <= 0 ? 0 : std::max(0.0, 1 - 2 * noise / (rows * rows));
    }
  }
  return counts;
}

}  // namespace gauze
