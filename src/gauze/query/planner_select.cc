#include <algorithm>

#include "gauze/base/error.h"
#include "gauze/base/words.h"
#include "gauze/query/planner_internal.h"

// What the answer's SELECT and a sub-select's have in common.

namespace gauze {

bool is_aggregate(const SqlExpr& expression) {
  if (expression.kind != SqlExpr::Kind::kCall) return false;
  static constexpr const char* kNames[] = {"count",
                                           "sum",
                                           "avg",
                                           "mean",
                                           "min",
                                           "max",
                                           "variance",
                                           "var_samp",
                                           "var_pop",
                                           "stddev",
                                           "stddev_samp",
                                           "stddev_pop",
                                           "covar",
                                           "covar_samp",
                                           "covar_pop",
                                           "corr",
                                           "median",
                                           "percentile_cont",
                                           "percentile_disc",
                                           "quantile",
                                           "quantile_cont",
                                           "quantile_disc",
                                           "array_agg",
                                           "string_agg",
                                           "json_agg",
                                           "jsonb_agg",
                                           "json_object_agg",
                                           "list",
                                           "first",
                                           "last",
                                           "any_value",
                                           "mode",
                                           "arg_min",
                                           "arg_max",
                                           "min_by",
                                           "max_by",
                                           "bool_and",
                                           "bool_or",
                                           "every",
                                           "group_concat",
                                           "histogram"};
  return std::any_of(std::begin(kNames), std::end(kNames),
                     [&](const char* name) { return expression.function == name; });
}

bool has_aggregate(const SqlExpr& expression) {
  return is_aggregate(expression) ||
         std::any_of(expression.arguments.begin(), expression.arguments.end(), has_aggregate);
}

std::vector<SqlItem> expanded(const std::vector<SqlItem>& items, const Scope& scope) {
  std::vector<SqlItem> result;
  for (const SqlItem& item : items) {
    if (item.expression.kind != SqlExpr::Kind::kStar) {
      result.push_back(item);
      continue;
    }
    const std::vector<std::string>& table = item.expression.name;
    std::vector<std::size_t> columns = scope.star;
    if (!table.empty()) {
      columns.clear();
      for (std::size_t i = 0; i < scope.columns.size(); ++i)
        if (same_name(scope.tables[i], table[0])) columns.push_back(i);
    }
    for (const std::size_t i : columns) {
      SqlItem column;
      column.expression.kind = SqlExpr::Kind::kColumn;
      if (!scope.tables[i].empty()) column.expression.name.push_back(scope.tables[i]);
      column.expression.name.push_back(scope.columns[i]);
      result.push_back(std::move(column));
    }
  }
  return result;
}

SqlExpr group_expression(const SqlExpr& written, const std::vector<SqlItem>& items,
                         const Scope& scope) {
  if (written.kind == SqlExpr::Kind::kLiteral) {
    const auto* position = std::get_if<std::int64_t>(&written.literal);
    if (position == nullptr || *position < 1 || static_cast<std::size_t>(*position) > items.size())
      throw Error(ErrorCode::kUnsupported,
                  "GROUP BY takes columns, expressions, or positions from 1 to " +
                      std::to_string(items.size()));
    return items[static_cast<std::size_t>(*position) - 1].expression;
  }
  if (written.kind == SqlExpr::Kind::kColumn && written.name.size() == 1 && !scope.has(written))
    for (const SqlItem& item : items)
      if (same_name(item.name, written.name[0])) return item.expression;
  return written;
}

std::string item_name(const SqlItem& item) {
  if (!item.name.empty()) return item.name;
  const SqlExpr& expression = item.expression;
  if (expression.kind == SqlExpr::Kind::kColumn) return expression.name.back();
  if (expression.kind != SqlExpr::Kind::kCall) return "column";
  if (expression.function == "||") return "concat";
  if (expression.function.starts_with("to_") && expression.arguments.size() == 1)
    return item_name({expression.arguments[0], ""});
  const bool word = std::isalpha(static_cast<unsigned char>(expression.function[0])) != 0;
  const bool logic = expression.function == "and" || expression.function == "or" ||
                     expression.function == "not" || expression.function == "in" ||
                     expression.function == "negate";
  return word && !logic ? expression.function : "column";
}

}  // namespace gauze
