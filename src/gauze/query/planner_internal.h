#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gauze/query/plan.h"
#include "gauze/query/relation_internal.h"
#include "gauze/sql/ast.h"

namespace gauze {

/// An expression with what is known of its values.
struct Bound {
  Expression expression;
  Facts facts;
};

/// Names to columns, operators and functions to their one spelling, constants folded, every call checked.
class Binder {
 public:
  /// Decides what an expression is before its arguments are looked at: columns, aggregates, keys.
  using Leaf = std::function<std::optional<Bound>(const SqlExpr& expression)>;

  Binder(Place place, Leaf leaf) : place_(place), leaf_(std::move(leaf)) {}
  Bound bind(const SqlExpr& expression) const;

 private:
  Bound call(const SqlExpr& expression) const;

  Place place_;
  Leaf leaf_;
};

/// Refuses an unknown function, at any depth: what is wrong with a question's words is said before what is wrong with
/// its columns. Throws `kUnsupported`, `kNotPrivate`.
void check_functions(const SqlExpr& expression);

/// A relation whose columns have names that a question can use.
struct Scope {
  RelationPtr relation;
  std::vector<std::string> tables;   ///< per column, the name in front of the dot
  std::vector<std::string> columns;  ///< per column, its name
  std::vector<bool>
      hidden;  ///< per column: the second one of USING (...), reached by its table only
  std::vector<std::size_t> star;  ///< the columns of SELECT *, in their order

  /// Throws `kUnknownName`, also when two columns have the name.
  std::size_t find(const SqlExpr& column) const;
  Bound bind(const SqlExpr& expression) const;
  bool has(const SqlExpr& column) const;
};

/// SELECTs to relations; the part of planning below the aggregates of the answer.
class RelationPlanner {
 public:
  explicit RelationPlanner(const Schema& schema) : schema_(schema) {}

  /// FROM and WHERE.
  Scope rows(const SqlSelect& select);
  /// A whole SELECT as a relation: a sub-select, a CTE, a side of UNION ALL.
  Scope query(const SqlSelect& select);
  /// Makes the SELECTs of WITH known until `forget`.
  std::size_t remember(const std::vector<SqlCte>& with);
  void forget(std::size_t mark) { named_.resize(mark); }

 private:
  Scope from(const SqlFrom& item);
  Scope table(const SqlFrom& item);
  Scope joined(const SqlFrom& item);
  Scope combine(Scope left, Scope right, const std::vector<SqlExpr>& conditions,
                bool left_join) const;
  Scope where(Scope scope, std::vector<SqlExpr> conditions);
  Scope select_rows(const SqlSelect& select, const Scope& scope) const;
  Scope select_groups(const SqlSelect& select, const Scope& scope) const;

  const Schema& schema_;
  std::vector<std::pair<std::string, Scope>> named_;
};

bool is_aggregate(const SqlExpr& expression);
bool has_aggregate(const SqlExpr& expression);

/// SELECT * and t.* written out.
std::vector<SqlItem> expanded(const std::vector<SqlItem>& items, const Scope& scope);

/// GROUP BY 1, GROUP BY alias: what they stand for.
SqlExpr group_expression(const SqlExpr& written, const std::vector<SqlItem>& items,
                         const Scope& scope);

/// The name of an output without AS.
std::string item_name(const SqlItem& item);

}  // namespace gauze
