#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "gauze/accounting/release.h"
#include "gauze/mechanism/key_selection.h"
#include "gauze/numeric/ratio.h"
#include "gauze/query/bounded_aggregate.h"
#include "gauze/query/plan.h"

namespace gauze {

/// A number per row, read once for all measurements that need it.
struct CellSpec {
  std::size_t value = 0;  ///< position in Plan::values
  bool identity = false;  ///< told apart and counted only; otherwise whole steps of 2^exponent
  int exponent = 0;       ///< size of a step
  std::int64_t lower = 0, upper = 0;  ///< in steps; every row lies within
  std::int64_t margin = 0;            ///< how many of these lie beyond each end of the range
  bool operator==(const CellSpec&) const = default;
};

/// One noisy vector (an element per group), or quantiles per group.
struct Measurement {
  enum class Kind : std::uint8_t {
    kSum,       ///< of BoundedTotals::sums
    kDistinct,  ///< how many different values of BoundedTotals::samples
    kQuantile,  ///< of BoundedTotals::samples
  };
  Kind kind = Kind::kSum;
  std::string of;
  std::size_t source = 0;            ///< which measure, or which sample
  int exponent = 0;                  ///< a whole number in the release stands for 2^exponent
  int shift = 0;                     ///< ... which is 2^shift steps of the source
  std::uint64_t row_bound = 1;       ///< what a row adds at most, in whole numbers of the release
  bool per_unit = false;             ///< a unit adds at most 1 to a group, however many rows it has
  std::vector<Ratio> probabilities;  ///< of quantiles, increasing
  Ratio weight = 0;                  ///< share of the budget; all together are 1

  // chosen by `design`
  enum class Noise : std::uint8_t { kLaplace, kGaussian, kChoice } noise = Noise::kLaplace;
  Ratio scale = 0;  ///< of Laplace noise; sigma of Gaussian noise; epsilon per record of a choice
  Ratio sensitivity = 0;    ///< l1 or l2, in whole numbers of the release
  std::uint64_t moved = 1;  ///< how many groups one unit can move
};

/// Which measurements an aggregate is computed from.
struct Formula {
  Aggregate::Function function;
  std::optional<std::size_t> count, sum, sum2, square, square2, product;  ///< measurements
  std::optional<std::size_t> quantile;
  std::size_t probability = 0;           ///< position among the probabilities of the quantile
  CellSpec cell, cell2;                  ///< for centres, steps and ranges
  std::int64_t offset = 0, offset2 = 0;  ///< subtracted from each square

  std::vector<std::size_t> parts() const;
};

/// What is measured for a plan, with which noise.
struct MeasurementDesign {
  Bounds bounds;             ///< tightened
  std::uint64_t groups = 1;  ///< of the public domain; 0: keys are selected privately
  std::vector<CellSpec> cells;
  std::vector<Measure> measures;
  std::vector<Sample> samples;
  std::vector<Measurement> measurements;
  std::vector<Formula> formulas;  ///< one per aggregate of the plan
  std::optional<KeySelection> key_selection;
  Ratio key_weight = 0;
  std::string reason;

  /// Key selection first, then the measurements in their order.
  std::vector<Event> events() const;
};

/// The smallest set of measurements for the plan's aggregates, without noise.
///
/// Each requested aggregate has the same weight; a mean splits its own between count and centred sum, and
/// leaves all of it to the sum where somebody asked for the count anyway. Argument: measurement.md
MeasurementDesign derive_measurements(const Plan& plan);

/// The same with noise that makes all of it (epsilon, delta)-private: Laplace at pure epsilon or Gaussian,
/// whichever errs less on average. Throws `kInvalidOption` when keys are to be selected
/// and delta is 0.
MeasurementDesign design_measurements(const Plan& plan, const Ratio& epsilon, const Ratio& delta);

/// The event that a measurement charges.
Event event_of(const Measurement& measurement, const Bounds& bounds);

/// |released - true| <= this, in whole numbers of the release, except with probability beta; infinity for
/// quantiles.
double radius(const Measurement& measurement, double beta);

/// Charges the meter, then adds noise to the sums of one measurement.
std::vector<std::int64_t> release_sums(const Measurement& measurement,
                                       std::span<const std::int64_t> truth, Context& context);

/// A total in steps of the source as a whole number of the release: rounded to nearest, saturated.
std::int64_t whole_number(WideInteger total, int shift);

}  // namespace gauze
