#include "gauze/learn/output_perturbation.h"

#include <algorithm>

#include "gauze/base/error.h"
#include "gauze/learn/fitting_internal.h"
#include "gauze/learn/minimiser.h"

namespace gauze {

namespace {

Objective objective_of(const OutputPerturbation::Options& options) {
  return {options.loss, options.lambda, options.records};
}

Arithmetic shape_of(const OutputPerturbation::Options& options) {
  return {options.dimension, options.rows_per_unit};
}

/// Of the exact minimiser. Rows may be longer than 1 by rounding.
double exact_sensitivity(const OutputPerturbation::Options& options) {
  const double stretch = 1 + (options.dimension.get() + 16.0) * 0x1p-52;
  return minimiser_sensitivity(options.loss->bounds().lipschitz * stretch, options.lambda,
                               options.records, options.relation);
}

/// A thousandth of the sensitivity, unless double arithmetic needs more.
double solver_distance(const OutputPerturbation::Options& options) {
  const double exact = exact_sensitivity(options);
  const double certain =
      certain_distance(objective_of(options), shape_of(options), options.relation);
  require(certain <= exact, "lambda is too small for double arithmetic");
  return std::max(exact * 0x1p-10, certain);
}

}  // namespace

OutputPerturbation::OutputPerturbation(Options options)
    : options_(std::move(options)),
      distance_(gauze::solver_distance(options_)),
      l2_sensitivity_((exact_sensitivity(options_) + 2 * distance_) * (1 + 0x1p-50)),
      noise_({.l2_sensitivity = l2_sensitivity_,
              .dimension = options_.dimension,
              .epsilon = options_.epsilon,
              .relation = options_.relation,
              .delta = options_.delta}) {}

Release<std::vector<double>> OutputPerturbation::run(const Examples& examples,
                                                     Context& context) const {
  context.meter.charge(event());
  internal::expect_fitting(examples, shape_of(options_), options_.records, options_.relation);
  const Minimum fit = minimise(examples, objective_of(options_), distance_,
                               [&] { context.progress(-1, "training"); });
  context.begins_to_draw();
  return {noise_.add(fit.model, context.bits), accuracy(), event()};
}

}  // namespace gauze
