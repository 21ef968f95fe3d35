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
    /// v0 is w0, integers of some width or a double column as the table has it, with NaN, moved into its range
    bool is_column = false;
    bool null_is_lower = false;  ///< v0 is the lower end where w0 is null or NaN; otherwise null
  };
  std::string select;             ///< of columns k0, ..., v0, ... and, of some, w0, ...
  std::vector<std::string> keys;  ///< SQL over k0, ...: the keys as `rows_sql` has them
  std::vector<Number> numbers;    ///< one for each value of the plan
};
GroupableRows groupable_rows(const Plan& plan, Source& source);

}  // namespace gauze
