#include "gauze/histogram/strategy.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "gauze/base/error.h"
#include "gauze/histogram/strategy_axis_internal.h"

namespace gauze {

using internal::StrategyAxis;
using internal::Wide;

struct Strategy::Parts {
  Shape shape;
  std::vector<StrategyAxis> axes;     // of a product
  std::vector<std::int64_t> weights;  // of marginals, by the set of axes
  std::vector<double>
      eigenvalues;  // of A'A for marginals, by the set of axes: see matrix_mechanism.md
};

namespace {

constexpr int kBits = 16;

bool are_whole(std::span<const double> values, int bits) {
  return std::all_of(values.begin(), values.end(),
                     [&](double x) { return x == std::floor(x) && std::abs(x) <= (1 << bits); });
}

std::vector<std::int64_t> quantised(std::span<const double> values, double scale) {
  std::vector<std::int64_t> result;
  for (const double value : values) result.push_back(std::llround(value * scale));
  return result;
}

double largest_size(std::span<const double> values) {
  double largest = 0;
  for (const double value : values) {
    require(std::isfinite(value), "strategy: weights must be finite");
    largest = std::max(largest, std::abs(value));
  }
  return largest;
}

StrategyAxis whole_axis(const Strategy::Axis& axis, int bits) {
  const std::size_t cells = axis.diagonal.empty() ? axis.rows.columns : axis.diagonal.size();
  require(cells >= 1 && cells <= 1u << 28, "strategy: an axis must have 1 to 2^28 cells");
  require(axis.rows.values.size() == axis.rows.rows * cells,
          "strategy: rows must have one weight for each cell");
  const double largest = std::max(largest_size(axis.diagonal), largest_size(axis.rows.values));
  require(largest > 0, "strategy: must have weights other than zero");
  const bool whole = are_whole(axis.diagonal, bits) && are_whole(axis.rows.values, bits);
  const double scale = whole ? 1 : std::ldexp(1.0, bits) / largest;
  auto diagonal = quantised(axis.diagonal, scale);
  for (std::int64_t& weight : diagonal) {
    require(weight >= 0, "strategy: the diagonal must be positive");
    weight = std::max<std::int64_t>(weight, 1);
  }
  return {std::move(diagonal), quantised(axis.rows.values, scale), cells};
}

std::size_t cells_of(const Shape& shape) {
  check_dense(shape);
  return shape.cells();
}

/// Sums out the axes that are not in `kept`.
template <class T>
std::vector<T> summed(const Shape& shape, std::size_t kept, std::vector<T> cells) {
  std::size_t inner = 1;
  for (std::size_t axis = shape.axes(); axis-- > 0;) {
    const std::size_t n = shape.extents[axis];
    if (kept >> axis & 1) {
      inner *= n;
      continue;
    }
    std::vector<T> sums(cells.size() / n, T(0));
    for (std::size_t i = 0; i < cells.size(); ++i)
      sums[i / (inner * n) * inner + i % inner] += cells[i];
    cells = std::move(sums);
  }
  return cells;
}

/// The other way: repeats the table over `kept` along the other axes.
std::vector<double> repeated(const Shape& shape, std::size_t kept, std::vector<double> table) {
  std::size_t inner = 1;
  for (std::size_t axis = shape.axes(); axis-- > 0;) {
    const std::size_t n = shape.extents[axis];
    if (!(kept >> axis & 1)) {
      std::vector<double> more(table.size() * n);
      for (std::size_t i = 0; i < more.size(); ++i)
        more[i] = table[i / (inner * n) * inner + i % inner];
      table = std::move(more);
    }
    inner *= n;
  }
  return table;
}

double cells_outside(const Shape& shape, std::size_t kept) {
  double product = 1;
  for (std::size_t axis = 0; axis < shape.axes(); ++axis)
    if (!(kept >> axis & 1)) product *= shape.extents[axis];
  return product;
}

}  // namespace

Strategy Strategy::product(std::vector<Axis> axes) {
  require(!axes.empty() && axes.size() <= 8, "strategy: must have 1 to 8 axes");
  auto parts = std::make_shared<Parts>();
  for (const Axis& axis : axes) {
    parts->axes.push_back(whole_axis(axis, kBits / static_cast<int>(axes.size())));
    parts->shape.extents.push_back(static_cast<std::uint32_t>(parts->axes.back().cells()));
  }
  cells_of(parts->shape);
  return Strategy(std::move(parts));
}

Strategy Strategy::identity(const Shape& shape) {
  cells_of(shape);
  std::vector<Axis> axes;
  for (const std::uint32_t cells : shape.extents)
    axes.push_back({std::vector<double>(cells, 1.0), {}});
  return product(std::move(axes));
}

Strategy Strategy::marginals(const Shape& shape, std::vector<double> weights) {
  cells_of(shape);
  require(weights.size() == std::size_t{1} << shape.axes(),
          "weights: must be one for each set of axes");
  const double largest = largest_size(weights);
  require(largest > 0 && *std::min_element(weights.begin(), weights.end()) >= 0,
          "weights: must not be negative, and not all be zero");
  auto parts = std::make_shared<Parts>();
  parts->shape = shape;
  parts->weights =
      quantised(weights, are_whole(weights, kBits) ? 1 : std::ldexp(1.0, kBits) / largest);
  parts->eigenvalues.assign(weights.size(), 0.0);
  for (std::size_t set = 0; set < weights.size(); ++set)
    for (std::size_t table = 0; table < weights.size(); ++table)
      if ((set & ~table) == 0)
        parts->eigenvalues[set] +=
            std::pow(static_cast<double>(parts->weights[table]), 2) * cells_outside(shape, table);
  return Strategy(std::move(parts));
}

Shape Strategy::shape() const {
  return parts_->shape;
}

std::size_t Strategy::measurements() const {
  std::size_t product = 1;
  for (const StrategyAxis& axis : parts_->axes) product *= axis.measurements();
  if (!parts_->axes.empty()) return product;
  double sum = 0;
  for (std::size_t table = 0; table < parts_->weights.size(); ++table)
    if (parts_->weights[table] > 0)
      sum += static_cast<double>(parts_->shape.cells()) / cells_outside(parts_->shape, table);
  return static_cast<std::size_t>(sum);
}

Integer Strategy::l1_norm() const {
  Integer norm = 1;
  for (const StrategyAxis& axis : parts_->axes) norm *= axis.l1_norm();
  if (!parts_->axes.empty()) return norm;
  return Integer(std::accumulate(parts_->weights.begin(), parts_->weights.end(), std::int64_t{0}));
}

Integer Strategy::l2_norm() const {
  Integer squares = 1;
  for (const StrategyAxis& axis : parts_->axes) squares *= axis.squared_norm();
  if (parts_->axes.empty()) {
    squares = 0;
    for (const std::int64_t weight : parts_->weights) squares += Integer(weight) * weight;
  }
  const Integer root = sqrt(squares);
  return root * root == squares ? root : Integer(root + 1);
}

std::vector<std::int64_t> Strategy::measure(std::span<const std::int64_t> counts) const {
  std::vector<Wide> exact;
  if (!parts_->axes.empty()) {
    exact.assign(counts.begin(), counts.end());
    std::size_t inner = 1;
    for (std::size_t axis = parts_->axes.size(); axis-- > 0;) {
      exact = parts_->axes[axis].measure(exact, inner);
      inner *= parts_->axes[axis].measurements();
    }
  }
  for (std::size_t table = 0; table < parts_->weights.size(); ++table) {
    if (parts_->weights[table] == 0) continue;
    for (const Wide sum :
         summed(parts_->shape, table, std::vector<Wide>(counts.begin(), counts.end())))
      exact.push_back(sum * parts_->weights[table]);
  }
  std::vector<std::int64_t> result;
  result.reserve(exact.size());
  for (const Wide sum : exact)
    result.push_back(static_cast<std::int64_t>(std::clamp<Wide>(sum, INT64_MIN, INT64_MAX)));
  return result;
}

/// (A'A)^-1 cells.
std::vector<double> Strategy::solve(std::vector<double> cells) const {
  const Shape& shape = parts_->shape;
  std::size_t inner = 1;
  for (std::size_t axis = parts_->axes.size(); axis-- > 0;) {
    cells = parts_->axes[axis].solve(cells, inner);
    inner *= parts_->axes[axis].cells();
  }
  if (!parts_->axes.empty()) return cells;
  // 1/eigenvalue on each of the spaces that are even along all axes but those of a set, and sum to zero
  // along those: their projections are alternating sums of means over sets.
  const std::size_t sets = parts_->weights.size();
  std::vector<double> result(cells.size(), 0.0);
  for (std::size_t table = 0; table < sets; ++table) {
    // The mean over all axes outside of the table is in the projections of all sets around it.
    double factor = 0;
    for (std::size_t set = 0; set < sets; ++set) {
      if ((table & ~set) != 0 || parts_->eigenvalues[set] == 0) continue;
      const bool odd = __builtin_popcountll(set ^ table) % 2 != 0;
      factor += (odd ? -1 : 1) / parts_->eigenvalues[set];
    }
    if (factor == 0) continue;
    const auto mean = repeated(shape, table, summed(shape, table, cells));
    const double scale = factor / cells_outside(shape, table);
    for (std::size_t i = 0; i < cells.size(); ++i) result[i] += scale * mean[i];
  }
  return result;
}

std::vector<double> Strategy::estimate(std::span<const double> measured) const {
  if (measured.size() != measurements())
    throw Error(ErrorCode::kInvalidInput, "there must be one number for each measurement");
  const Shape& shape = parts_->shape;
  std::vector<double> cells(measured.begin(), measured.end());
  std::size_t inner = 1;
  for (std::size_t axis = parts_->axes.size(); axis-- > 0;) {
    cells = parts_->axes[axis].transposed(cells, inner);
    inner *= parts_->axes[axis].cells();
  }
  if (!parts_->axes.empty()) return solve(std::move(cells));
  cells.assign(shape.cells(), 0.0);
  std::size_t first = 0;
  for (std::size_t table = 0; table < parts_->weights.size(); ++table) {
    if (parts_->weights[table] == 0) continue;
    const auto size =
        static_cast<std::size_t>(static_cast<double>(shape.cells()) / cells_outside(shape, table));
    const auto part = measured.subspan(first, size);
    const auto all = repeated(shape, table, {part.begin(), part.end()});
    for (std::size_t i = 0; i < cells.size(); ++i)
      cells[i] += static_cast<double>(parts_->weights[table]) * all[i];
    first += size;
  }
  return solve(std::move(cells));
}

double Strategy::variance(std::span<const double> weights) const {
  const std::vector<double> solved = solve({weights.begin(), weights.end()});
  return std::max(0.0, std::inner_product(weights.begin(), weights.end(), solved.begin(), 0.0));
}

std::vector<std::vector<double>> Strategy::cell_variances() const {
  std::vector<std::vector<double>> factors;
  for (const StrategyAxis& axis : parts_->axes) {
    const Eigen::VectorXd diagonal = axis.inverse_diagonal();
    factors.emplace_back(diagonal.begin(), diagonal.end());
  }
  if (!factors.empty()) return factors;
  // Of marginals all cells have the same.
  for (const std::uint32_t extent : parts_->shape.extents) factors.emplace_back(extent, 1.0);
  std::vector<double> cell(parts_->shape.cells(), 0.0);
  cell.front() = 1;
  factors.front().assign(parts_->shape.extents.front(), variance(cell));
  return factors;
}

double Strategy::largest_cell_variance() const {
  double product = 1;
  for (const std::vector<double>& axis : cell_variances())
    product *= *std::max_element(axis.begin(), axis.end());
  return product;
}

double Strategy::total_variance(const Workload& workload) const {
  require(workload.shape() == parts_->shape, "workload: must be about the axes of the strategy");
  double sum = 0;
  for (const Workload::Product& product : workload.products()) {
    const double squared = product.weight * product.weight;
    double trace = squared;
    for (std::size_t axis = 0; axis < parts_->axes.size(); ++axis)
      trace *= parts_->axes[axis].trace(product.axes[axis]);
    if (!parts_->axes.empty()) {
      sum += trace;
      continue;
    }
    const std::vector<double> parts = internal::spectrum(product);
    const double all = std::accumulate(parts.begin(), parts.end(), 0.0);
    for (std::size_t set = 0; set < parts.size(); ++set)
      if (parts[set] > 1e-9 * all) sum += parts[set] / parts_->eigenvalues[set];
  }
  return sum;
}

}  // namespace gauze
