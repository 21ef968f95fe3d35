#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gauze/accounting/release.h"
#include "gauze/base/required.h"
#include "gauze/data/source.h"
#include "gauze/query/plan.h"
#include "gauze/registry/result.h"

namespace gauze {

/// What one released quantity will look like, known before the data.
struct MeasurementInfo {
  std::string of;                    ///< "COUNT(*)", "sum of cost - 5000", "keys"
  std::string noise;                 ///< "discrete Gaussian, sigma 12.3"
  std::string sensitivity;           ///< "l2 3.16: 10 groups per unit, 1 row in each"
  std::string share;                 ///< of the budget
  std::optional<double> half_width;  ///< expected, when it does not depend on the data
  Event event;
  std::optional<double> rank_error =
      {};  ///< of quantiles: how many ranks an error bar may be off, 95 %
};

/// A private answer to a planned question.
///
/// Privacy    (epsilon, delta) for one privacy unit more or less, key selection included.
/// Accuracy   every numeric cell has a 95 % half width for the noise; what bounding cuts off is not in it.
/// Time       O(rows); memory bounded by `memory`, then it spills.
/// Argument   sql_query.md
class SqlQuery {
 public:
  struct Options {
    Required<Plan> plan;
    Required<Ratio> epsilon;   ///< > 0, of the whole question
    Ratio delta = 0;           ///< in [0, 1); above 0 where keys are selected privately
    std::uint64_t memory = 0;  ///< bytes for bounding; 0: a quarter of the machine's
    unsigned threads = 0;      ///< 0: all cores
  };

  explicit SqlQuery(Options options);

  Event event() const;
  const std::vector<MeasurementInfo>& measurements() const;
  /// The half width of each output column in a group of so many rows whose values lie around the middle of their
  /// ranges, by a quarter of them, and are not correlated: by the formulas of answers, from public parameters alone.
  /// Nothing for keys, texts and quantiles.
  std::vector<std::optional<double>> expected_half_widths(std::uint64_t rows) const;
  /// Why this noise: "Gaussian noise: half of Laplace's error at this (epsilon, delta)".
  std::string reason() const;
  const Plan& plan() const;

  /// Reads, bounds, aggregates, tells the watch, charges the meter and adds noise.
  Release<Answer> run(Source& source, Context& context) const;

 private:
  struct Parts;
  std::shared_ptr<const Parts> parts_;
};

}  // namespace gauze
