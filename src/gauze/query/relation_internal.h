#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "gauze/data/schema.h"
#include "gauze/query/range_internal.h"
#include "gauze/sql/expression.h"

namespace gauze {

struct RelationNode;
using RelationPtr = std::shared_ptr<const RelationNode>;

/// To whom each row of a relation belongs.
enum class Owner : std::uint8_t {
  kNobody,  ///< public tables only
  kRow,     ///< every row to a person of its own
  kUnit,    ///< to the unit whose identifier the relation carries along with each row
};

struct RelationColumn {
  std::string name;
  Facts facts;
  bool is_unit = false;  ///< equals the identifier of the row's unit
  std::set<std::string>
      keys;  ///< "visits.visit_id": names a row of that table, and with it the row's unit
  std::vector<Value> bins;  ///< edges of the declared histogram
};

/// Computed for each unit on its own.
struct UnitAggregate {
  enum class Function : std::uint8_t {
    kCountRows,
    kCount,
    kCountDistinct,
    kSum,
    kAverage,
    kMinimum,
    kMaximum
  };
  Function function = Function::kCountRows;
  Expression argument;
  bool operator==(const UnitAggregate&) const = default;
};

/// Rows before aggregation. The invariant that everything rests on: every row depends on the rows of one unit, the one it
/// belongs to, and on public tables. Only the functions below make nodes, and each keeps it (planner.md).
struct RelationNode {
  enum class Kind : std::uint8_t {
    kScan,
    kFilter,
    kProject,
    kJoin,
    kSemiJoin,
    kUnion,
    kUnitAggregate
  };
  Kind kind = Kind::kScan;
  std::vector<RelationPtr> inputs;
  std::vector<RelationColumn> columns;

  Owner owner = Owner::kNobody;
  std::string unit;                 ///< for people: "patient_id of visits"
  Type unit_type = Type::kInteger;  ///< integer or text
  std::optional<std::uint64_t>
      rows_per_unit;  ///< as declared; nothing when a join multiplies by an unknown number
  std::optional<std::uint64_t> groups_per_unit, rows_per_group;
  std::string multiplied;                      ///< why `rows_per_unit` is not known
  unsigned products = 0;                       ///< joins below that multiply rows
  std::vector<std::vector<std::size_t>> keys;  ///< sets of columns that determine a row
  std::set<std::string> tables;                ///< the private tables read
  std::size_t size = 1;                        ///< nodes of the tree

  TableSchema table;  ///< of a scan
  std::vector<Expression>
      expressions;         ///< of a projection: one per column; of unit aggregates: the group keys
  Expression condition;    ///< of a filter; of a join: over left columns, then right columns
  bool left_join = false;  ///< rows of the left without a partner stay
  std::size_t owner_input = 0;  ///< of a join: whose unit the rows have
  bool match_units = false;     ///< of a join: the units must be equal too, besides the condition
  std::vector<std::size_t>
      single_match;  ///< of a join: the right's key; at most one row per key is used
  std::vector<std::pair<std::size_t, std::size_t>>
      equal;  ///< columns (left, right) that the condition equates
  bool materialised =
      false;               ///< of a projection: too long to be repeated wherever a column is used
  std::size_t column = 0;  ///< of a semi-join: the left column
  bool negated = false;    ///< NOT IN
  std::vector<UnitAggregate> aggregates;

  std::vector<Facts> facts() const;
};

RelationPtr scan(const Schema& schema, const TableSchema& table);
RelationPtr filter(RelationPtr input, Expression condition);
RelationPtr project(RelationPtr input, std::vector<Expression> expressions,
                    std::vector<std::string> names);

/// INNER or LEFT JOIN. `condition` is over the left's columns followed by the right's. Throws `kNotPrivate` when rows of
/// different units would meet or rows would belong to nobody.
RelationPtr join(RelationPtr left, RelationPtr right, Expression condition, bool left_join);

/// left.column [NOT] IN (the only column of right).
RelationPtr semi_join(RelationPtr left, std::size_t column, RelationPtr right, bool negated);
RelationPtr union_all(std::vector<RelationPtr> inputs);

/// GROUP BY within each unit; one of `keys` is the unit. Columns: keys, then aggregates. Values are moved into the ranges
/// that `rows_per_unit` implies.
RelationPtr unit_aggregate(RelationPtr input, std::vector<Expression> keys,
                           std::vector<std::string> names, std::vector<UnitAggregate> aggregates);

/// All values a column can have, without null, in the order of answers; nothing when the schema does not tell or there are
/// more than 100,000.
std::optional<std::vector<Value>> domain_of(const RelationPtr& relation, std::size_t column);

/// The conditions that all must hold: a AND (b AND c) is three.
std::vector<Expression> conjuncts(const Expression& condition);

}  // namespace gauze
