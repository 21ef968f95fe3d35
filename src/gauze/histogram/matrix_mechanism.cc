#include "gauze/histogram/matrix_mechanism.h"

#include <cmath>

#include "gauze/accounting/accountant.h"
#include "gauze/base/error.h"

namespace gauze {
namespace {

std::uint64_t sensitivity(const Integer& norm, std::uint64_t rows_per_unit) {
  const Integer product = norm * rows_per_unit;
  require(product < (Integer(1) << 62), "rows_per_unit: too many for the weights of this strategy");
  return product.convert_to<std::uint64_t>();
}

CountNoise laplace_noise(const MatrixMechanism::Options& options) {
  check_dense(options.shape);
  check_budget({options.epsilon, options.delta, options.rows_per_unit});
  const Shape measured = options.strategy->shape();
  require(measured == options.shape.get() ||
              (measured.axes() == 1 && measured.cells() == options.shape->cells()),
          "strategy: must be about the cells of the shape");
  return CountNoise::laplace(options.epsilon,
                             sensitivity(options.strategy->l1_norm(), options.rows_per_unit));
}

}  // namespace

MatrixMechanism::MatrixMechanism(Options options)
    : options_(std::move(options)), laplace_(laplace_noise(options_)) {
  if (options_.delta == 0) return;
  const double epsilon = round_down(options_.epsilon);
  const double delta = round_down(options_.delta);
  const std::uint64_t moved = sensitivity(options_.strategy->l2_norm(), options_.rows_per_unit);
  const double about = gaussian_sigma(epsilon, delta) * static_cast<double>(moved);
  for (double more = 1e-7; more < 1; more *= 4) {
    const double sigma = about * (1 + more);
    if (sigma * sigma >= laplace_.variance()) return;
    DiscreteGaussian noise({.l2_sensitivity = Ratio(Integer(moved)),
                            .sigma = ratio_of_decimal(sigma),
                            .dimension = options_.strategy->measurements()});
    if (epsilon_at({noise.event()}, delta).epsilon > epsilon) continue;
    gaussian_ = std::move(noise);
    sigma_ = sigma;
    return;
  }
}

double MatrixMechanism::noise_variance() const {
  return gaussian_ ? sigma_ * sigma_ * (1 + 1e-12) : laplace_.variance();
}

Event MatrixMechanism::event() const {
  return gaussian_ ? gaussian_->event() : laplace_.event();
}

Accuracy MatrixMechanism::accuracy(double confidence) const {
  const double variance = options_.strategy->largest_cell_variance() * noise_variance();
  return {noise_half_width(variance, confidence, is_gaussian()), confidence, "each cell"};
}

Release<RangeHistogram> MatrixMechanism::run(std::span<const std::int64_t> counts,
                                             Context& context) const {
  const Strategy& strategy = options_.strategy;
  if (counts.size() != options_.shape->cells())
    throw Error(ErrorCode::kInvalidInput, "there must be one count for each cell of the shape");
  StepMeter steps(event(), context);
  const std::vector<std::int64_t> sums = strategy.measure(counts);
  const std::vector<std::int64_t> noisy =
      gaussian_ ? gaussian_->run(sums, steps.context()).value : laplace_.run(sums, steps.context());
  const double unit = noise_variance();
  const auto variance = [strategy, unit](std::span<const double> weights) {
    return unit * strategy.variance(weights);
  };
  const auto box_variance = [variance, unit, shape = options_.shape.get(),
                             cells = strategy.cell_variances()](const Box& box) {
    if (box.volume() != 1) return variance(box_weights(shape, box));
    // A strategy of one axis may be about all cells of several.
    double product = unit;
    std::size_t place = 0;
    for (std::size_t axis = 0; axis < shape.axes(); ++axis) {
      place = place * shape.extents[axis] + box.begin[axis];
      if (cells.size() > 1) product *= cells[axis][box.begin[axis]];
    }
    if (cells.size() == 1) product *= cells[0][place];
    return product;
  };
  return {RangeHistogram(options_.shape,
                         strategy.estimate(std::vector<double>(noisy.begin(), noisy.end())),
                         variance, is_gaussian(), box_variance),
          accuracy(), event()};
}

}  // namespace gauze
