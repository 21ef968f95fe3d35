#include <algorithm>
#include <limits>

#include "gauze/base/error.h"
#include "gauze/base/words.h"
#include "gauze/query/relation_internal.h"

namespace gauze {
namespace {

constexpr std::size_t kLargestTree = 400;
constexpr double kLongestRepeated = 200;

[[noreturn]] void not_private(const std::string& what) {
  throw Error(ErrorCode::kNotPrivate, what);
}

std::uint64_t times(std::uint64_t a, std::uint64_t b) {
  std::uint64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? std::numeric_limits<std::uint64_t>::max()
                                                : product;
}

std::uint64_t plus(std::uint64_t a, std::uint64_t b) {
  std::uint64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? std::numeric_limits<std::uint64_t>::max() : sum;
}

RelationPtr finished(RelationNode node) {
  node.size = 1;
  for (const RelationPtr& input : node.inputs) node.size += input->size;
  if (node.size > kLargestTree)
    throw Error(ErrorCode::kUnsupported,
                "the question reads more than 400 tables and sub-selects, counted with repetition; "
                "ask a simpler one");
  return std::make_shared<const RelationNode>(std::move(node));
}

/// A node with the ownership and the bounds of its input.
RelationNode over(const RelationPtr& input, RelationNode::Kind kind) {
  RelationNode node;
  node.kind = kind;
  node.inputs = {input};
  node.owner = input->owner;
  node.unit = input->unit;
  node.unit_type = input->unit_type;
  node.rows_per_unit = input->rows_per_unit;
  node.groups_per_unit = input->groups_per_unit;
  node.rows_per_group = input->rows_per_group;
  node.multiplied = input->multiplied;
  node.products = input->products;
  node.tables = input->tables;
  return node;
}

/// What a column says about who owns the row: nothing, or the keys it is or refers to.
std::set<std::string> owner_keys(const Schema& schema, const TableSchema& table,
                                 const std::string& column) {
  std::set<std::string> result;
  if (table.unit.kind == UnitSchema::Kind::kThrough && same_name(table.unit.column, column))
    result.insert(lower_case(table.unit.table + "." + table.unit.key));
  for (const TableSchema& other : schema.tables)
    if (other.unit.kind == UnitSchema::Kind::kThrough && same_name(other.unit.table, table.name) &&
        same_name(other.unit.key, column))
      result.insert(lower_case(table.name + "." + column));
  return result;
}

std::size_t position(const TableSchema& table, const std::string& column) {
  for (std::size_t i = 0; i < table.columns.size(); ++i)
    if (same_name(table.columns[i].name, column)) return i;
  throw Error(ErrorCode::kInvalidInput,
              "table '" + table.name + "' of the schema has no column '" + column + "'");
}

RelationNode plain_scan(const Schema& schema, const TableSchema& table) {
  RelationNode node;
  node.table = table;
  for (const ColumnSchema& column : table.columns) {
    std::set<std::string> keys = owner_keys(schema, table, column.name);
    // Such columns must reach a join as they are in the file: moved into a range, two owners could become one.
    const bool identity = !keys.empty() || same_name(table.unit.column, column.name);
    node.columns.push_back({column.name, column_facts(table, column, identity), false,
                            std::move(keys), column.domain.bins});
  }
  for (const auto& key : table.keys) {
    std::vector<std::size_t> positions;
    for (const std::string& column : key) positions.push_back(position(table, column));
    node.keys.push_back(std::move(positions));
  }
  return node;
}

/// The columns (left, right) that must be equal for the condition to hold.
std::vector<std::pair<std::size_t, std::size_t>> equated(const Expression& condition,
                                                         std::size_t left_size) {
  std::vector<std::pair<std::size_t, std::size_t>> result;
  for (const Expression& each : conjuncts(condition)) {
    if (each.kind != Expression::Kind::kCall || each.function != "=") continue;
    const Expression &a = each.arguments[0], &b = each.arguments[1];
    if (a.kind != Expression::Kind::kColumn || b.kind != Expression::Kind::kColumn) continue;
    const auto [low, high] = std::minmax(a.column, b.column);
    if (low < left_size && high >= left_size) result.emplace_back(low, high - left_size);
  }
  return result;
}

bool covers_left_key(const RelationNode& node) {
  const auto fixed = [&](std::size_t left) {
    return std::any_of(node.equal.begin(), node.equal.end(),
                       [&](const auto& pair) { return pair.first == left; });
  };
  return std::any_of(node.inputs[0]->keys.begin(), node.inputs[0]->keys.end(),
                     [&](const auto& key) { return std::all_of(key.begin(), key.end(), fixed); });
}

/// The key of the right side that the condition fixes; empty when there is none.
std::vector<std::size_t> covered_key(const RelationNode& node) {
  const auto fixed = [&](std::size_t right) {
    return std::any_of(node.equal.begin(), node.equal.end(),
                       [&](const auto& pair) { return pair.second == right; });
  };
  for (const auto& key : node.inputs[1]->keys)
    if (std::all_of(key.begin(), key.end(), fixed)) return key;
  return {};
}

bool covers_key(const RelationNode& node) {
  return !covered_key(node).empty();
}

std::string key_advice(const RelationNode& node) {
  const RelationNode& right = *node.inputs[1];
  std::string columns;
  if (!right.keys.empty()) {
    for (const std::size_t each : right.keys[0])
      columns += (columns.empty() ? std::string() : ", ") + right.columns[each].name;
    return "join on the key of the public table (" + columns + ")";
  }
  for (const auto& [left, each] : node.equal)
    columns += (columns.empty() ? std::string("\"") : ", \"") + right.columns[each].name + "\"";
  return "if the columns joined on determine a row of the public table, add \"keys\": [[" +
         (columns.empty() ? "\"id\"" : columns) + "]] to it in the schema";
}

/// The rows of a unit with each other, with each other once more: the time that takes grows with a power of
/// their number, which whoever asks could choose so that it shows whether somebody has a row at all.
void count_products(RelationNode& node, unsigned more) {
  node.products += more;
  if (node.products <= 1) return;
  if (node.owner == Owner::kNobody)
    throw Error(ErrorCode::kUnsupported,
                "a second join that repeats rows of public tables; join on a declared key");
  throw Error(ErrorCode::kUnsupported,
              "a second join that repeats rows of '" + node.unit +
                  "'; join on a declared key, or sum up one side by unit before (SELECT unit, "
                  "COUNT(*) ... GROUP BY unit)");
}

void join_with_public(RelationNode& node) {
  node.products += node.inputs[1]->products;
  if (covers_key(node)) {
    if (node.owner == Owner::kRow) node.single_match = covered_key(node);
    return;
  }
  const std::string why = "this join can repeat a row of '" + node.unit + "' any number of times; ";
  if (node.owner == Owner::kRow) throw Error(ErrorCode::kMissingKnowledge, why + key_advice(node));
  count_products(node, 1);
  node.rows_per_unit.reset();
  node.groups_per_unit.reset();
  node.rows_per_group.reset();
  node.multiplied = why + key_advice(node);
}

void join_private(RelationNode& node) {
  const RelationNode &left = *node.inputs[0], &right = *node.inputs[1];
  if (left.owner == Owner::kRow || right.owner == Owner::kRow)
    not_private(
        "tables whose unit is the row share no unit to join on; give them a unit column in the "
        "schema");
  const bool on_unit = std::any_of(node.equal.begin(), node.equal.end(), [&](const auto& pair) {
    return left.columns[pair.first].is_unit && right.columns[pair.second].is_unit;
  });
  node.match_units =
      !on_unit && std::any_of(node.equal.begin(), node.equal.end(), [&](const auto& pair) {
        const auto &a = left.columns[pair.first].keys, &b = right.columns[pair.second].keys;
        return std::any_of(a.begin(), a.end(),
                           [&](const std::string& key) { return b.contains(key); });
      });
  if ((!on_unit && !node.match_units) || left.unit_type != right.unit_type)
    not_private("this join brings rows of different units together (" + left.unit + ", " +
                right.unit + "); join private tables on the unit, as in ON a.unit = b.unit");
  // A key of one side that the condition fixes gives each row of the other at most one partner.
  const bool right_once = covers_key(node);
  const bool left_once = !node.left_join && covers_left_key(node);
  node.products += right.products;
  if (right_once) return;
  if (!left_once) count_products(node, 1);
  node.groups_per_unit = left_once ? right.groups_per_unit : std::nullopt;
  node.rows_per_group = left_once ? right.rows_per_group : std::nullopt;
  if (!right.rows_per_unit) node.multiplied = right.multiplied;
  if (left_once)
    node.rows_per_unit = right.rows_per_unit;
  else if (node.rows_per_unit && right.rows_per_unit)
    node.rows_per_unit = times(*left.rows_per_unit, *right.rows_per_unit);
  else
    node.rows_per_unit.reset();
}

}  // namespace

std::vector<Facts> RelationNode::facts() const {
  std::vector<Facts> result;
  for (const RelationColumn& each : columns) result.push_back(each.facts);
  return result;
}

std::vector<Expression> conjuncts(const Expression& condition) {
  if (condition.kind != Expression::Kind::kCall || condition.function != "and") return {condition};
  std::vector<Expression> result;
  for (const Expression& argument : condition.arguments)
    for (Expression& each : conjuncts(argument)) result.push_back(std::move(each));
  return result;
}

RelationPtr scan(const Schema& schema, const TableSchema& table) {
  RelationNode node = plain_scan(schema, table);
  if (table.is_public()) return finished(std::move(node));
  node.tables = {table.name};
  node.rows_per_unit = table.rows_per_unit;
  node.groups_per_unit = table.groups_per_unit;
  node.rows_per_group = table.rows_per_group;
  if (table.unit.kind == UnitSchema::Kind::kRow) {
    node.owner = Owner::kRow;
    node.unit = "row of " + table.name;
    node.rows_per_unit = 1;
    return finished(std::move(node));
  }
  const std::size_t reference = position(table, table.unit.column);
  node.owner = Owner::kUnit;
  if (table.unit.kind == UnitSchema::Kind::kColumn) {
    node.unit = table.unit.column + " of " + table.name;
    node.columns[reference].is_unit = true;
    node.columns[reference].facts.nullable = false;
    node.unit_type = node.columns[reference].facts.type;
    return finished(std::move(node));
  }
  // Whoever owns the row of the other table owns this one; what refers to no row has no owner and is left out.
  const TableSchema& of = schema.table(table.unit.table);
  const RelationPtr owner = scan(schema, of);
  if (owner->owner != Owner::kUnit)
    throw Error(ErrorCode::kUnsupported, "the unit of '" + table.name + "' goes through '" +
                                             of.name + "', whose unit is the row; give '" +
                                             of.name + "' a unit column");
  RelationNode joined = node;
  joined.kind = RelationNode::Kind::kJoin;
  joined.owner_input = 1;
  joined.unit = owner->unit;
  joined.unit_type = owner->unit_type;
  joined.tables.insert(owner->tables.begin(), owner->tables.end());
  const std::size_t key = position(of, table.unit.key);
  joined.condition = Expression::call(
      "=", {Expression::input(reference), Expression::input(node.columns.size() + key)});
  joined.equal = {{reference, key}};
  node.owner = Owner::kNobody;
  joined.inputs = {finished(std::move(node)), owner};
  return finished(std::move(joined));
}

RelationPtr filter(RelationPtr input, Expression condition) {
  const Facts facts = facts_of(condition, input->facts(), Place::kRows);
  if (facts.type != Type::kBoolean && !facts.untyped)
    throw Error(ErrorCode::kUnsupported,
                "WHERE takes a condition; this is " + std::string(name(facts.type)));
  RelationNode node = over(input, RelationNode::Kind::kFilter);
  node.columns = input->columns;
  node.keys = input->keys;
  node.condition = std::move(condition);
  return finished(std::move(node));
}

RelationPtr project(RelationPtr input, std::vector<Expression> expressions,
                    std::vector<std::string> names) {
  RelationNode node = over(input, RelationNode::Kind::kProject);
  const std::vector<Facts> facts = input->facts();
  std::vector<std::optional<std::size_t>> where(input->columns.size());
  for (std::size_t i = 0; i < expressions.size(); ++i) {
    RelationColumn output;
    if (expressions[i].kind == Expression::Kind::kColumn) {
      where[expressions[i].column] = i;
      output = input->columns[expressions[i].column];
    }
    output.name = names[i];
    output.facts = facts_of(expressions[i], facts, Place::kRows);
    node.materialised = node.materialised || output.facts.weight > kLongestRepeated;
    node.columns.push_back(std::move(output));
  }
  for (const auto& key : input->keys) {
    std::vector<std::size_t> kept;
    for (const std::size_t column : key)
      if (where[column]) kept.push_back(*where[column]);
    if (kept.size() == key.size()) node.keys.push_back(std::move(kept));
  }
  if (node.materialised)
    for (RelationColumn& output : node.columns) output.facts.weight = 1;
  node.expressions = std::move(expressions);
  return finished(std::move(node));
}

RelationPtr join(RelationPtr left, RelationPtr right, Expression condition, bool left_join) {
  if (left->owner == Owner::kNobody && right->owner != Owner::kNobody) {
    if (left_join)
      not_private(
          "a LEFT or RIGHT JOIN that keeps all rows of a public table makes rows that belong to "
          "nobody; write JOIN, or keep all rows of the private table");
    // The private side first, so that keys of the public side count; the order of columns is restored on top.
    const std::size_t n = left->columns.size(), m = right->columns.size();
    const auto replace = [&](auto&& self, const Expression& e) -> Expression {
      Expression result = e;
      if (result.kind == Expression::Kind::kColumn)
        result.column = result.column < n ? result.column + m : result.column - n;
      for (Expression& argument : result.arguments) argument = self(self, argument);
      return result;
    };
    RelationPtr joined = join(right, left, replace(replace, condition), false);
    std::vector<Expression> order;
    std::vector<std::string> names;
    for (std::size_t i = 0; i < n + m; ++i) {
      order.push_back(Expression::input(i < n ? m + i : i - n));
      names.push_back(joined->columns[order.back().column].name);
    }
    return project(std::move(joined), std::move(order), std::move(names));
  }
  RelationNode node = over(left, RelationNode::Kind::kJoin);
  node.inputs = {left, right};
  node.tables.insert(right->tables.begin(), right->tables.end());
  node.columns = left->columns;
  const std::size_t n = left->columns.size();
  for (RelationColumn column : right->columns) {
    column.facts.nullable = column.facts.nullable || left_join;
    column.is_unit = column.is_unit && !left_join;
    node.columns.push_back(std::move(column));
  }
  const Facts facts = facts_of(condition, node.facts(), Place::kRows);
  if (facts.type != Type::kBoolean) throw Error(ErrorCode::kUnsupported, "ON takes a condition");
  node.condition = std::move(condition);
  node.left_join = left_join;
  node.equal = equated(node.condition, n);
  // An integer equated with a double is rounded first, and then equals many.
  std::erase_if(node.equal, [&](const auto& pair) {
    return left->columns[pair.first].facts.type != right->columns[pair.second].facts.type;
  });
  if (covers_key(node)) node.keys = left->keys;
  if (left->owner == Owner::kNobody) {
    node.products += right->products;
    if (!covers_key(node) && (left_join || !covers_left_key(node))) count_products(node, 1);
    return finished(std::move(node));
  }
  right->owner == Owner::kNobody ? join_with_public(node) : join_private(node);
  return finished(std::move(node));
}

RelationPtr semi_join(RelationPtr left, std::size_t column, RelationPtr right, bool negated) {
  if (right->columns.size() != 1)
    throw Error(ErrorCode::kUnsupported, "IN (SELECT ...) takes one column");
  facts_of(Expression::call("=", {Expression::input(0), Expression::input(1)}),
           {left->columns[column].facts, right->columns[0].facts}, Place::kRows);
  if (right->owner != Owner::kNobody) {
    const bool on_unit = left->columns[column].is_unit && right->columns[0].is_unit &&
                         left->unit_type == right->unit_type;
    if (left->owner != Owner::kUnit || !on_unit)
      not_private(
          "IN (SELECT ...) from a private table would compare rows of different units; it works on "
          "the unit: unit IN (SELECT unit FROM ...)");
  }
  RelationNode node = over(left, RelationNode::Kind::kSemiJoin);
  node.inputs = {left, right};
  node.columns = left->columns;
  node.keys = left->keys;
  node.tables.insert(right->tables.begin(), right->tables.end());
  node.column = column;
  node.negated = negated;
  // A product of public tables is made only where somebody's row asks for it: it counts as one more.
  const bool is_public = right->owner == Owner::kNobody;
  count_products(node, is_public && right->products > 0 ? right->products + 1 : right->products);
  return finished(std::move(node));
}

RelationPtr union_all(std::vector<RelationPtr> inputs) {
  RelationNode node = over(inputs[0], RelationNode::Kind::kUnion);
  node.inputs = inputs;
  for (std::size_t i = 0; i < inputs[0]->columns.size(); ++i) {
    std::vector<Facts> parts;
    bool is_unit = true;
    for (const RelationPtr& input : inputs) {
      if (input->columns.size() != inputs[0]->columns.size())
        throw Error(ErrorCode::kUnsupported,
                    "the sides of UNION ALL must have equally many columns");
      parts.push_back(input->columns[i].facts);
      is_unit = is_unit && input->columns[i].is_unit;
    }
    node.columns.push_back({inputs[0]->columns[i].name, hull(parts, "UNION ALL"), is_unit, {}, {}});
  }
  for (std::size_t k = 1; k < inputs.size(); ++k) {
    const RelationNode& input = *inputs[k];
    if (input.owner != node.owner ||
        (node.owner == Owner::kUnit && input.unit_type != node.unit_type))
      not_private(
          "UNION ALL of tables with different kinds of units: every row must belong to a unit of "
          "the same kind");
    for (const std::string& table : input.tables) {
      if (node.owner == Owner::kRow && node.tables.contains(table))
        not_private("UNION ALL repeats rows of '" + table +
                    "', and each row is a unit of its own; read the table once");
      node.tables.insert(table);
    }
    if (node.owner == Owner::kRow) {
      node.unit += ", " + input.unit;
      continue;
    }
    if (!input.rows_per_unit) node.multiplied = input.multiplied;
    node.products = std::max(node.products, input.products);
    node.rows_per_unit = node.rows_per_unit && input.rows_per_unit
                             ? std::optional(plus(*node.rows_per_unit, *input.rows_per_unit))
                             : std::nullopt;
    node.groups_per_unit = node.groups_per_unit && input.groups_per_unit
                               ? std::optional(plus(*node.groups_per_unit, *input.groups_per_unit))
                               : std::nullopt;
    node.rows_per_group = node.rows_per_group && input.rows_per_group
                              ? std::optional(plus(*node.rows_per_group, *input.rows_per_group))
                              : std::nullopt;
  }
  return finished(std::move(node));
}

namespace {

/// Of `count` values of one unit. What a unit has beyond `count` rows is cut off by moving the result into this range.
Facts aggregate_facts(const UnitAggregate& aggregate, const RelationNode& input,
                      std::uint64_t count) {
  using Function = UnitAggregate::Function;
  Facts result;
  result.type = Type::kInteger;
  result.nullable = false;
  result.lower = aggregate.function == Function::kCountRows ? 1 : 0;
  result.upper = Ratio(count);
  if (aggregate.function == Function::kCountRows || aggregate.function == Function::kCount ||
      aggregate.function == Function::kCountDistinct) {
    if (aggregate.function != Function::kCountRows)
      facts_of(aggregate.argument, input.facts(), Place::kRows);
    return result;
  }
  Facts value = facts_of(aggregate.argument, input.facts(), Place::kRows);
  const bool order =
      aggregate.function == Function::kMinimum || aggregate.function == Function::kMaximum;
  const bool time = value.type == Type::kDate || value.type == Type::kTimestamp;
  if (!is_numeric(value.type) && !(order && time))
    throw Error(ErrorCode::kUnsupported,
                "SUM and AVG take numbers, MIN and MAX numbers or dates; this is " +
                    std::string(name(value.type)));
  value.nonzero = false;
  if (order) return value;
  require_range(value, aggregate.function == Function::kSum ? "SUM" : "AVG");
  if (aggregate.function == Function::kAverage) {
    value.type = Type::kDouble;
    return value;
  }
  const Facts zero = literal_facts(std::int64_t{0});
  Facts most = literal_facts(Ratio(count));
  value.lower = std::min<Ratio>(*value.lower, 0);
  value.upper = std::max<Ratio>(*value.upper, 0);
  const bool nullable = value.nullable;
  most.type = value.type;
  value = call_facts(Expression::call("*", {Expression::input(0), Expression::input(1)}),
                     {value, most}, Place::kRows);
  value.nullable = nullable;
  return value;
}

}  // namespace

RelationPtr unit_aggregate(RelationPtr input, std::vector<Expression> keys,
                           std::vector<std::string> names, std::vector<UnitAggregate> aggregates) {
  RelationNode node = over(input, RelationNode::Kind::kUnitAggregate);
  const std::vector<Facts> facts = input->facts();
  std::vector<std::size_t> all;
  bool has_unit = false;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const bool is_unit =
        keys[i].kind == Expression::Kind::kColumn && input->columns[keys[i].column].is_unit;
    has_unit = has_unit || is_unit;
    node.columns.push_back({names[i], facts_of(keys[i], facts, Place::kRows), is_unit, {}, {}});
    if (!is_unit) all.push_back(i);
  }
  if (input->owner != Owner::kUnit || !has_unit)
    not_private(
        "a sub-select may aggregate only within one unit: add the unit column to its GROUP BY, or "
        "aggregate in the outer question");
  if (!input->rows_per_unit) throw Error(ErrorCode::kMissingKnowledge, input->multiplied);
  for (std::size_t i = 0; i < aggregates.size(); ++i)
    node.columns.push_back({names[keys.size() + i],
                            aggregate_facts(aggregates[i], *input, *input->rows_per_unit),
                            false,
                            {},
                            {}});
  if (all.empty()) {
    node.products = 0;
    node.rows_per_unit = 1;
    node.groups_per_unit.reset();
    node.rows_per_group.reset();
  }
  // Within a unit the other keys determine the row; together with the unit column they are a key of the relation.
  std::vector<std::size_t> key;
  for (std::size_t i = 0; i < keys.size(); ++i) key.push_back(i);
  node.keys = {key};
  node.expressions = std::move(keys);
  node.aggregates = std::move(aggregates);
  return finished(std::move(node));
}

}  // namespace gauze
