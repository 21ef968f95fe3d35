#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gauze/data/value.h"

namespace gauze {

/// What is publicly known of a column, whatever the rows hold. Values are of the column's type:
/// `Ratio` for decimals, `double` for doubles, `Date`, ...
struct Domain {
  Type type = Type::kText;
  /// Smallest and largest value, both or none; what lies outside is moved to the nearer end.
  std::optional<Value> lower = {}, upper = {};
  std::optional<std::vector<Value>> categories =
      {};  ///< all values there are, in the order of answers
  /// "default": what a value outside `categories` becomes, and a null where there can be none.
  std::optional<Value> fallback = {};
  std::vector<Value> bins =
      {};                ///< edges of the histogram `bin(column)` makes: increasing, two or more
  bool nullable = true;  ///< "nulls": false promises an answer group less
  bool operator==(const Domain&) const = default;
};

struct ColumnSchema {
  std::string name;
  Domain domain;
  bool operator==(const ColumnSchema&) const = default;
};

/// Whose rows these are.
struct UnitSchema {
  enum class Kind : std::uint8_t {
    kPublic,  ///< nobody's: "public": true
    kRow,     ///< "unit": "row" - every row is another person
    kColumn,  ///< "unit": "patient_id"
    /// "unit": {"column": "visit_id", "of": "visits", "key": "visit_id"}: whoever owns that row of `of`
    kThrough,
  };
  Kind kind = Kind::kRow;
  std::string column;  ///< the unit column, or the column that refers to `table`.`key`
  std::string table, key;
  bool operator==(const UnitSchema&) const = default;
};

struct TableSchema {
  std::string name;
  UnitSchema unit;
  std::uint64_t rows_per_unit = 1;               ///< at most so many rows of a unit take part
  std::optional<std::uint64_t> groups_per_unit;  ///< in at most so many groups of an answer
  std::optional<std::uint64_t> rows_per_group;   ///< and at most so many rows in each
  std::vector<std::vector<std::string>> keys;    ///< sets of columns that determine a row ("keys")
  std::vector<ColumnSchema> columns;             ///< in the order of the file
  /// Which files hold it: paths and globs from the schema's folder, base.duckdb:visits of a table in a
  /// database file. Empty: the files of its name beside the schema.
  std::vector<std::string> files = {};
  /// Which relation of a server holds it, like hospital.visits; "": the one of its name.
  std::string relation = {};

  bool is_public() const { return unit.kind == UnitSchema::Kind::kPublic; }
  /// Nothing when there is no such column. Names compare as SQL's do: the case does not matter.
  const ColumnSchema* find(std::string_view column) const;
  bool operator==(const TableSchema&) const = default;
};

/// Public knowledge about a set of tables, written by the steward; all the planner knows.
struct Schema {
  std::string dataset;  ///< whose budget pays: the ledger's name for these tables
  std::vector<TableSchema> tables;

  /// Throws `kUnknownName`, naming the nearest table.
  const TableSchema& table(std::string_view name) const;
  bool operator==(const Schema&) const = default;
};

/// The JSON form, version 1; schema.md describes every field. All throw `kInvalidInput`,
/// `kUnknownName` and `kMissingKnowledge`; messages name table, column and field and show the line to
/// write. Text and file may hold no name twice; `read_schema` throws `kIo` when there is no such file.
Schema schema_from_json(const nlohmann::ordered_json& json);
Schema parse_schema(std::string_view text);
Schema read_schema(const std::string& path);

/// What `schema_from_json` reads back to an equal schema.
nlohmann::ordered_json to_json(const Schema& schema);

}  // namespace gauze
