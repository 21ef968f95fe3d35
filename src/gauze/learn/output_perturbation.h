#pragma once

#include <cstdint>
#include <vector>

#include "gauze/accounting/release.h"
#include "gauze/base/required.h"
#include "gauze/learn/examples.h"
#include "gauze/learn/loss.h"
#include "gauze/learn/model_noise.h"

namespace gauze {

/// The regularised minimiser of the loss, plus noise.
///
///     const OutputPerturbation learner({.loss = Loss::logistic(), .lambda = 0.01, .records = 5000,
///                                       .dimension = 20, .epsilon = 1, .relation = Relation::kAddRemove});
///     const std::vector<double> model = learner.run(people, context).value;
///
/// Privacy    pure DP, epsilon; with delta > 0 (epsilon, delta)-DP. Per privacy unit, whatever its rows. Under
///            replace the number of units is public and must be `records`; under add_remove `records` is a
///            public divisor, and half the noise is enough; the caller sees to it that at most
///            2 `records` units take part, for beyond that the solver may end with an error.
/// Accuracy   the Euclidean norm of the noise, beside the minimiser; the mean loss rises by at most
///            `lipschitz` times that.
/// Numerics   what the solver leaves is certified and covered by the noise.
/// Time       that of `minimise`.
/// Argument   output_perturbation.md
class OutputPerturbation {
 public:
  struct Options {
    Required<Loss> loss;      ///< logistic or huber
    Required<double> lambda;  ///< weight of the regulariser, > 0, fixed before the data are seen
    Required<std::uint64_t> records;
    Required<std::uint32_t> dimension;  ///< 1 to 65536
    Required<Ratio> epsilon;            ///< > 0
    Required<Relation> relation;        ///< add_remove or replace
    Ratio delta = 0;                    ///< above 0: Gaussian noise
    std::uint64_t rows_per_unit = 1;    ///< at most so many rows of a unit take part
  };

  /// Throws `kInvalidOption` for options outside their ranges and a lambda too small for double arithmetic.
  explicit OutputPerturbation(Options options);

  /// What the noise covers: the minimiser's sensitivity and twice `solver_distance()`.
  double l2_sensitivity() const { return l2_sensitivity_; }
  /// How near to the minimiser the solver comes.
  double solver_distance() const { return distance_; }
  Event event() const { return noise_.event(); }
  Accuracy accuracy(double confidence = 0.95) const { return noise_.accuracy(confidence); }

  /// Charges the meter, then releases the model. Throws `kInvalidInput` for examples of another dimension or
  /// bound, and under replace for another number of units than `records`.
  Release<std::vector<double>> run(const Examples& examples, Context& context) const;

 private:
  Options options_;
  double distance_;
  double l2_sensitivity_;
  ModelNoise noise_;
};

}  // namespace gauze
