#pragma once

#include <cstdint>
#include <vector>

#include "gauze/mechanism/quantile_interval.h"
#include "gauze/query/measurement.h"
#include "gauze/query/plan.h"
#include "gauze/query/sql_query.h"

namespace gauze {

/// Everything noise was added to, and nothing else: what is made of it costs nothing.
struct ReleasedGroups {
  std::vector<std::vector<Value>> keys;            ///< one tuple per group, in the order of answers
  std::vector<std::vector<std::int64_t>> numbers;  ///< [measurement][group]; empty for quantiles
  std::vector<std::vector<BracketedQuantile>>
      quantiles;  ///< [measurement][group * probabilities + p]
};

/// The value of one aggregate in one group, with bounds that hold when every measurement i involved is
/// within `radii[i]` of the truth. Argument: answer.md
Estimate estimate(const Formula& formula, const MeasurementDesign& design,
                  const ReleasedGroups& released, std::size_t group,
                  const std::vector<double>& radii);

/// With which probability each interval of a quantile must hold so that every cell it appears in holds with
/// 95 %.
double quantile_confidence(const Plan& plan, const MeasurementDesign& design,
                           std::size_t measurement);

/// Aggregates, expressions, HAVING, ORDER BY and LIMIT on released values. Each half width holds with 95 %
/// for itself: a cell that needs several measurements shares 5 % among them.
Answer make_answer(const Plan& plan, const MeasurementDesign& design,
                   const ReleasedGroups& released);

/// What would be released, without noise, of one group of `rows` rows whose values have their mean in the middle of
/// the range, a standard deviation of a quarter of it, and no correlation. Keys are null, quantiles unknown.
ReleasedGroups assumed_group(const Plan& plan, const MeasurementDesign& design, std::uint64_t rows);

}  // namespace gauze
