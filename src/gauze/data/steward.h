#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "gauze/data/schema.h"
#include "gauze/data/source.h"

// For the steward, who may see the data: nobody else is shown what these functions return.
namespace gauze {

/// A schema to fill in, made of names and types alone. What only the steward knows is null and
/// refused by `schema_from_json` until it is a value or gone.
nlohmann::ordered_json schema_template(Source& source, const std::vector<std::string>& tables);

/// How many rows do not keep what the schema promises. They are no errors: each is handled as
/// schema.md says. These are exact counts of private rows.
struct SchemaCheck {
  struct Column {
    std::string name;
    std::uint64_t unreadable =
        0;  ///< do not parse as the declared type, or are not UTF-8: become null
    std::uint64_t outside = 0;  ///< out of range or of the categories: moved, mapped or null
    std::uint64_t nulls_not_declared = 0;  ///< null although "nulls" is false
  };
  struct Table {
    std::string name;
    std::uint64_t rows = 0;
    Unseen unseen;                        ///< left out, or cut off
    std::uint64_t rows_without_unit = 0;  ///< belong to nobody: take no part
    std::uint64_t units = 0;
    std::uint64_t units_over_bound = 0;  ///< have more than `rows_per_unit` rows
    std::vector<std::uint64_t>
        repeated_keys;  ///< values that come twice or more, for each of "keys"
    std::vector<Column> columns;
  };
  std::vector<Table> tables;
};
SchemaCheck check_schema(Source& source, const Schema& schema);

}  // namespace gauze
