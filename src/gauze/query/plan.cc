#include "gauze/query/plan.h"

#include <algorithm>

#include "gauze/query/relation_internal.h"
#include "gauze/sql/ast.h"

namespace gauze {
namespace {

SqlExpr written(const Expression& expression, const std::vector<std::string>& names) {
  SqlExpr result;
  switch (expression.kind) {
    case Expression::Kind::kLiteral:
      result.literal = expression.literal;
      break;
    case Expression::Kind::kColumn:
      result.kind = SqlExpr::Kind::kColumn;
      result.name.push_back(names[expression.column]);
      break;
    case Expression::Kind::kCall:
      result.kind = SqlExpr::Kind::kCall;
      result.function = expression.function;
      for (const Expression& argument : expression.arguments)
        result.arguments.push_back(written(argument, names));
      break;
  }
  return result;
}

std::string text(const Expression& expression, const std::vector<std::string>& names) {
  return to_sql(written(expression, names));
}

std::vector<std::string> names_of(const RelationNode& node) {
  std::vector<std::string> result;
  for (const RelationColumn& column : node.columns) result.push_back(column.name);
  return result;
}

/// Both sides' columns, those with the same name told apart.
std::vector<std::string> names_of_join(const RelationNode& node) {
  std::vector<std::string> result = names_of(*node.inputs[0]);
  const std::vector<std::string> right = names_of(*node.inputs[1]);
  const std::size_t n = result.size();
  for (const std::string& name : right) {
    const auto same =
        std::find(result.begin(), result.begin() + static_cast<std::ptrdiff_t>(n), name);
    const bool both = same != result.begin() + static_cast<std::ptrdiff_t>(n);
    if (both) *same = "left." + name;
    result.push_back(both ? "right." + name : name);
  }
  return result;
}

void line(std::string& out, unsigned depth, const std::string& words) {
  out.append(2 * depth, ' ').append(words).push_back('\n');
}

std::string counted(std::uint64_t count, const char* noun) {
  std::string result = std::to_string(count) + " " + noun;
  if (count != 1) result.push_back('s');
  return result;
}

std::string scan_text(const RelationNode& node) {
  std::string result = "scan " + node.table.name;
  if (node.table.is_public()) return result + " (public)";
  if (node.owner == Owner::kRow) return result + ": each row is a unit";
  if (node.owner == Owner::kUnit)
    result += ": unit " + node.table.unit.column + ", " + counted(node.table.rows_per_unit, "row") +
              " per unit";
  if (node.owner == Owner::kNobody)
    result += ": unit through " + node.table.unit.column + " of " + node.table.unit.table + ", " +
              counted(node.table.rows_per_unit, "row") + " per unit";
  return result;
}

std::string unit_aggregate_text(const RelationNode& node) {
  using Function = UnitAggregate::Function;
  const std::vector<std::string> names = names_of(*node.inputs[0]);
  std::string result = "per unit:";
  for (std::size_t i = 0; i < node.aggregates.size(); ++i) {
    const UnitAggregate& each = node.aggregates[i];
    static constexpr const char* kNames[] = {
        "COUNT(*)", "COUNT(", "COUNT(DISTINCT ", "SUM(", "AVG(", "MIN(", "MAX("};
    result += (i == 0 ? " " : ", ");
    result += kNames[static_cast<std::size_t>(each.function)];
    if (each.function != Function::kCountRows) result += text(each.argument, names) + ")";
    result += " in " + range_text(node.columns[node.expressions.size() + i].facts);
  }
  result += node.aggregates.empty() ? " distinct " : " by ";
  for (std::size_t i = 0; i < node.expressions.size(); ++i)
    result += (i == 0 ? "" : ", ") + text(node.expressions[i], names);
  return result;
}

void describe_relation(std::string& out, unsigned depth, const RelationNode& node) {
  switch (node.kind) {
    case RelationNode::Kind::kScan:
      line(out, depth, scan_text(node));
      break;
    case RelationNode::Kind::kFilter:
      line(out, depth, "where " + text(node.condition, names_of(*node.inputs[0])));
      break;
    case RelationNode::Kind::kProject: {
      // Columns that only pass through say nothing.
      const std::vector<std::string> names = names_of(*node.inputs[0]);
      std::string computed;
      for (std::size_t i = 0; i < node.expressions.size(); ++i)
        if (node.expressions[i].kind != Expression::Kind::kColumn)
          computed += (computed.empty() ? "" : ", ") + node.columns[i].name + " = " +
                      text(node.expressions[i], names);
      if (computed.empty()) return describe_relation(out, depth, *node.inputs[0]);
      line(out, depth, "compute " + computed);
      break;
    }
    case RelationNode::Kind::kJoin:
      line(out, depth,
           std::string(node.left_join ? "left join" : "join") + " on " +
               text(node.condition, names_of_join(node)) +
               (node.match_units ? " and the same unit" : "") +
               (node.single_match.empty() ? "" : ", one row per key"));
      break;
    case RelationNode::Kind::kSemiJoin:
      line(out, depth,
           "where " + node.columns[node.column].name + (node.negated ? " not in" : " in"));
      break;
    case RelationNode::Kind::kUnion:
      line(out, depth, "union all");
      break;
    case RelationNode::Kind::kUnitAggregate:
      line(out, depth, unit_aggregate_text(node));
      break;
  }
  for (const RelationPtr& input : node.inputs) describe_relation(out, depth + 1, *input);
}

std::string key_text(const KeyColumn& key) {
  std::string result = key.name + " (";
  if (!key.domain) return result + "values selected privately)";
  return result + counted(key.domain->size(), "declared value") + ")";
}

std::string value_text(const ValueColumn& value) {
  std::string result = value.text + ": " + std::string(name(value.type));
  if (!value.lower) return result + ", only counted";
  if (value.nullable && value.type == Type::kInteger && *value.lower == 1 && *value.upper == 1)
    return "1 where " + value.text;
  Facts facts;
  facts.type = value.type;
  facts.lower = value.lower;
  facts.upper = value.upper;
  return result + " in " + range_text(facts);
}

void describe_answer(std::string& out, const Plan& plan, const std::vector<std::string>& released) {
  if (plan.limit || plan.offset)
    line(out, 0,
         std::string(plan.limit ? "limit " + std::to_string(*plan.limit) : "limit all") +
             (plan.offset ? " offset " + std::to_string(*plan.offset) : ""));
  if (!plan.order_by.empty()) {
    std::string order;
    for (const OrderBy& by : plan.order_by)
      order += (order.empty() ? "" : ", ") + text(by.expression, released) +
               (by.descending ? " desc" : "");
    line(out, 0, "order by " + order);
  }
  if (plan.having) line(out, 0, "having " + text(*plan.having, released));
  std::string outputs;
  for (const OutputColumn& output : plan.outputs) {
    const std::string from = text(output.expression, released);
    outputs +=
        (outputs.empty() ? "" : ", ") + output.name + (from == output.name ? "" : " = " + from);
  }
  line(out, 0, "answer " + outputs);
}

}  // namespace

std::string describe(const Plan& plan) {
  std::vector<std::string> released;
  for (const KeyColumn& key : plan.keys) released.push_back(key.name);
  for (const Aggregate& aggregate : plan.aggregates) released.push_back(aggregate.text);
  std::string out;
  describe_answer(out, plan, released);

  std::string aggregates;
  for (const Aggregate& aggregate : plan.aggregates)
    aggregates += (aggregates.empty() ? "" : ", ") + aggregate.text;
  std::string groups;
  for (const KeyColumn& key : plan.keys) groups += (groups.empty() ? "" : ", ") + key_text(key);
  line(out, 0,
       (aggregates.empty() ? "keys" : "aggregate " + aggregates) +
           (groups.empty() ? "" : " by " + groups));
  for (const ValueColumn& value : plan.values) line(out, 1, "value " + value_text(value));
  if (plan.unit_is_row)
    line(out, 1, "unit " + plan.unit);
  else
    line(out, 1,
         "unit " + plan.unit + ": at most " + counted(plan.bounds.rows_per_unit, "row") + ", " +
             counted(plan.bounds.groups_per_unit, "group") + ", " +
             counted(plan.bounds.rows_per_group, "row") + " in a group");
  // The uppermost projection only picks keys and values, which stand above.
  describe_relation(out, 1, *plan.rows->inputs[0]);
  return out;
}

}  // namespace gauze
