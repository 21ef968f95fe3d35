#include "gauze/mechanism/additive_internal.h"

#include <cmath>
#include <utility>

#include "gauze/base/error.h"
#include "gauze/mechanism/discrete_accuracy.h"

namespace gauze::internal {
namespace {

/// Extends a draw that came back as an end of the 64-bit range: the true one lies at or beyond it.
/// Draws until another one does, which has exactly that conditional distribution. Saturation has
/// some probability p and is then resolved in 1/p draws, so the expected cost is one draw for any
/// scale.
Integer resolve(std::int64_t saturated, const AdditiveNoise& noise, BitSource& bits) {
  while (true) {
    Integer exact = noise.draw_integer(bits);
    if (saturate(exact) == saturated) return exact;
  }
}

bool at_an_end(std::int64_t draw) {
  return draw == INT64_MAX || draw == INT64_MIN;
}

}  // namespace

Integer draw_exactly(const AdditiveNoise& noise, BitSource& bits) {
  return exactly(noise.draw(bits), noise, bits);
}

Integer exactly(std::int64_t draw, const AdditiveNoise& noise, BitSource& bits) {
  return at_an_end(draw) ? resolve(draw, noise, bits) : Integer(draw);
}

std::int64_t noised(std::int64_t value, const AdditiveNoise& noise, BitSource& bits) {
  const std::int64_t draw = noise.draw(bits);
  // Adding a saturated draw would not be a function of the exact sum alone.
  if (at_an_end(draw)) return saturate(resolve(draw, noise, bits) + value);
  return saturating_add(value, draw);
}

std::vector<std::int64_t> noised(std::span<const std::int64_t> values, const AdditiveNoise& noise,
                                 BitSource& bits) {
  std::vector<std::int64_t> result(values.size());
  noise.fill(result, bits);
  for (std::size_t i = 0; i < result.size(); ++i) {
    result[i] = at_an_end(result[i]) ? saturate(resolve(result[i], noise, bits) + values[i])
                                     : saturating_add(values[i], result[i]);
  }
  return result;
}

LatticeNoise::LatticeNoise(Lattice lattice, Integer sensitivity, Ratio scale, AdditiveNoise noise)
    : lattice_(lattice),
      sensitivity_(std::move(sensitivity)),
      scale_(std::move(scale)),
      noise_(std::make_shared<const AdditiveNoise>(std::move(noise))) {}

LatticeNoise LatticeNoise::laplace(const Ratio& l1_sensitivity, const Ratio& scale,
                                   std::uint64_t dimension) {
  const Lattice lattice = Lattice::for_noise(scale, 16, l1_sensitivity, Integer(dimension));
  const Integer steps = lattice.l1_steps(l1_sensitivity, dimension);
  const Ratio scale_in_steps = Ratio(steps) * scale / l1_sensitivity;
  return {lattice, steps, scale_in_steps, AdditiveNoise::discrete_laplace(scale_in_steps)};
}

LatticeNoise LatticeNoise::gaussian(const Ratio& l2_sensitivity, const Ratio& sigma,
                                    std::uint64_t dimension) {
  const Integer rounding = dimension == 1 ? Integer(1) : Integer(ceil_sqrt(dimension) + 1);
  const Lattice lattice = Lattice::for_noise(sigma, 20, l2_sensitivity, rounding);
  const Integer steps = lattice.l2_steps(l2_sensitivity, dimension);
  const Ratio sigma_in_steps = Ratio(steps) * sigma / l2_sensitivity;
  return {lattice, steps, sigma_in_steps,
          AdditiveNoise::discrete_gaussian(Ratio(sigma_in_steps * sigma_in_steps))};
}

Integer LatticeNoise::add(double value, BitSource& bits) const {
  const Integer rounded = lattice_.nearest(value);
  return rounded + draw_exactly(*noise_, bits);
}

Integer LatticeNoise::add(const Ratio& value, BitSource& bits) const {
  const Integer rounded = lattice_.nearest(value);
  return rounded + draw_exactly(*noise_, bits);
}

double LatticeNoise::laplace_radius(double beta) const {
  const double steps = discrete_laplace_radius(scale_, beta) + 0.5;
  return times_up(steps, round_up(lattice_.step()));
}

double LatticeNoise::gaussian_radius(double beta) const {
  const double steps = discrete_gaussian_radius(scale_, beta) + 0.5;
  return times_up(steps, round_up(lattice_.step()));
}

void check_dimension(std::size_t length, std::uint64_t dimension) {
  if (length == dimension) return;
  throw Error(ErrorCode::kInvalidInput,
              "dimension says how many values there must be; set it to the length of the vector");
}

std::vector<double> noised(std::span<const double> values, std::uint64_t dimension,
                           const LatticeNoise& noise, BitSource& bits) {
  check_dimension(values.size(), dimension);
  std::vector<double> result;
  result.reserve(values.size());
  for (const double value : values) result.push_back(noise.lattice().value(noise.add(value, bits)));
  return result;
}

double failure_probability(double confidence) {
  require(confidence > 0 && confidence < 1, "confidence must lie strictly between 0 and 1");
  return 1 - confidence;
}

double times_up(double a, double b) {
  return std::nextafter(a * b, INFINITY);
}

}  // namespace gauze::internal
