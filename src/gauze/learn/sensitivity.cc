#include "gauze/learn/sensitivity.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "gauze/base/error.h"

namespace gauze {

namespace {

constexpr double kUnit = 0x1p-53;

void check_relation(Relation relation) {
  require(relation == Relation::kAddRemove || relation == Relation::kReplace,
          "relation must be add_remove or replace");
}

/// Bounds on the errors of one update: `per_norm` times the model's norm and `per_step` times the step.
struct UpdateError {
  double per_norm;
  double per_step;
};

UpdateError update_error(const SgdPlan& plan, const LossBounds& loss,
                         const Arithmetic& arithmetic) {
  const double dimension = arithmetic.dimension;
  const double rows =
      static_cast<double>(plan.batch) * static_cast<double>(arithmetic.rows_per_unit);
  require(rows + dimension < 0x1p40, "batch and rows_per_unit are too large for double arithmetic");
  const bool projected = std::isfinite(plan.radius);
  return {(6 + (projected ? dimension + 8 : 0)) * kUnit,
          1.01 * (loss.slope_error + (rows + 12) * kUnit * loss.lipschitz)};
}

/// The norm that no model on the way exceeds, in exact arithmetic.
double largest_norm(const SgdPlan& plan, const LossBounds& loss, double sum_of_steps) {
  const double walked = loss.lipschitz * sum_of_steps;
  const double held = plan.regularisation > 0 ? loss.lipschitz / plan.regularisation : kInfinity;
  return std::min({plan.radius, walked, held}) * (1 + 1e-9);
}

/// What a record moves by where it stands: in one batch of each pass, in the same one if there is one
/// permutation for all. The largest of each pass, added up, bounds both.
class Positions {
 public:
  static constexpr std::uint64_t kListed = std::uint64_t{1} << 26;

  explicit Positions(const SgdPlan& plan)
      : fresh_(plan.fresh_permutations || plan.updates_per_pass() > kListed),
        sums_(fresh_ ? 1 : plan.updates_per_pass()) {}

  void add(std::uint64_t position, double moved) {
    if (fresh_) {
      largest_ = std::max(largest_, moved);
    } else {
      sums_[position] += moved;
    }
  }
  void end_pass() {
    sums_[0] += fresh_ ? largest_ : 0;
    largest_ = 0;
  }
  double largest() const { return *std::max_element(sums_.begin(), sums_.end()); }

 private:
  bool fresh_;
  double largest_ = 0;
  std::vector<double> sums_;
};

}  // namespace

double ModelSensitivity::total() const {
  return (l2_sensitivity + rounding) * (1 + 4 * kUnit);
}

ModelSensitivity sgd_sensitivity(const SgdPlan& plan, const LossBounds& loss, Relation relation,
                                 const Arithmetic& arithmetic) {
  plan.validate();
  check_relation(relation);
  require(loss.lipschitz > 0 && std::isfinite(loss.lipschitz), "lipschitz must be positive");
  require(loss.smoothness >= 0 && std::isfinite(loss.smoothness),
          "smoothness must be finite: a loss with a kink (hinge) has no bound; take huber, or a "
          "minimiser");
  require(loss.curvature >= 0 && loss.curvature <= loss.smoothness,
          "strong_convexity must lie in [0, smoothness]");
  require(
      loss.curvature == 0 || relation == Relation::kReplace,
      "strong_convexity of the loss needs relation replace: an empty slot has none; use lambda");
  require(arithmetic.dimension >= 1 && arithmetic.rows_per_unit >= 1,
          "dimension and rows_per_unit must be at least 1");
  const Schedule& schedule = plan.schedule;
  const auto batch = static_cast<double>(plan.batch);
  const double lambda = plan.regularisation;
  const double steepest = 2 * lambda + loss.smoothness + loss.curvature;
  require(schedule.step(1) * steepest <= 2 * (1 + 8 * kUnit),
          "the step is beyond 2 / (smoothness + strong_convexity + 2 lambda): lower the rate");

  const std::uint64_t updates = plan.updates();
  double sum_of_steps = 0;
  for (std::uint64_t t = 1; t <= updates; ++t) sum_of_steps += schedule.step(t);
  sum_of_steps *= 1 + static_cast<double>(updates) * 2 * kUnit;

  const double norm = largest_norm(plan, loss, sum_of_steps);
  UpdateError error = update_error(plan, loss, arithmetic);
  const double score_error = 1.01 * loss.smoothness * (arithmetic.dimension + 4.0) * kUnit;
  const double drift = static_cast<double>(updates) * 2 * norm * error.per_norm +
                       sum_of_steps * (error.per_step + 2 * norm * score_error);
  require(drift <= norm, "passes: so many updates are beyond double arithmetic");
  error.per_step += 2 * norm * score_error;

  // Rows may be longer than 1 by rounding, and the step at the edge of its range.
  const double stretch = 1 + (arithmetic.dimension + 16.0) * 8 * kUnit;
  const double loosened = (arithmetic.dimension + 32.0) * 16 * kUnit;
  Positions exact(plan);
  Positions rounded(plan);
  double errors = 0;
  double weights = 0;
  double left = 0;        // of a move before the contraction of update t + 1
  double left_above = 0;  // the same, rounded up
  for (std::uint64_t t = updates; t >= 1; --t) {
    const double step = schedule.step(t);
    const double weight = plan.weight(t);
    left += weight;
    left_above = (left_above + weight) * (1 + 4 * kUnit);
    const std::uint64_t position = (t - 1) % plan.updates_per_pass();
    exact.add(position, 2 * loss.lipschitz * step / batch * left);
    rounded.add(position, 2 * loss.lipschitz * stretch * step / batch * left_above);
    errors += 2 * left_above * (2 * norm * error.per_norm + step * error.per_step + 0x1p-1000);
    weights += weight;
    if (position == 0) {
      exact.end_pass();
      rounded.end_pass();
    }
    const double share = static_cast<double>(plan.slots(t)) / batch;
    const double contraction = 1 - step * (lambda + loss.curvature * share);
    left *= std::max(contraction, 0.0);
    left_above *= std::max(contraction, 0.0) + loosened;
  }
  if (plan.average != Average::kLast) {
    errors += 2 * (static_cast<double>(updates) + 4) * 1.01 * kUnit * 2 * norm * weights;
  }
  const double sums = 1 + (static_cast<double>(updates) + 8) * 4 * kUnit;  // of this very loop
  const double total = (rounded.largest() + errors) * sums;
  const double result = exact.largest();
  return {result, std::max(total - result, 0.0) + total * 4 * kUnit, updates};
}

double minimiser_sensitivity(double lipschitz, double lambda, std::uint64_t records,
                             Relation relation) {
  check_relation(relation);
  require(lipschitz > 0 && std::isfinite(lipschitz), "lipschitz must be positive and finite");
  require(lambda > 0 && std::isfinite(lambda),
          "lambda must be positive: without it one record moves the minimiser without bound");
  require(records >= 1, "records must be at least 1");
  const double units = relation == Relation::kReplace ? 2 : 1;
  return units * lipschitz / (lambda * static_cast<double>(records)) * (1 + 8 * kUnit);
}

}  // namespace gauze
