#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gauze/data/dialect.h"
#include "gauze/data/schema.h"
#include "gauze/sql/expression.h"

namespace gauze {

class Source;
struct
    RelationNode;  // rows before aggregation: scans, filters, joins, unions (relation_internal.h)

/// A group key of the answer.
struct KeyColumn {
  std::string name;
  Type type = Type::kText;
  /// All values there can be, in the order of answers (null included when there can be nulls); nothing when the
  /// schema does not tell, and then the keys themselves are selected privately.
  std::optional<std::vector<Value>> domain;
};

/// An argument of aggregates: one expression over the rows, with its public range.
struct ValueColumn {
  std::string text;  ///< as the user wrote it, for EXPLAIN
  Type type = Type::kDouble;
  bool integral = false;  ///< every value is a whole number
  bool nullable = true;
  std::optional<Ratio> lower, upper;  ///< nothing for values that are only counted
};

struct Aggregate {
  enum class Function : std::uint8_t {
    kCountRows,      ///< COUNT(*)
    kCount,          ///< COUNT(x): rows where x is not null
    kCountDistinct,  ///< COUNT(DISTINCT x)
    kCountUnits,     ///< COUNT(DISTINCT unit)
    kSum,
    kAverage,
    kVarianceSample,
    kVariancePopulation,
    kStddevSample,
    kStddevPopulation,
    kCovarianceSample,
    kCovariancePopulation,
    kCorrelation,
    kQuantile,  ///< MEDIAN, PERCENTILE_CONT(p), QUANTILE(x, p); MIN and MAX are p = 1/100 and 99/100
  };
  Function function;
  std::vector<std::size_t> arguments;  ///< positions in Plan::values; empty for COUNT(*) and units
  Ratio probability = Ratio(1, 2);     ///< of a quantile
  std::string text;                    ///< as the user wrote it
  bool operator==(const Aggregate&) const = default;
};

/// What one privacy unit can contribute to the answer; enforced by the execution, whatever the rows hold.
struct Bounds {
  std::uint64_t rows_per_unit = 1;    ///< in all groups together
  std::uint64_t groups_per_unit = 1;  ///< how many groups
  std::uint64_t rows_per_group = 1;   ///< in any one group
  bool operator==(const Bounds&) const = default;
};

/// One column of the answer: an expression over [keys..., aggregates...].
struct OutputColumn {
  std::string name;
  Type type = Type::kDouble;
  Expression expression;
  bool is_key = false;  ///< no error bar
};

struct OrderBy {
  Expression expression;  ///< over [keys..., aggregates...]
  bool descending = false;
  bool nulls_first = false;
};

/// A question proved answerable: what to read, whose rows they are, what is aggregated, and what happens to the
/// released values afterwards. It depends on the SQL text and the schema alone.
struct Plan {
  std::string sql;  ///< the question
  std::string dataset;
  std::shared_ptr<const RelationNode> rows;
  bool unit_is_row = false;  ///< every row is its own unit; no bounding needed
  std::string unit;          ///< what a unit is, for EXPLAIN: "patient_id of visits"
  Bounds bounds;
  std::vector<KeyColumn> keys;
  std::vector<ValueColumn> values;
  std::vector<Aggregate> aggregates;  ///< without repetitions

  // after the release
  std::vector<OutputColumn> outputs;
  std::optional<Expression> having;
  std::vector<OrderBy> order_by;
  std::optional<std::uint64_t> limit, offset;
};

/// Overrides of the schema's contribution bounds: any value is safe, for the execution enforces it.
struct PlanOptions {
  std::optional<std::uint64_t> rows_per_unit, groups_per_unit, rows_per_group;
};

/// Parses and proves. Throws `kSyntax`, `kInvalidInput` (a constant that is no date or number),
/// `kUnsupported`, `kUnknownName`, `kMissingKnowledge`, `kNotPrivate`; each message is one line that says what is wrong and how to ask instead, and none depends on rows.
Plan plan_query(std::string_view sql, const Schema& schema, const PlanOptions& options = {});

/// The plan's rows as SQL: columns "u" (the unit: integer or text; absent when unit_is_row), "k0", "k1", ... (integers
/// for boolean, integer, date, timestamp; doubles; texts) and "v0", "v1", ... (integers when integral, doubles, or texts
/// for values that are only counted). Every expression in it is total. The source gives its columns' own types.
std::string rows_sql(const Plan& plan, Source& source);

/// A line for each column of text that those rows read as something else, which may not be what was meant.
std::vector<std::string> read_otherwise(const Plan& plan, Source& source);

/// The plan as an indented tree, one operator per line, the same for every source.
std::string describe(const Plan& plan);

}  // namespace gauze
