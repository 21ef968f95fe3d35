#pragma once

#include <cstdint>
#include <vector>

#include "gauze/query/measurement.h"
#include "gauze/query/plan.h"
#include "gauze/query/sql_query.h"

namespace gauze {

/// A released quantile with an interval that contains the true one with the confidence asked for; infinite
/// where nothing is known.
struct QuantileEstimate {
  double value, lower, upper;
};

/// Everything noise was added to, and nothing else: what is made of it costs nothing.
struct ReleasedGroups {
  std::vector<std::vector<Value>> keys;            ///< one tuple per group, in the order of answers
  std::vector<std::vector<std::int64_t>> numbers;  ///< [measurement][group]; empty for quantiles
  std::vector<std::vector<QuantileEstimate>>
      quantiles;  ///< [measurement][group * probabilities + p]
};

/// The value of one aggregate in one group, with bounds that hold when every measurement i involved is
/// within `radii[i]` of the truth. Argument: answer.md
Estimate estimate(const Formula& formula, const MeasurementDesign& design,
                  const ReleasedGroups& released, std::size_t group,
                  const std::vector<double>& radii);

/// Aggregates, expressions, HAVING, ORDER BY and LIMIT on released values. Each half width holds with 95 %
/// for itself: a cell that needs several measurements shares 5 % among them.
Answer make_answer(const Plan& plan, const MeasurementDesign& design,
                   const ReleasedGroups& released);

}  // namespace gauze
