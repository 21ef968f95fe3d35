#include "gauze/marginal/factor.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <numeric>

#include "gauze/base/error.h"

namespace gauze {
namespace {

constexpr double kNothing = -std::numeric_limits<double>::infinity();

/// An axis of a table, and how far a step along it moves in a smaller table.
struct Step {
  std::size_t extent;
  std::size_t stride;
};

std::vector<Step> steps_of(const Factor& whole, const Factor& part) {
  std::vector<Step> steps;
  std::size_t left = part.clique().size();
  std::size_t stride = 1;
  for (std::size_t axis = whole.clique().size(); axis-- > 0;) {
    const std::size_t extent = whole.extents()[axis];
    const bool shared = left > 0 && part.clique()[left - 1] == whole.clique()[axis];
    const Step step{extent, shared ? stride : 0};
    if (shared) {
      stride *= extent;
      --left;
    }
    if (extent == 1) continue;
    // Neighbours that move alike are one longer axis.
    if (!steps.empty() && step.stride == steps.back().stride * steps.back().extent)
      steps.back().extent *= extent;
    else
      steps.push_back(step);
  }
  if (left != 0)
    throw Error(ErrorCode::kInternal, "the columns of a factor are not among the other's");
  if (steps.empty()) steps.push_back({1, 0});
  return steps;  // the fastest first
}

/// Calls visit(begin, place, length, stride) for each run along the fastest axis: `length` cells of the
/// whole from `begin` on, of which the first is at `place` in the part and each next one `stride` further.
template <class Visit>
void walk(const Factor& whole, const Factor& part, Visit visit) {
  const std::vector<Step> steps = steps_of(whole, part);
  std::vector<std::size_t> at(steps.size(), 0);
  const auto [length, stride] = steps.front();
  std::size_t place = 0;
  for (std::size_t begin = 0; begin < whole.cells(); begin += length) {
    visit(begin, place, length, stride);
    for (std::size_t axis = 1; axis < steps.size(); ++axis) {
      place += steps[axis].stride;
      if (++at[axis] < steps[axis].extent) break;
      place -= steps[axis].stride * steps[axis].extent;
      at[axis] = 0;
    }
  }
}

template <class Combine>
void combine(Factor& whole, const Factor& part, Combine with) {
  const std::span<double> values = whole.values();
  walk(whole, part,
       [&](std::size_t begin, std::size_t place, std::size_t length, std::size_t stride) {
         for (std::size_t i = 0; i < length; ++i) with(values[begin + i], part[place + i * stride]);
       });
}

/// Calls with(value of the part, value of the whole) for each cell of the whole.
template <class Gather>
void gather(Factor& part, const Factor& whole, Gather with) {
  const std::span<double> values = part.values();
  walk(whole, part,
       [&](std::size_t begin, std::size_t place, std::size_t length, std::size_t stride) {
         for (std::size_t i = 0; i < length; ++i)
           with(values[place + i * stride], whole[begin + i]);
       });
}

}  // namespace

Clique united(const Clique& a, const Clique& b) {
  Clique result;
  std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(result));
  return result;
}

Clique common(const Clique& a, const Clique& b) {
  Clique result;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(result));
  return result;
}

Clique without(const Clique& a, const Clique& b) {
  Clique result;
  std::set_difference(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(result));
  return result;
}

bool contains(const Clique& whole, const Clique& part) {
  return std::includes(whole.begin(), whole.end(), part.begin(), part.end());
}

std::uint64_t cells_of(const Shape& domain, const Clique& clique) {
  Shape shape;
  for (const std::uint32_t column : clique) shape.extents.push_back(domain.extents[column]);
  return shape.cells();
}

Factor::Factor(Clique clique, std::vector<std::uint32_t> extents, double value)
    : clique_(std::move(clique)), extents_(std::move(extents)) {
  values_.assign(Shape{extents_}.cells(), value);
}

Factor::Factor(const Shape& domain, Clique clique, double value) : clique_(std::move(clique)) {
  for (const std::uint32_t column : clique_) extents_.push_back(domain.extents[column]);
  values_.assign(Shape{extents_}.cells(), value);
}

Factor::Factor(const Shape& domain, Clique clique, std::vector<double> values)
    : clique_(std::move(clique)), values_(std::move(values)) {
  for (const std::uint32_t column : clique_) extents_.push_back(domain.extents[column]);
  if (values_.size() != Shape{extents_}.cells())
    throw Error(ErrorCode::kInvalidInput, "a table needs one value for each of its cells");
}

Factor Factor::over(const Clique& clique, double value) const {
  std::vector<std::uint32_t> extents;
  for (const std::uint32_t column : clique) {
    const auto found = std::lower_bound(clique_.begin(), clique_.end(), column);
    if (found == clique_.end() || *found != column)
      throw Error(ErrorCode::kInternal, "the columns of a marginal are not among the factor's");
    extents.push_back(extents_[static_cast<std::size_t>(found - clique_.begin())]);
  }
  return {clique, std::move(extents), value};
}

Factor Factor::over_both(const Factor& a, const Factor& b, double value) {
  std::vector<std::uint32_t> extents;
  Clique clique = united(a.clique_, b.clique_);
  for (const std::uint32_t column : clique) {
    const Factor& holder = std::binary_search(a.clique_.begin(), a.clique_.end(), column) ? a : b;
    extents.push_back(holder.over({column}, 0).extents_[0]);
  }
  return {std::move(clique), std::move(extents), value};
}

Factor& Factor::operator+=(const Factor& part) {
  combine(*this, part, [](double& x, double y) { x += y; });
  return *this;
}

Factor& Factor::operator-=(const Factor& part) {
  combine(*this, part, [](double& x, double y) { x = x == y ? 0 : x - y; });
  return *this;
}

Factor& Factor::operator*=(const Factor& part) {
  combine(*this, part, [](double& x, double y) { x *= y; });
  return *this;
}

Factor& Factor::operator/=(const Factor& part) {
  combine(*this, part, [](double& x, double y) { x = x == 0 && y == 0 ? 0 : x / y; });
  return *this;
}

Factor& Factor::operator*=(double factor) {
  for (double& value : values_) value *= factor;
  return *this;
}

Factor operator*(const Factor& a, const Factor& b) {
  Factor result = Factor::over_both(a, b, 1);
  result *= a;
  result *= b;
  return result;
}

Factor operator+(const Factor& a, const Factor& b) {
  Factor result = Factor::over_both(a, b, 0);
  result += a;
  result += b;
  return result;
}

double Factor::sum() const {
  return std::accumulate(values_.begin(), values_.end(), 0.0);
}

double Factor::log_sum() const {
  return log_marginal({}).values_[0];
}

double Factor::dot(const Factor& other) const {
  if (clique_ != other.clique_ || extents_ != other.extents_)
    throw Error(ErrorCode::kInternal, "a product of tables needs the same columns");
  return std::inner_product(values_.begin(), values_.end(), other.values_.begin(), 0.0);
}

Factor Factor::marginal(const Clique& onto) const {
  Factor result = over(onto, 0);
  gather(result, *this, [](double& sum, double x) { sum += x; });
  return result;
}

Factor Factor::max_marginal(const Clique& onto) const {
  Factor result = over(onto, kNothing);
  gather(result, *this, [](double& largest, double x) { largest = std::max(largest, x); });
  return result;
}

Factor Factor::log_marginal(const Clique& onto) const {
  const Factor largest = max_marginal(onto);
  Factor result = over(onto, 0);
  const std::span<double> sums = result.values();
  walk(*this, result,
       [&](std::size_t begin, std::size_t place, std::size_t length, std::size_t stride) {
         for (std::size_t i = 0; i < length; ++i) {
           const double top = largest[place + i * stride];
           if (top != kNothing) sums[place + i * stride] += std::exp(values_[begin + i] - top);
         }
       });
  for (std::size_t i = 0; i < sums.size(); ++i)
    sums[i] = largest[i] == kNothing ? kNothing : largest[i] + std::log(sums[i]);
  return result;
}

Factor Factor::exp(double shift) const {
  Factor result = *this;
  for (double& value : result.values_) value = std::exp(value - shift);
  return result;
}

std::vector<std::size_t> offsets(const Shape& domain, const Clique& whole, const Clique& part) {
  std::vector<std::size_t> result = {0};
  std::vector<std::size_t> stride(whole.size(), 1);
  for (std::size_t axis = whole.size(); axis-- > 1;)
    stride[axis - 1] = stride[axis] * domain.extents[whole[axis]];
  for (std::size_t axis = 0; axis < whole.size(); ++axis) {
    if (!std::binary_search(part.begin(), part.end(), whole[axis])) continue;
    std::vector<std::size_t> next;
    next.reserve(result.size() * domain.extents[whole[axis]]);
    for (const std::size_t offset : result)
      for (std::size_t i = 0; i < domain.extents[whole[axis]]; ++i)
        next.push_back(offset + i * stride[axis]);
    result = std::move(next);
  }
  return result;
}

}  // namespace gauze
