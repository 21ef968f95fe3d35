#include <algorithm>

#include "gauze/base/error.h"
#include "gauze/base/words.h"
#include "gauze/query/planner_internal.h"

namespace gauze {
namespace {

void split(const SqlExpr& condition, std::vector<SqlExpr>& into) {
  if (condition.kind == SqlExpr::Kind::kCall && condition.function == "and")
    for (const SqlExpr& each : condition.arguments) split(each, into);
  else
    into.push_back(condition);
}

SqlExpr column_of(std::string table, std::string column) {
  SqlExpr result;
  result.kind = SqlExpr::Kind::kColumn;
  result.name = {std::move(table), std::move(column)};
  return result;
}

/// Whether every column of the condition is in the scope.
bool belongs(const SqlExpr& expression, const Scope& scope) {
  if (expression.kind == SqlExpr::Kind::kColumn) return scope.has(expression);
  if (expression.kind == SqlExpr::Kind::kInQuery) return false;
  return std::all_of(expression.arguments.begin(), expression.arguments.end(),
                     [&](const SqlExpr& each) { return belongs(each, scope); });
}

void rename(Scope& scope, const std::string& alias, const std::vector<std::string>& columns) {
  if (columns.size() > scope.columns.size())
    unsupported("'" + alias + "' has more column names than columns");
  for (std::string& table : scope.tables) table = alias;
  std::copy(columns.begin(), columns.end(), scope.columns.begin());
  scope.hidden.assign(scope.columns.size(), false);
}

Scope scope_of(RelationPtr relation, const std::string& alias) {
  Scope result;
  for (const RelationColumn& column : relation->columns) {
    result.tables.push_back(alias);
    result.star.push_back(result.columns.size());
    result.columns.push_back(column.name);
    result.hidden.push_back(false);
  }
  result.relation = std::move(relation);
  return result;
}

Expression all_of(std::vector<Expression> conditions) {
  if (conditions.empty()) return Expression::of(true);
  return conditions.size() == 1 ? conditions[0] : Expression::call("and", std::move(conditions));
}

}  // namespace

std::size_t RelationPlanner::remember(const std::vector<SqlCte>& with) {
  const std::size_t mark = named_.size();
  for (const SqlCte& cte : with) {
    Scope scope = query(*cte.query);
    rename(scope, cte.name, cte.columns);
    named_.emplace_back(cte.name, std::move(scope));
  }
  return mark;
}

Scope RelationPlanner::table(const SqlFrom& item) {
  const std::string& alias = item.alias.empty() ? item.table : item.alias;
  for (auto named = named_.rbegin(); named != named_.rend(); ++named)
    if (same_name(named->first, item.table)) {
      Scope scope = named->second;
      rename(scope, alias, item.column_aliases);
      return scope;
    }
  Scope scope = scope_of(scan(schema_, schema_.table(item.table)), alias);
  rename(scope, alias, item.column_aliases);
  return scope;
}

Scope RelationPlanner::combine(Scope left, Scope right, const std::vector<SqlExpr>& conditions,
                               bool left_join) const {
  for (const std::string& table : right.tables)
    for (const std::string& other : left.tables)
      if (same_name(table, other))
        throw Error(ErrorCode::kUnknownName,
                    "'" + table + "' is twice in FROM; give one of them another name: " + table +
                        " AS other");
  Scope both = left;
  both.tables.insert(both.tables.end(), right.tables.begin(), right.tables.end());
  both.columns.insert(both.columns.end(), right.columns.begin(), right.columns.end());
  both.hidden.insert(both.hidden.end(), right.hidden.begin(), right.hidden.end());
  for (const std::size_t column : right.star) both.star.push_back(left.columns.size() + column);
  // Only for names and types; the real join follows.
  auto columns = std::make_shared<RelationNode>();
  columns->columns = left.relation->columns;
  columns->columns.insert(columns->columns.end(), right.relation->columns.begin(),
                          right.relation->columns.end());
  both.relation = columns;
  std::vector<Expression> bound;
  for (const SqlExpr& condition : conditions) bound.push_back(both.bind(condition).expression);
  both.relation = join(left.relation, right.relation, all_of(std::move(bound)), left_join);
  return both;
}

Scope RelationPlanner::joined(const SqlFrom& item) {
  const bool swap = item.join == SqlFrom::Join::kRight;  // a RIGHT JOIN b is b LEFT JOIN a
  Scope left = from(item.sides[swap ? 1 : 0]), right = from(item.sides[swap ? 0 : 1]);
  std::vector<SqlExpr> conditions;
  for (const SqlExpr& condition : item.condition) split(condition, conditions);
  std::vector<std::size_t> star, repeated;  // what is shared comes first in SELECT *
  for (const std::string& name : item.shared) {
    SqlExpr column;
    column.kind = SqlExpr::Kind::kColumn;
    column.name = {name};
    const std::size_t a = left.find(column), b = right.find(column);
    conditions.push_back(SqlExpr{});
    conditions.back().kind = SqlExpr::Kind::kCall;
    conditions.back().function = "=";
    conditions.back().arguments = {column_of(left.tables[a], name),
                                   column_of(right.tables[b], name)};
    star.push_back(a);
    repeated.push_back(left.columns.size() + b);
  }
  const auto first = static_cast<std::ptrdiff_t>(left.star.size());
  Scope result = combine(std::move(left), std::move(right), conditions,
                         item.join == SqlFrom::Join::kLeft || swap);
  for (const std::size_t column : repeated) result.hidden[column] = true;
  if (swap) std::rotate(result.star.begin(), result.star.begin() + first, result.star.end());
  const auto is_new = [&](std::size_t column) {
    return !result.hidden[column] && std::find(star.begin(), star.end(), column) == star.end();
  };
  std::copy_if(result.star.begin(), result.star.end(), std::back_inserter(star), is_new);
  result.star = std::move(star);
  return result;
}

Scope RelationPlanner::from(const SqlFrom& item) {
  if (item.kind == SqlFrom::Kind::kTable) return table(item);
  if (item.kind == SqlFrom::Kind::kJoin) return joined(item);
  Scope scope = query(*item.query);
  rename(scope, item.alias, item.column_aliases);
  return scope;
}

Scope RelationPlanner::where(Scope scope, std::vector<SqlExpr> conditions) {
  std::vector<Expression> bound;
  for (const SqlExpr& condition : conditions) {
    const bool negated = condition.kind == SqlExpr::Kind::kCall && condition.function == "not" &&
                         condition.arguments[0].kind == SqlExpr::Kind::kInQuery;
    const SqlExpr& in = negated ? condition.arguments[0] : condition;
    if (in.kind != SqlExpr::Kind::kInQuery) {
      bound.push_back(scope.bind(condition).expression);
      continue;
    }
    if (in.arguments[0].kind != SqlExpr::Kind::kColumn)
      unsupported("IN (SELECT ...) takes a column on its left");
    scope.relation =
        semi_join(scope.relation, scope.find(in.arguments[0]), query(*in.query).relation, negated);
  }
  if (!bound.empty()) scope.relation = filter(scope.relation, all_of(std::move(bound)));
  return scope;
}

Scope RelationPlanner::rows(const SqlSelect& select) {
  if (select.from.empty())
    unsupported("the question reads no table; write SELECT ... FROM a table of the schema");
  std::vector<SqlExpr> conditions;
  for (const SqlExpr& condition : select.where) split(condition, conditions);
  Scope scope = from(select.from[0]);
  for (std::size_t i = 1; i < select.from.size(); ++i) {
    // FROM a, b WHERE a.x = b.x: the conditions on both are those of the join.
    Scope next = from(select.from[i]);
    Scope both = scope;
    both.tables.insert(both.tables.end(), next.tables.begin(), next.tables.end());
    both.columns.insert(both.columns.end(), next.columns.begin(), next.columns.end());
    both.hidden.insert(both.hidden.end(), next.hidden.begin(), next.hidden.end());
    std::vector<SqlExpr> here, later;
    for (SqlExpr& condition : conditions) {
      const bool between =
          belongs(condition, both) && !belongs(condition, scope) && !belongs(condition, next);
      (between ? here : later).push_back(std::move(condition));
    }
    conditions = std::move(later);
    scope = combine(std::move(scope), std::move(next), here, false);
  }
  return where(std::move(scope), std::move(conditions));
}

Scope RelationPlanner::select_rows(const SqlSelect& select, const Scope& scope) const {
  std::vector<Expression> expressions;
  std::vector<std::string> names;
  for (const SqlItem& item : expanded(select.items, scope)) {
    expressions.push_back(scope.bind(item.expression).expression);
    names.push_back(item_name(item));
  }
  return scope_of(project(scope.relation, std::move(expressions), std::move(names)), "");
}

namespace {

UnitAggregate unit_aggregate_of(const SqlExpr& call, const Scope& scope) {
  using PerUnit = UnitAggregate::Function;
  UnitAggregate result;
  const std::string& name = call.function;
  if (!call.filter.empty() || !call.within.empty())
    unsupported(
        "FILTER and WITHIN GROUP are not supported in a sub-select; use CASE inside the aggregate");
  if (call.star || (name == "count" && call.arguments.empty())) return result;
  if (call.arguments.size() != 1) unsupported(name + " takes one argument in a sub-select");
  if (name == "count")
    result.function = call.distinct ? PerUnit::kCountDistinct : PerUnit::kCount;
  else if (call.distinct)
    unsupported("DISTINCT is supported in COUNT only");
  else if (name == "sum")
    result.function = PerUnit::kSum;
  else if (name == "avg" || name == "mean")
    result.function = PerUnit::kAverage;
  else if (name == "min")
    result.function = PerUnit::kMinimum;
  else if (name == "max")
    result.function = PerUnit::kMaximum;
  else
    unsupported(name + " is not supported in a sub-select; use COUNT, SUM, AVG, MIN or MAX");
  result.argument = scope.bind(call.arguments[0]).expression;
  return result;
}

}  // namespace

Scope RelationPlanner::select_groups(const SqlSelect& select, const Scope& scope) const {
  if (scope.relation->owner == Owner::kNobody)
    unsupported(
        "aggregates over public tables alone are not supported; ask the database directly, the "
        "answer is not private");
  const std::vector<SqlItem> items = expanded(select.items, scope);
  std::vector<SqlExpr> written = select.group_by;
  if (select.distinct)
    for (const SqlItem& item : items) written.push_back(item.expression);
  std::vector<Expression> keys;
  std::vector<std::string> names;
  for (const SqlExpr& each : written) {
    const Expression key = scope.bind(group_expression(each, items, scope)).expression;
    if (std::find(keys.begin(), keys.end(), key) != keys.end()) continue;
    keys.push_back(key);
    names.push_back("g" + std::to_string(keys.size()));
  }
  if (select.distinct &&
      (!select.group_by.empty() || std::any_of(items.begin(), items.end(), [](const SqlItem& item) {
        return has_aggregate(item.expression);
      })))
    unsupported("DISTINCT together with GROUP BY is not supported; remove DISTINCT");
  // First pass: which aggregates there are. Second: outputs over keys and aggregates.
  std::vector<UnitAggregate> aggregates;
  const auto visit = [&](auto&& self, const SqlExpr& expression) -> void {
    if (is_aggregate(expression)) {
      const UnitAggregate aggregate = unit_aggregate_of(expression, scope);
      if (std::find(aggregates.begin(), aggregates.end(), aggregate) == aggregates.end())
        aggregates.push_back(aggregate);
      return;
    }
    for (const SqlExpr& argument : expression.arguments) self(self, argument);
  };
  for (const SqlItem& item : items) visit(visit, item.expression);
  for (const SqlExpr& having : select.having) visit(visit, having);
  for (std::size_t i = 0; i < aggregates.size(); ++i) names.push_back("a" + std::to_string(i + 1));
  const RelationPtr grouped = unit_aggregate(scope.relation, keys, names, aggregates);

  const std::vector<Facts> facts = grouped->facts();
  const Binder binder(Place::kRows, [&](const SqlExpr& expression) -> std::optional<Bound> {
    std::optional<std::size_t> column;
    if (is_aggregate(expression)) {
      const auto found =
          std::find(aggregates.begin(), aggregates.end(), unit_aggregate_of(expression, scope));
      column = keys.size() + static_cast<std::size_t>(found - aggregates.begin());
    } else if (!has_aggregate(expression) && expression.kind != SqlExpr::Kind::kLiteral) {
      const auto found = std::find(keys.begin(), keys.end(), scope.bind(expression).expression);
      if (found != keys.end()) column = static_cast<std::size_t>(found - keys.begin());
    }
    if (column) return Bound{Expression::input(*column), facts[*column]};
    if (expression.kind == SqlExpr::Kind::kColumn)
      unsupported("the column '" + expression.name.back() +
                  "' of the sub-select is neither in GROUP BY nor inside an aggregate");
    return std::nullopt;
  });
  RelationPtr result = grouped;
  for (const SqlExpr& having : select.having)
    result = filter(result, binder.bind(having).expression);
  std::vector<Expression> outputs;
  std::vector<std::string> output_names;
  for (const SqlItem& item : items) {
    outputs.push_back(binder.bind(item.expression).expression);
    output_names.push_back(item_name(item));
  }
  return scope_of(project(std::move(result), std::move(outputs), std::move(output_names)), "");
}

Scope RelationPlanner::query(const SqlSelect& select) {
  if (select.limit || select.offset || !select.order_by.empty())
    throw Error(ErrorCode::kNotPrivate,
                "ORDER BY, LIMIT and OFFSET inside a sub-select choose among rows of different "
                "people; use them on the answer");
  const std::size_t mark = remember(select.with);
  Scope result;
  if (!select.branches.empty()) {
    std::vector<RelationPtr> sides;
    for (const auto& branch : select.branches) sides.push_back(query(*branch).relation);
    result = scope_of(union_all(std::move(sides)), "");
  } else {
    const Scope scope = rows(select);
    const bool grouped =
        select.distinct || !select.group_by.empty() || !select.having.empty() ||
        std::any_of(select.items.begin(), select.items.end(),
                    [](const SqlItem& item) { return has_aggregate(item.expression); });
    result = grouped ? select_groups(select, scope) : select_rows(select, scope);
  }
  forget(mark);
  return result;
}

}  // namespace gauze
