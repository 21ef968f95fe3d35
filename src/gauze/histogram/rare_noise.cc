#include "gauze/histogram/rare_noise.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <map>

#include "gauze/histogram/halving.h"

namespace gauze {
namespace {

/// Noise that is expected less often than this, over all cells, is not looked for.
constexpr double kRare = 0.01;
/// So many counts may be rows where nothing speaks for it, over all cells.
constexpr double kStray = 0.01;

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
  double zeros(std::size_t size) const { return zeros_[size]; }

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

/// Something for each size of a block.
using BySize = std::array<double, 65>;

/// How often +k and -k were seen.
struct Seen {
  BySize plus{}, minus{};
};

/// How many of these counts are rows, if so many of noise are to be expected: the mean of T, which is n with a
/// probability in proportion to G(n + shape) / n! * noise^(seen - n) / (seen - n)!, G the gamma function.
double rows_among(double seen, double noise, double shape) {
  if (noise == 0) return seen;
  double weight = 1;
  double all = 1;
  double sum = seen;
  for (double n = seen; n > 0; --n) {
    weight *= n / (n - 1 + shape) * noise / (seen - n + 1);
    all += weight;
    sum += weight * (n - 1);
    if (all > 1e200) weight *= 1e-200, all *= 1e-200, sum *= 1e-200;
    if (weight < 1e-30 * all && seen - n > noise) break;
  }
  return sum / all;
}

/// How many of the counts +k of each size are rows, by the noise that is to be expected and how many counts like them
/// are rows: larger ones in blocks of that size, and in those of other sizes, the less the further.
BySize rows_among(const BySize& plus, const BySize& larger, const BySize& noise,
                  double most_noise) {
  BySize alike{};
  BySize first{};
  for (std::size_t size = 0; size < plus.size(); ++size) {
    alike[size] = kStray * noise[size] / most_noise + larger[size];
    first[size] = larger[size] + rows_among(plus[size], noise[size], std::min(1.0, alike[size]));
  }
  BySize rows{};
  for (std::size_t size = 0; size < plus.size(); ++size) {
    double shape = alike[size];
    for (std::size_t other = 0; other < plus.size(); ++other)
      if (other != size) shape += std::exp2(-std::abs(double(other) - double(size))) * first[other];
    rows[size] = rows_among(plus[size], noise[size], std::min(1.0, shape));
  }
  return rows;
}

}  // namespace

std::vector<double> without_rare_noise(const Shape& shape, std::vector<double> counts, double alpha,
                                       HistogramAim aim) {
  const Surroundings surroundings(shape, counts);
  const auto cells = static_cast<double>(counts.size());
  // How much noise of +k there would be if all cells were empty.
  const auto most_noise = [&](double k) { return cells * std::pow(alpha, k); };
  std::map<double, Seen> seen;  // by k
  for (const auto& [cell, size] : surroundings.alone()) {
    Seen& same = seen[std::abs(counts[cell])];
    (counts[cell] > 0 ? same.plus : same.minus)[size] += 1;
  }
  std::map<double, Seen> left;    // of +k and -k
  std::map<double, BySize> rows;  // among the counts +k
  for (auto each = seen.rbegin(); each != seen.rend(); ++each) {
    const auto& [k, same] = *each;
    rows[k] = same.plus;
    if (most_noise(k) < kRare) continue;
    BySize noise{};  // expected, of either sign
    for (std::size_t size = 0; size < noise.size(); ++size)
      noise[size] = surroundings.zeros(size) * std::pow(alpha, k);
    BySize larger{};
    for (auto other = rows.upper_bound(k); other != rows.end() && other->first <= 3 * k; ++other)
      for (std::size_t size = 0; size < larger.size(); ++size) larger[size] += other->second[size];
    rows[k] = rows_among(same.plus, larger, noise, most_noise(k));
    for (std::size_t size = 0; size < noise.size(); ++size) {
      if (same.plus[size] == 0) continue;
      const double belief = rows[k][size] / rows_among(same.plus[size], noise[size], 1);
      const double more = same.plus[size] - same.minus[size];
      // Without what is below 0, sums grow by the noise above: squared less than what is gained if below 1.
      if (aim == HistogramAim::kCells || most_noise(k) < 1)
        left[k].plus[size] = belief * std::max(0.0, 1 - noise[size] / same.plus[size]);
      else if (more > 0)
        left[k].plus[size] = left[k].minus[size] =
            belief * std::max(0.0, 1 - noise[size] / (more * more));
    }
  }
  for (const auto& [cell, size] : surroundings.alone()) {
    const double k = std::abs(counts[cell]);
    if (most_noise(k) < kRare) continue;
    counts[cell] *= (counts[cell] > 0 ? left[k].plus : left[k].minus)[size];
  }
  return counts;
}

}  // namespace gauze
