#pragma once

#include <map>
#include <string>
#include <vector>

#include "gauze/query/measurement.h"
#include "gauze/query/plan.h"
#include "gauze/query/sql_query_internal.h"

// What questions measure before noise, and how far that moves with one unit.

namespace gauze::sql_test {

/// A cell as text; reals to so many digits.
std::string cell_text(const BatchColumn& column, std::size_t row, int digits);

/// Of a question, before noise, by the name of the group.
struct Measured {
  std::map<std::string, std::vector<WideInteger>> sums;                  ///< of each measure
  std::map<std::string, std::vector<std::vector<std::int64_t>>> values;  ///< of each sample, sorted
  std::map<std::string, std::vector<WideInteger>> distinct;              ///< of each sample
  std::map<std::string, int> key_lists;  ///< how many units have these keys; one per line
  bool operator==(const Measured&) const = default;
};

/// Equal seeds choose the same of each unit.
Measured measured(const Plan& plan, const MeasurementDesign& design, Source& source,
                  std::uint64_t seed, unsigned threads, std::uint64_t memory = 0);

/// What one unit may add, by the definition of bounds.
struct Limits {
  Limits(const Plan& plan, const MeasurementDesign& design);
  Integer groups, rows_per_group, l1 = 0, l2_squared = 0;
};

/// What moved further than the design claims when one unit came; "" where nothing did. `one_less`:
/// as if one less were claimed.
std::string refuted(const Measured& with, const Measured& without, const MeasurementDesign& design,
                    const Limits& limits, bool one_less = false);

/// What of the design has noise for less than a unit may add; "" where nothing has.
std::string too_little_noise(const MeasurementDesign& design, const Limits& limits);

}  // namespace gauze::sql_test
