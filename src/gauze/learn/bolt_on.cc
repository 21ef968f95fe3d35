#include "gauze/learn/bolt_on.h"

#include <cmath>

#include "gauze/base/error.h"
#include "gauze/learn/fitting_internal.h"
#include "gauze/learn/trainer.h"

namespace gauze {

namespace {

ModelSensitivity priced(const BoltOn::Options& options) {
  require(options.plan->radius <= options.loss->radius(),
          "radius: the squared loss has bounds in its own ball only; project into it");
  return sgd_sensitivity(options.plan, options.loss->bounds(), options.relation,
                         {options.dimension, options.rows_per_unit});
}

void into_ball(std::vector<double>& model, double radius) {
  if (!std::isfinite(radius)) return;
  double norm = 0;
  for (const double weight : model) norm = std::hypot(norm, weight);
  if (norm <= radius) return;
  for (double& weight : model) weight *= radius / norm;
}

}  // namespace

BoltOn::BoltOn(Options options)
    : options_(std::move(options)),
      sensitivity_(priced(options_)),
      noise_({.l2_sensitivity = sensitivity_.total(),
              .dimension = options_.dimension,
              .epsilon = options_.epsilon,
              .relation = options_.relation,
              .delta = options_.delta}) {}

Release<std::vector<double>> BoltOn::run(const Examples& examples, Context& context) const {
  context.meter.charge(event());
  const SgdPlan& plan = options_.plan;
  internal::expect_fitting(examples, {options_.dimension, options_.rows_per_unit}, plan.records,
                           options_.relation);
  RandomSlots slots(examples.units(), plan, context.bits);
  const auto order = [&](std::uint64_t pass) {
    context.progress(static_cast<double>(pass) / static_cast<double>(plan.passes), "training");
    return slots(pass);
  };
  const std::vector<double> trained = train(examples, options_.loss, plan, order);
  context.begins_to_draw();
  std::vector<double> model = noise_.add(trained, context.bits);
  into_ball(model, plan.radius);
  return {std::move(model), accuracy(), event()};
}

}  // namespace gauze
