#include <algorithm>
#include <cmath>

#include "gauze/base/error.h"
#include "gauze/base/words.h"
#include "gauze/data/normalise.h"
#include "gauze/query/groupable_rows_internal.h"
#include "gauze/query/plan.h"
#include "gauze/query/sql_writer_internal.h"

namespace gauze {
namespace {

void mark(const Expression& expression, std::vector<bool>& used) {
  if (expression.kind == Expression::Kind::kColumn) used[expression.column] = true;
  for (const Expression& argument : expression.arguments) mark(argument, used);
}

std::string numbered(const char* letter, std::size_t i) {
  std::string result = letter;
  return result += std::to_string(i);
}

constexpr std::size_t kLongestColumn = 100;

/// What the plan knows of a column, with the weight of its SQL: the planner of PostgreSQL writes out what sub-selects name.
Facts known(Facts facts, double weight) {
  facts.weight = weight;
  return facts;
}

/// Where a server needs some hundred bytes for each, and more to compile it. The questions in tests/sql have 1,100 or fewer.
constexpr std::size_t kLongestSql = 1'000'000;
/// In weights: about ten columns.
constexpr double kLong = 100;

/// About how long the expressions are, with what they repeat; lists of categories and what else a scan writes is not in it.
double weight_of(const RelationNode& relation) {
  double weight = 0;
  std::vector<Facts> facts;
  for (const RelationPtr& input : relation.inputs) {
    weight += weight_of(*input);
    for (const RelationColumn& column : input->columns) facts.push_back(column.facts);
  }
  const auto add = [&](const Expression& expression) {
    if (expression.kind == Expression::Kind::kCall)
      weight += facts_of(expression, facts, Place::kRows).weight;
  };
  add(relation.condition);
  for (const Expression& each : relation.expressions) add(each);
  for (const UnitAggregate& each : relation.aggregates) add(each.argument);
  return weight;
}

/// 2^52 steps or fewer cover the range, so that sums are sums of integers.
int step_exponent(const Facts& facts) {
  const double largest =
      std::max(std::abs(round_down(*facts.lower)), std::abs(round_up(*facts.upper)));
  return largest == 0 ? 0 : std::max(std::ilogb(largest) - 51, -400);
}

}  // namespace

RelationWriter::RelationWriter(Source& source, const RelationNode& relation, bool each_once)
    : source_(source), dialect_(source.dialect()), each_once_(each_once) {
  // A fence keeps workers from adding up, too, and is left out where little would be repeated.
  if (weight_of(relation) > kLong) fence_ = dialect_.fence();
}

Written RelationWriter::expression(const Expression& expression,
                                   const std::vector<Written>& inputs) {
  Written result = write_expression(dialect_, expression, inputs);
  if (expression.kind == Expression::Kind::kCall) written_ += result.sql.size();
  if (written_ > kLongestSql)
    throw Error(ErrorCode::kUnsupported,
                "the expressions of this question would be more than a million characters of SQL; "
                "simplify them");
  return result;
}

std::string RelationWriter::select(const std::string& columns, const Fragment& fragment) const {
  std::string sql = "SELECT ";
  sql += columns.empty() ? "CAST(1 AS BIGINT) AS one" : columns;
  sql += " FROM " + fragment.from;
  if (!fragment.where.empty()) sql += " WHERE " + joined(fragment.where, " AND ");
  return sql;
}

std::string RelationWriter::columns_of(const Fragment& fragment,
                                       const std::vector<bool>& used) const {
  std::vector<std::string> columns;
  if (!fragment.unit.empty()) columns.push_back(fragment.unit + " AS u");
  for (std::size_t i = 0; i < used.size(); ++i)
    if (used[i]) {
      columns.push_back(fragment.columns[i].sql + " AS " + numbered("c", i));
      if (fragment.columns[i].raw)
        columns.push_back(fragment.columns[i].raw->sql + " AS " + numbered("r", i));
    }
  return joined(columns, ", ");
}

/// The columns of a sub-select, whatever they were before.
Fragment RelationWriter::named(const std::string& select, const Fragment& like,
                               const std::vector<bool>& used) {
  const std::string name = alias();
  Fragment result;
  result.from = "(" + select + ") AS " + name;
  result.columns.resize(used.size());
  for (std::size_t i = 0; i < used.size(); ++i)
    if (used[i]) {
      result.columns[i] = like.columns[i];
      result.columns[i].sql = name + "." + numbered("c", i);
      if (like.columns[i].raw) result.columns[i].raw->sql = name + "." + numbered("r", i);
    }
  if (!like.unit.empty()) result.unit = name + ".u";
  return result;
}

Fragment RelationWriter::wrapped(const Fragment& fragment, const std::vector<bool>& used,
                                 const std::string& tail) {
  return named(select(columns_of(fragment, used), fragment) + tail, fragment, used);
}

Fragment RelationWriter::deduplicated(Fragment fragment, const std::vector<bool>& used,
                                      const std::vector<std::size_t>& key) {
  const auto in_key = [&](std::size_t i) {
    return std::find(key.begin(), key.end(), i) != key.end();
  };
  std::vector<std::string> groups;
  for (std::size_t i = 0; i < used.size(); ++i) {
    if (used[i] && in_key(i)) groups.push_back(fragment.columns[i].sql);
    if (used[i] && !in_key(i)) {
      const bool boolean = fragment.columns[i].facts.type == Type::kBoolean;
      fragment.columns[i].sql = (boolean ? "bool_and(" : "MIN(") + fragment.columns[i].sql + ")";
    }
    fragment.columns[i].raw.reset();
  }
  return wrapped(fragment, used, " GROUP BY " + joined(groups, ", "));
}

const std::map<std::string, ColumnInfo>& RelationWriter::catalogue(const std::string& table) {
  auto& known = catalogues_[table];
  if (known.empty())
    for (const ColumnInfo& column : source_.columns(table))
      if (!known.emplace(lower_case(column.name), column).second)
        throw Error(ErrorCode::kInvalidInput, "the table '" + table + "' has two columns '" +
                                                  lower_case(column.name) +
                                                  "' that differ in case only; rename one");
  return known;
}

/// Bytes as text are spelled otherwise than text where they are no ASCII, so that somebody in two tables would be two.
void RelationWriter::expect_same_spelling(const std::string& table, const ColumnInfo& unit) {
  const bool bytes = unit.foreign_type == "blob" || unit.foreign_type == "bytea";
  if (units_are_bytes_.value_or(bytes) != bytes)
    throw Error(ErrorCode::kUnsupported,
                "table '" + table + "', column '" + unit.name + "': holds " +
                    (bytes ? "bytes, and the ids of another table here are not"
                           : "no bytes, and the ids of another table here are") +
                    "; store both as text");
  units_are_bytes_ = bytes;
}

void RelationWriter::note_otherwise(const ColumnSchema& column, const ColumnInfo& stored) {
  if (stored.typed && stored.type == Type::kText && column.domain.type != Type::kText)
    otherwise_.push_back(stored.name + " is text in the data and read as " +
                         std::string(name(column.domain.type)) +
                         "; what cannot be read so is null");
}

Fragment RelationWriter::scan(const RelationNode& node, const std::vector<bool>& used) {
  const std::string name = alias();
  Fragment result;
  result.from = source_.table_sql(node.table.name) + " AS " + name;
  result.columns.resize(used.size());
  const bool owned = node.owner == Owner::kUnit;
  const auto& columns = catalogue(node.table.name);
  for (std::size_t i = 0; i < used.size(); ++i) {
    const ColumnSchema& column = node.table.columns[i];
    const bool is_owner = owned && node.columns[i].is_unit;
    if (!used[i] && !is_owner) continue;
    const auto found = columns.find(lower_case(column.name));
    if (found == columns.end())
      throw Error(
          ErrorCode::kUnknownName,
          "the table '" + node.table.name + "' has no column '" + column.name +
              "' that can be read, which its schema declares: there is none of this name, or "
              "one of a type that is left out (lists, structs, maps, arrays, ranges, "
              "composites, jsonb)");
    const std::string raw = name + "." + dialect_.identifier(found->second.name);
    const bool real = found->second.type == Type::kDouble;
    result.columns[i].facts = node.columns[i].facts;
    try {
      if (is_owner || !node.columns[i].keys.empty() ||
          same_name(node.table.unit.column, column.name)) {
        result.columns[i].sql = identified(dialect_, column, found->second, raw);
      } else {
        const std::string value = converted(dialect_, column, found->second, raw);
        result.columns[i].sql = confined(dialect_, column, value);
        result.columns[i].raw = {real ? raw : value, column, real};
      }
    } catch (const Error& error) {
      throw Error(error.code(), "table '" + node.table.name + "', " + error.what());
    }
    note_otherwise(column, found->second);
    if (!is_owner) continue;
    expect_same_spelling(node.table.name, found->second);
    result.unit = result.columns[i].sql;
    result.where.push_back(result.unit + " IS NOT NULL");
  }
  // Long conversions are written once and named, whatever repeats them above.
  const bool is_long = std::any_of(result.columns.begin(), result.columns.end(),
                                   [](const Written& x) { return x.sql.size() > kLongestColumn; });
  if (!is_long || each_once_) return result;
  std::vector<bool> all(used.size());
  for (std::size_t i = 0; i < used.size(); ++i) all[i] = !result.columns[i].sql.empty();
  Fragment unowned = result;
  unowned.unit.clear();
  unowned.where.clear();
  Fragment outer = wrapped(unowned, all, fence_);
  for (std::size_t i = 0; i < used.size() && owned; ++i)
    if (node.columns[i].is_unit) {
      outer.unit = outer.columns[i].sql;
      outer.where = {outer.unit + " IS NOT NULL"};
    }
  return outer;
}

Fragment RelationWriter::project(const RelationNode& node, const std::vector<bool>& used) {
  std::vector<bool> needed(node.inputs[0]->columns.size());
  for (std::size_t i = 0; i < used.size(); ++i)
    if (used[i]) mark(node.expressions[i], needed);
  Fragment result = write(node.inputs[0], needed);
  std::vector<Written> columns(used.size());
  for (std::size_t i = 0; i < used.size(); ++i)
    if (used[i]) columns[i] = expression(node.expressions[i], result.columns);
  result.columns = std::move(columns);
  return node.materialised ? wrapped(result, used, fence_) : result;
}

Fragment RelationWriter::join(const RelationNode& node, const std::vector<bool>& used) {
  const std::size_t n = node.inputs[0]->columns.size(), m = node.inputs[1]->columns.size();
  std::vector<bool> needed(n + m);
  std::copy(used.begin(), used.end(), needed.begin());
  mark(node.condition, needed);
  const std::vector<bool> left_used(needed.begin(),
                                    needed.begin() + static_cast<std::ptrdiff_t>(n));
  std::vector<bool> right_used(needed.begin() + static_cast<std::ptrdiff_t>(n), needed.end());
  for (const std::size_t column : node.single_match) right_used[column] = true;
  Fragment left = write(node.inputs[0], left_used);
  Fragment right = write(node.inputs[1], right_used);
  if (!node.single_match.empty())
    right = deduplicated(std::move(right), right_used, node.single_match);
  else if (node.left_join || right.compound)
    right = wrapped(right, right_used);

  Fragment result = left;
  result.columns.insert(result.columns.end(), right.columns.begin(), right.columns.end());
  std::string condition = expression(node.condition, result.columns).sql;
  if (node.match_units) condition += " AND " + left.unit + " = " + right.unit;
  result.from += (node.left_join ? " LEFT JOIN " : " JOIN ") + right.from + " ON " + condition;
  result.where.insert(result.where.end(), right.where.begin(), right.where.end());
  result.unit = node.owner_input == 0 ? left.unit : right.unit;
  result.columns.resize(used.size());
  result.compound = true;
  for (std::size_t i = n; i < result.columns.size(); ++i)
    result.columns[i].facts = known(node.columns[i].facts, result.columns[i].facts.weight);
  for (std::size_t i = n; i < result.columns.size() && node.left_join; ++i)
    result.columns[i].raw.reset();  // a row without a partner has null there, whatever the domain
  return result;
}

Fragment RelationWriter::semi_join(const RelationNode& node, const std::vector<bool>& used) {
  std::vector<bool> needed = used;
  needed[node.column] = true;
  Fragment result = write(node.inputs[0], needed);
  const Fragment list = write(node.inputs[1], {true});
  result.where.push_back(result.columns[node.column].sql + (node.negated ? " NOT IN (" : " IN (") +
                         select(list.columns[0].sql, list) + ")");
  return result;
}

Fragment RelationWriter::union_all(const RelationNode& node, const std::vector<bool>& used) {
  std::string sql;
  Fragment like;
  std::vector<double> weights(used.size());
  for (const RelationPtr& input : node.inputs) {
    Fragment part = write(input, used);
    for (std::size_t i = 0; i < used.size(); ++i) {
      if (!used[i]) continue;
      weights[i] += part.columns[i].facts.weight;
      part.columns[i] = {in_type(dialect_, {part.columns[i].sql, input->columns[i].facts},
                                 node.columns[i].facts.type),
                         known(node.columns[i].facts, weights[i])};
    }
    sql += (sql.empty() ? std::string() : " UNION ALL ") + select(columns_of(part, used), part);
    like = std::move(part);
  }
  return named(sql, like, used);
}

std::string RelationWriter::aggregate(const UnitAggregate& aggregate, const Facts& facts,
                                      const std::vector<Written>& inputs) {
  using Function = UnitAggregate::Function;
  const auto limited = [&](const std::string& sql, Type type) {
    const auto end = [&](const Ratio& value) {
      return type == Type::kInteger ? Value(saturate(numerator(value))) : Value(value);
    };
    return dialect_.clamp(sql, type, end(*facts.lower), end(*facts.upper));
  };
  if (aggregate.function == Function::kCountRows) return limited("COUNT(*)", Type::kInteger);
  const Written x = expression(aggregate.argument, inputs);
  if (aggregate.function == Function::kCount)
    return limited("COUNT(" + x.sql + ")", Type::kInteger);
  if (aggregate.function == Function::kCountDistinct)
    return limited("COUNT(DISTINCT " + x.sql + ")", Type::kInteger);
  if (aggregate.function == Function::kMinimum) return "MIN(" + x.sql + ")";
  if (aggregate.function == Function::kMaximum) return "MAX(" + x.sql + ")";
  // Sums of integers (of steps, for doubles) are the same in any order and cannot overflow.
  const bool whole = x.facts.type == Type::kInteger;
  const int exponent = whole ? 0 : step_exponent(x.facts);
  const std::string sum =
      whole ? "SUM(" + x.sql + ")" : "SUM(" + dialect_.steps(x.sql, Type::kDouble, exponent) + ")";
  if (facts.type == Type::kInteger) {
    const std::string low = dialect_.literal(saturate(numerator(*facts.lower))),
                      high = dialect_.literal(saturate(numerator(*facts.upper)));
    return "CAST(CASE WHEN COUNT(" + x.sql + ") > 0 THEN LEAST(GREATEST(" + sum + ", " + low +
           "), " + high + ") END AS " + dialect_.type_name(Type::kInteger) + ")";
  }
  std::string total =
      dialect_.multiply("CAST(" + sum + " AS " + dialect_.type_name(Type::kDouble) + ")",
                        dialect_.literal(std::ldexp(1.0, exponent)));
  if (aggregate.function == Function::kAverage)
    total = dialect_.divide(total, "NULLIF(COUNT(" + x.sql + "), 0)");
  return limited(total, Type::kDouble);
}

Fragment RelationWriter::unit_aggregate(const RelationNode& node, const std::vector<bool>& used) {
  std::vector<bool> needed(node.inputs[0]->columns.size());
  for (const Expression& key : node.expressions) mark(key, needed);
  for (const UnitAggregate& each : node.aggregates) mark(each.argument, needed);
  const Fragment input = write(node.inputs[0], needed);
  Fragment grouped = input;
  grouped.columns.assign(node.columns.size(), {});
  grouped.unit.clear();
  std::vector<std::string> positions;
  std::vector<bool> all(node.columns.size());
  std::size_t unit = 0;
  for (std::size_t i = 0; i < node.columns.size(); ++i) {
    const std::size_t keys = node.expressions.size();
    all[i] = i < keys || used[i];
    if (!all[i]) continue;
    grouped.columns[i].facts = node.columns[i].facts;
    if (node.columns[i].is_unit) unit = i;
    if (i < keys) positions.push_back(std::to_string(i + 1));
    grouped.columns[i].sql =
        i < keys ? expression(node.expressions[i], input.columns).sql
                 : aggregate(node.aggregates[i - keys], node.columns[i].facts, input.columns);
  }
  Fragment result = wrapped(grouped, all, " GROUP BY " + joined(positions, ", "));
  result.unit = result.columns[unit].sql;
  return result;
}

Fragment RelationWriter::write(const RelationPtr& relation, const std::vector<bool>& used) {
  const RelationNode& node = *relation;
  switch (node.kind) {
    case RelationNode::Kind::kScan:
      return scan(node, used);
    case RelationNode::Kind::kFilter: {
      std::vector<bool> needed = used;
      mark(node.condition, needed);
      Fragment result = write(node.inputs[0], needed);
      result.where.push_back(expression(node.condition, result.columns).sql);
      return result;
    }
    case RelationNode::Kind::kProject:
      return project(node, used);
    case RelationNode::Kind::kJoin:
      return join(node, used);
    case RelationNode::Kind::kSemiJoin:
      return semi_join(node, used);
    case RelationNode::Kind::kUnion:
      return union_all(node, used);
    case RelationNode::Kind::kUnitAggregate:
      return unit_aggregate(node, used);
  }
  throw Error(ErrorCode::kInternal, "no SQL for a relation");
}

namespace {

/// As a stream sends it: an integer, a double or a text.
std::string sent(const Dialect& dialect, const std::string& x, Type type) {
  const bool as_it_is = type == Type::kText || type == Type::kDouble;
  return as_it_is ? "CAST(" + x + " AS " + dialect.type_name(type) + ")"
                  : dialect.convert(x, type, Type::kInteger);
}

bool has_range(const Domain& domain, const ValueColumn& value) {
  const auto same = [](const std::optional<Value>& end, const std::optional<Ratio>& other) {
    if (!end || !other) return false;
    if (const auto* whole = std::get_if<std::int64_t>(&*end)) return Ratio(*whole) == *other;
    if (const auto* real = std::get_if<double>(&*end)) return ratio_of_bits(*real) == *other;
    const auto* fraction = std::get_if<Ratio>(&*end);
    return fraction && *fraction == *other;
  };
  return same(domain.lower, value.lower) && same(domain.upper, value.upper);
}

/// Whether a relation is some columns of a table, each no more than once, and nothing else.
bool is_choice_of_columns(const RelationNode& relation) {
  if (relation.kind == RelationNode::Kind::kScan) return true;
  if (relation.kind != RelationNode::Kind::kProject) return false;
  std::vector<bool> seen(relation.inputs[0]->columns.size());
  for (const Expression& expression : relation.expressions) {
    if (expression.kind != Expression::Kind::kColumn || seen[expression.column]) return false;
    seen[expression.column] = true;
  }
  return is_choice_of_columns(*relation.inputs[0]);
}

}  // namespace

std::string rows_sql(const Plan& plan, Source& source) {
  RelationWriter writer(source, *plan.rows);
  const Dialect& dialect = source.dialect();
  const std::vector<bool> all(plan.rows->columns.size(), true);
  const Fragment rows = writer.write(plan.rows, all);
  std::vector<std::string> columns;
  if (!plan.unit_is_row)
    columns.push_back("CAST(" + rows.unit + " AS " + dialect.type_name(plan.rows->unit_type) +
                      ") AS u");
  for (std::size_t i = 0; i < all.size(); ++i)
    columns.push_back(sent(dialect, rows.columns[i].sql, plan.rows->columns[i].facts.type) +
                      " AS " + plan.rows->columns[i].name);
  return writer.select(joined(columns, ", "), rows);
}

std::vector<std::string> read_otherwise(const Plan& plan, Source& source) {
  RelationWriter writer(source, *plan.rows);
  writer.write(plan.rows, std::vector<bool>(plan.rows->columns.size(), true));
  std::vector<std::string> notes = writer.otherwise();
  std::sort(notes.begin(), notes.end());
  notes.erase(std::unique(notes.begin(), notes.end()), notes.end());
  return notes;
}

GroupableRows groupable_rows(const Plan& plan, Source& source) {
  RelationWriter writer(source, *plan.rows, is_choice_of_columns(*plan.rows));
  const Dialect& dialect = source.dialect();
  const std::vector<bool> all(plan.rows->columns.size(), true);
  const Fragment rows = writer.write(plan.rows, all);
  GroupableRows result;
  std::vector<std::string> columns;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Written& x = rows.columns[i];
    const Type type = plan.rows->columns[i].facts.type;
    const std::string& name = plan.rows->columns[i].name;
    if (i < plan.keys.size()) {
      const bool later = x.raw && !x.raw->is_real;
      columns.push_back((later ? x.raw->sql : sent(dialect, x.sql, type)) + " AS " + name);
      result.keys.push_back(later ? sent(dialect, confined(dialect, x.raw->column, name), type)
                                  : name);
      continue;
    }
    columns.push_back(sent(dialect, x.sql, type) + " AS " + name);
    GroupableRows::Number number;
    number.confined =
        x.raw && has_range(x.raw->column.domain, plan.values.at(i - plan.keys.size()));
    if (number.confined && !x.raw->column.domain.categories) {
      const Type declared = x.raw->column.domain.type;
      number.is_column = declared == (x.raw->is_real ? Type::kDouble : Type::kInteger);
      number.null_is_lower = number.is_column && !x.raw->column.domain.nullable;
    }
    if (number.is_column)
      columns.push_back(x.raw->sql + " AS " + numbered("w", i - plan.keys.size()));
    result.numbers.push_back(std::move(number));
  }
  result.select = writer.select(joined(columns, ", "), rows);
  return result;
}

}  // namespace gauze
