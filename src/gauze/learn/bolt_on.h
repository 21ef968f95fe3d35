#pragma once

#include <cstdint>
#include <vector>

#include "gauze/accounting/release.h"
#include "gauze/base/required.h"
#include "gauze/learn/examples.h"
#include "gauze/learn/loss.h"
#include "gauze/learn/model_noise.h"
#include "gauze/learn/plan.h"
#include "gauze/learn/sensitivity.h"

namespace gauze {

/// A linear model by stochastic gradient descent, with noise once, at the end: training itself runs as fast
/// as without privacy.
///
///     const SgdPlan plan{.schedule = Schedule::strongly_convex(0.25 + lambda, lambda), .records = 24000,
///                        .passes = 10, .batch = 50, .regularisation = lambda, .radius = 1 / lambda};
///     const BoltOn learner({.loss = Loss::logistic(), .plan = plan, .dimension = 105, .epsilon = 1,
///                           .relation = Relation::kReplace});
///     const std::vector<double> model = learner.run(people, context).value;
///
/// An intercept is a feature that is 1 in every row: scaled, regularised and noised like the others.
///
/// Privacy    pure DP, epsilon; with delta > 0 (epsilon, delta)-DP. Per privacy unit, whatever its rows.
///            Under replace the number of units is public and must be the plan's `records`; under add_remove
///            it is never shown: units fill `records` random slots.
/// Accuracy   the Euclidean norm of the noise, beside the trained model without it; the mean loss rises by at
///            most `lipschitz` times that.
/// Numerics   the rounding of all updates is covered by the noise.
/// Time       that of `train`, and O(dimension) for the noise.
/// Argument   bolt_on.md
class BoltOn {
 public:
  struct Options {
    Required<Loss> loss;                ///< not the hinge
    Required<SgdPlan> plan;             ///< fixed before the data are seen
    Required<std::uint32_t> dimension;  ///< 1 to 65536
    Required<Ratio> epsilon;            ///< > 0
    Required<Relation> relation;        ///< add_remove or replace
    Ratio delta = 0;                    ///< above 0: Gaussian noise
    std::uint64_t rows_per_unit = 1;    ///< at most so many rows of a unit take part
  };

  /// Throws `kInvalidOption` for options outside their ranges, steps beyond their precondition, the squared loss
  /// without a ball in its radius.
  explicit BoltOn(Options options);

  const ModelSensitivity& sensitivity() const { return sensitivity_; }
  Event event() const { return noise_.event(); }
  Accuracy accuracy(double confidence = 0.95) const { return noise_.accuracy(confidence); }

  /// Charges the meter, trains, and releases the model plus noise, in the ball if there is one. Throws
  /// `kInvalidInput` for examples of another dimension or bound, and under replace for another number
  /// of units than `records`.
  Release<std::vector<double>> run(const Examples& examples, Context& context) const;

 private:
  Options options_;
  ModelSensitivity sensitivity_;
  ModelNoise noise_;
};

}  // namespace gauze
