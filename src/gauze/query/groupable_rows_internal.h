#pragma once

#include <string>
#include <vector>

#include "gauze/data/source.h"
#include "gauze/query/plan.h"

namespace gauze {

/// `rows_sql` where every row is a unit, for a source that adds up by itself: what can wait is left to groups.
struct GroupableRows {
  struct Number {
    bool confined = false;  ///< the last thing done to v0 was to move it into the value's range
    std::string
        unless_nan;  ///< of double columns: SQL equal to v0 or, where the column is NaN, perhaps NaN
    bool keeps_null = false;  ///< and null exactly where w0, its column, is
  };
  std::string select;  ///< of columns k0, ..., v0, ... and w0, ..., of which `unless_nan` is
  std::vector<std::string> keys;  ///< SQL over k0, ...: the keys as `rows_sql` has them
  std::vector<Number> numbers;    ///< one for each value of the plan
};
GroupableRows groupable_rows(const Plan& plan, Source& source);

}  // namespace gauze
