#include <algorithm>
#include <limits>

#include "gauze/base/error.h"
#include "gauze/base/words.h"
#include "gauze/query/plan.h"
#include "gauze/query/planner_internal.h"
#include "gauze/sql/evaluate.h"

namespace gauze {
namespace {

constexpr std::uint64_t kMostDeclaredGroups = 1'000'000;

[[noreturn]] void not_private(const std::string& what) {
  throw Error(ErrorCode::kNotPrivate, what);
}

using Function = Aggregate::Function;

std::optional<Function> moment_named(const std::string& name) {
  static constexpr std::pair<const char*, Function> kNames[] = {
      {"sum", Function::kSum},
      {"avg", Function::kAverage},
      {"mean", Function::kAverage},
      {"variance", Function::kVarianceSample},
      {"var_samp", Function::kVarianceSample},
      {"var_pop", Function::kVariancePopulation},
      {"stddev", Function::kStddevSample},
      {"stddev_samp", Function::kStddevSample},
      {"stddev_pop", Function::kStddevPopulation},
      {"covar", Function::kCovarianceSample},
      {"covar_samp", Function::kCovarianceSample},
      {"covar_pop", Function::kCovariancePopulation},
      {"corr", Function::kCorrelation}};
  for (const auto& [text, function] : kNames)
    if (name == text) return function;
  return std::nullopt;
}

bool takes_two(Function function) {
  return function == Function::kCovarianceSample || function == Function::kCovariancePopulation ||
         function == Function::kCorrelation;
}

Expression only_where(Expression value, const std::optional<Expression>& filter) {
  if (!filter) return value;
  return Expression::call("case", {*filter, std::move(value), Expression::of(std::monostate{})});
}

/// Whether it is computed from the identifier of the row's unit and constants alone.
bool is_of_unit(const Expression& expression, const RelationNode& relation) {
  if (expression.kind == Expression::Kind::kColumn)
    return relation.columns[expression.column].is_unit;
  bool any = false;
  for (const Expression& each : expression.arguments) {
    if (each.kind == Expression::Kind::kLiteral) continue;
    if (!is_of_unit(each, relation)) return false;
    any = true;
  }
  return any;
}

Ratio probability_of(const SqlExpr& expression) {
  std::optional<Ratio> p;
  if (const auto* ratio = std::get_if<Ratio>(&expression.literal)) p = *ratio;
  if (const auto* whole = std::get_if<std::int64_t>(&expression.literal)) p = Ratio(*whole);
  if (expression.kind != SqlExpr::Kind::kLiteral || !p || *p <= 0 || *p >= 1)
    unsupported(
        "a quantile takes a constant between 0 and 1, as in PERCENTILE_CONT(0.9); for the ends use "
        "MIN and MAX");
  return *p;
}

/// Builds the plan of the outermost SELECT: group keys, aggregates, and what is computed from them.
class AnswerPlanner {
 public:
  AnswerPlanner(const Scope& scope, const SqlSelect& select, Plan& plan)
      : scope_(scope), plan_(plan), items_(select.items) {
    if (scope.relation->owner == Owner::kNobody)
      unsupported(
          "the question reads public tables only, so there is nothing to protect; ask the database "
          "directly");
  }

  void keys(const SqlSelect& select);
  void outputs(const SqlSelect& select);
  RelationPtr relation() const;

 private:
  std::size_t add_value(const SqlExpr& written, Expression expression, bool needs_range,
                        const std::string& what);
  std::size_t add_filtered(const SqlExpr& written, const SqlExpr& call,
                           const std::optional<Expression>& filter, const std::string& what);
  Bound aggregate(const SqlExpr& call);
  Aggregate count(const SqlExpr& call, const std::optional<Expression>& filter);
  Aggregate quantile(const SqlExpr& call, const std::optional<Expression>& filter);
  Facts aggregate_facts(const Aggregate& aggregate) const;
  std::optional<Bound> leaf(const SqlExpr& expression);
  Bound bind_released(const SqlExpr& expression);
  Bound output_named(const SqlExpr& expression, bool alias_first);
  void add_output(const SqlItem& item);

  const Scope& scope_;
  Plan& plan_;
  std::vector<SqlItem> items_;
  std::vector<Bound> keys_, values_;
  std::vector<Bound> outputs_;  // beside plan_.outputs
};

void AnswerPlanner::keys(const SqlSelect& select) {
  std::vector<SqlExpr> written = select.group_by;
  if (select.distinct) {
    if (!written.empty())
      unsupported("DISTINCT together with GROUP BY is not supported; remove DISTINCT");
    for (const SqlItem& item : items_) {
      if (item.expression.kind == SqlExpr::Kind::kStar)
        not_private("SELECT DISTINCT * selects rows; name the columns to group by");
      if (has_aggregate(item.expression))
        unsupported("DISTINCT together with aggregates is not supported; remove DISTINCT");
      written.push_back(item.expression);
    }
  }
  std::uint64_t groups = 1;
  for (const SqlExpr& each : written) {
    const SqlExpr expression = group_expression(each, items_, scope_);
    if (has_aggregate(expression))
      unsupported(
          "GROUP BY takes columns of rows, not aggregates; use HAVING or a sub-select grouped by "
          "the unit");
    Bound key = scope_.bind(expression);
    if (std::any_of(keys_.begin(), keys_.end(),
                    [&](const Bound& other) { return other.expression == key.expression; }))
      continue;
    if (key.expression.kind == Expression::Kind::kLiteral)
      unsupported("GROUP BY a constant makes one group; leave it out");
    KeyColumn column{item_name({expression, ""}), key.facts.type, std::nullopt};
    for (const SqlItem& item : items_)
      if (!item.name.empty() && to_sql(item.expression) == to_sql(expression))
        column.name = item.name;
    column.domain = domain_of(project(scope_.relation, {key.expression}, {"k"}), 0);
    // patient_id % 10 has ten values, upper(patient_id) as many as there are people.
    const bool names_units = key.expression.kind == Expression::Kind::kColumn || !column.domain;
    if (names_units && is_of_unit(key.expression, *scope_.relation))
      not_private("grouping by the unit (" + to_sql(expression) +
                  ") would show single people; group by something that many share");
    if (column.domain && key.facts.nullable) column.domain->push_back(Value());
    if (column.domain) {
      groups *= column.domain->size();
      if (groups > kMostDeclaredGroups)
        unsupported(
            "the answer would have more than a million groups, declared values of all keys "
            "multiplied; group by fewer or coarser keys");
    }
    plan_.keys.push_back(std::move(column));
    keys_.push_back(std::move(key));
  }
}

/// The position of an argument among the plan's values. Values that are only counted need no range.
std::size_t AnswerPlanner::add_value(const SqlExpr& written, Expression expression,
                                     bool needs_range, const std::string& what) {
  Bound value{expression, facts_of(expression, scope_.relation->facts(), Place::kRows)};
  if (needs_range) {
    const bool time = value.facts.type == Type::kDate || value.facts.type == Type::kTimestamp;
    const bool quantile = what == "a quantile";
    if (!is_numeric(value.facts.type) && !(time && quantile))
      unsupported(what + " takes a number" +
                  (value.facts.type == Type::kBoolean
                       ? "; write COUNT(*) FILTER (WHERE ...)"
                       : "; this is " + std::string(name(value.facts.type)) +
                             "; if the column holds numbers, declare it so in the schema"));
    Facts declared = value.facts;
    if (!declared.missing.empty()) declared.lower.reset();
    require_range(declared, what + " of " + to_sql(written));
  }
  for (std::size_t i = 0; i < values_.size(); ++i)
    if (values_[i].expression == value.expression) return i;
  ValueColumn column;
  column.text = to_sql(written);
  column.type = value.facts.type;
  column.integral = value.facts.type != Type::kDouble && value.facts.type != Type::kText;
  column.nullable = value.facts.nullable;
  if (value.facts.bounded() && value.facts.missing.empty() && value.facts.type != Type::kText) {
    column.lower = value.facts.lower;
    column.upper = value.facts.upper;
  }
  plan_.values.push_back(std::move(column));
  values_.push_back(std::move(value));
  return values_.size() - 1;
}

/// An argument that FILTER (WHERE ...) makes null elsewhere.
std::size_t AnswerPlanner::add_filtered(const SqlExpr& written, const SqlExpr& call,
                                        const std::optional<Expression>& filter,
                                        const std::string& what) {
  const std::size_t before = values_.size();
  const std::size_t index =
      add_value(written, only_where(scope_.bind(written).expression, filter), true, what);
  if (filter && index == before) plan_.values[index].text += " where " + to_sql(call.filter[0]);
  return index;
}

Aggregate AnswerPlanner::count(const SqlExpr& call, const std::optional<Expression>& filter) {
  Aggregate result{Function::kCountRows, {}, Ratio(1, 2), to_sql(call)};
  const Expression one = Expression::of(std::int64_t{1});
  const auto counted = [&](Expression condition) {  // 1 where it holds, null elsewhere
    SqlExpr shown;
    shown.kind = SqlExpr::Kind::kCall;
    shown.function = "and";
    shown.arguments = call.filter;
    if (!call.arguments.empty()) {
      SqlExpr present;
      present.kind = SqlExpr::Kind::kCall;
      present.function = "is_not_null";
      present.arguments = call.arguments;
      shown.arguments.push_back(std::move(present));
    }
    result.function = Function::kCount;
    result.arguments = {add_value(shown.arguments.size() == 1 ? shown.arguments[0] : shown,
                                  only_where(one, std::move(condition)), false, "COUNT")};
  };
  if (call.star || call.arguments.empty()) {
    if (filter) counted(*filter);
    return result;
  }
  if (call.arguments.size() != 1) unsupported("COUNT takes one argument");
  const Bound value = scope_.bind(call.arguments[0]);
  if (call.distinct) {
    const bool unit = value.expression.kind == Expression::Kind::kColumn &&
                      scope_.relation->columns[value.expression.column].is_unit;
    if (unit && !filter) {
      result.function = Function::kCountUnits;
      return result;
    }
    result.function = Function::kCountDistinct;
    result.arguments = {
        add_value(call.arguments[0], only_where(value.expression, filter), false, "COUNT")};
    return result;
  }
  if (!value.facts.nullable) {
    if (filter) counted(*filter);
    return result;
  }
  const Expression present =
      Expression::call("not", {Expression::call("is_null", {value.expression})});
  const bool summed = value.facts.bounded() && value.facts.missing.empty();
  if (summed && !filter) {
    result.function = Function::kCount;
    result.arguments = {add_value(call.arguments[0], value.expression, false, "COUNT")};
  } else {
    counted(filter ? Expression::call("and", {*filter, present}) : present);
  }
  return result;
}

Aggregate AnswerPlanner::quantile(const SqlExpr& call, const std::optional<Expression>& filter) {
  const std::string& name = call.function;
  Aggregate result{Function::kQuantile, {}, Ratio(1, 2), to_sql(call)};
  const SqlExpr* value = nullptr;
  if (name == "percentile_cont" || name == "percentile_disc") {
    if (call.within.size() != 1 || call.arguments.size() != 1)
      unsupported("write PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY x)");
    value = &call.within[0];
    result.probability = probability_of(call.arguments[0]);
    if (call.descending) result.probability = 1 - result.probability;
  } else {
    const bool with_probability = name.starts_with("quantile");
    if (call.arguments.size() != (with_probability ? 2 : 1))
      unsupported(with_probability ? "write QUANTILE(x, 0.9)" : name + " takes one argument");
    value = &call.arguments[0];
    if (with_probability) result.probability = probability_of(call.arguments[1]);
    if (name == "min") result.probability = Ratio(1, 100);
    if (name == "max") result.probability = Ratio(99, 100);
  }
  result.arguments = {add_filtered(*value, call, filter, "a quantile")};
  return result;
}

Facts AnswerPlanner::aggregate_facts(const Aggregate& aggregate) const {
  Facts result;
  result.type = Type::kDouble;
  const Function function = aggregate.function;
  if (function == Function::kCountRows || function == Function::kCount ||
      function == Function::kCountDistinct || function == Function::kCountUnits) {
    result.type = Type::kInteger;
    result.nullable = false;
  }
  if (function == Function::kSum || function == Function::kQuantile)
    result.type = plan_.values[aggregate.arguments[0]].type;
  return result;
}

Bound AnswerPlanner::aggregate(const SqlExpr& call) {
  const std::string& name = call.function;
  std::optional<Expression> filter;
  if (!call.filter.empty()) filter = scope_.bind(call.filter[0]).expression;
  if (call.distinct && name != "count") unsupported("DISTINCT is supported in COUNT only");
  if (!call.within.empty() && !name.starts_with("percentile"))
    unsupported("WITHIN GROUP belongs to PERCENTILE_CONT and PERCENTILE_DISC");
  std::optional<Aggregate> result;
  if (name == "count") {
    result = count(call, filter);
  } else if (const auto moment = moment_named(name)) {
    const std::size_t arity = takes_two(*moment) ? 2 : 1;
    if (call.arguments.size() != arity)
      unsupported(name + " takes " + (arity == 2 ? "two arguments" : "one argument"));
    result = Aggregate{*moment, {}, Ratio(1, 2), to_sql(call)};
    for (const SqlExpr& argument : call.arguments)
      result->arguments.push_back(add_filtered(argument, call, filter, name));
  } else if (name == "median" || name == "min" || name == "max" || name.starts_with("percentile") ||
             name.starts_with("quantile")) {
    result = quantile(call, filter);
  } else {
    not_private(
        name +
        " shows values of single rows; use COUNT, SUM, AVG, STDDEV, MEDIAN, QUANTILE, MIN or MAX");
  }
  std::size_t index = 0;
  const auto same = [&](const Aggregate& other) {
    return other.function == result->function && other.arguments == result->arguments &&
           other.probability == result->probability;
  };
  for (; index < plan_.aggregates.size() && !same(plan_.aggregates[index]); ++index) {
  }
  if (index == plan_.aggregates.size()) plan_.aggregates.push_back(*result);
  return {Expression::input(keys_.size() + index), aggregate_facts(plan_.aggregates[index])};
}

/// What stands in an output before its arguments are looked at: an aggregate, a key, or nothing known.
std::optional<Bound> AnswerPlanner::leaf(const SqlExpr& expression) {
  if (is_aggregate(expression)) return aggregate(expression);
  if (expression.kind == SqlExpr::Kind::kLiteral || expression.kind == SqlExpr::Kind::kStar ||
      has_aggregate(expression))
    return std::nullopt;
  std::optional<Expression> row;
  try {
    row = scope_.bind(expression).expression;
  } catch (const Error&) {
    // Not computable on rows; perhaps it is on answers.
    if (expression.kind == SqlExpr::Kind::kColumn) throw;
  }
  for (std::size_t i = 0; row && i < keys_.size(); ++i)
    if (keys_[i].expression == *row) return Bound{Expression::input(i), keys_[i].facts};
  if (expression.kind == SqlExpr::Kind::kColumn)
    not_private("the column '" + expression.name.back() +
                "' would show rows; put it in GROUP BY or inside an aggregate such as COUNT, AVG "
                "or MEDIAN");
  return std::nullopt;
}

Bound AnswerPlanner::bind_released(const SqlExpr& expression) {
  check_functions(expression);
  return Binder(Place::kReleased, [this](const SqlExpr& each) { return leaf(each); })
      .bind(expression);
}

void AnswerPlanner::add_output(const SqlItem& item) {
  OutputColumn output;
  output.name = item_name(item);
  const Bound bound = bind_released(item.expression);
  output.expression = bound.expression;
  output.type = bound.facts.type;
  output.is_key = output.expression.kind == Expression::Kind::kColumn &&
                  output.expression.column < keys_.size();
  const auto taken = [&](const std::string& name) {
    return std::any_of(plan_.outputs.begin(), plan_.outputs.end(),
                       [&](const OutputColumn& other) { return same_name(other.name, name); });
  };
  const std::string base = output.name;
  for (int i = 2; taken(output.name); ++i) output.name = base + "_" + std::to_string(i);
  plan_.outputs.push_back(std::move(output));
  outputs_.push_back(bound);
}

/// ORDER BY alias: an output. In ORDER BY -alias and HAVING alias > 5 a column of that name goes first.
Bound AnswerPlanner::output_named(const SqlExpr& expression, bool alias_first) {
  check_functions(expression);
  const auto is_column = [this](const std::string& name) {
    return std::any_of(scope_.columns.begin(), scope_.columns.end(),
                       [&](const std::string& column) { return same_name(column, name); });
  };
  return Binder(Place::kReleased,
                [&](const SqlExpr& each) -> std::optional<Bound> {
                  if (each.kind == SqlExpr::Kind::kColumn && each.name.size() == 1 &&
                      (alias_first || !is_column(each.name[0])))
                    for (std::size_t i = 0; i < outputs_.size(); ++i)
                      if (same_name(plan_.outputs[i].name, each.name[0])) return outputs_[i];
                  return leaf(each);
                })
      .bind(expression);
}

void AnswerPlanner::outputs(const SqlSelect& select) {
  std::vector<std::size_t> first_outputs;  // of each item; an ARRAY of quantiles has several
  for (const SqlItem& item : items_) {
    first_outputs.push_back(outputs_.size());
    const SqlExpr& call = item.expression;
    const bool several = is_aggregate(call) && !call.arguments.empty() &&
                         call.arguments.back().kind == SqlExpr::Kind::kArray;
    if (!several) {
      add_output(item);
      continue;
    }
    for (const SqlExpr& p : call.arguments.back().arguments) {
      SqlItem single = item;
      single.expression.arguments.back() = p;
      std::string suffix = to_string(probability_of(p) * 100);
      std::replace_if(
          suffix.begin(), suffix.end(), [](char c) { return c == '.' || c == '/'; }, '_');
      single.name = item_name(item) + "_" + suffix;
      add_output(single);
    }
  }
  for (const SqlExpr& having : select.having) {
    const Bound bound = output_named(having, false);
    if (bound.facts.type != Type::kBoolean) unsupported("HAVING takes a condition");
    plan_.having = bound.expression;
  }
  for (const SqlOrder& order : select.order_by) {
    const auto* position = std::get_if<std::int64_t>(&order.expression.literal);
    if (order.expression.kind != SqlExpr::Kind::kLiteral) {
      const bool is_name = order.expression.kind == SqlExpr::Kind::kColumn;
      plan_.order_by.push_back({output_named(order.expression, is_name).expression,
                                order.descending, order.nulls_first});
      continue;
    }
    if (position == nullptr || *position < 1 ||
        static_cast<std::size_t>(*position) > first_outputs.size())
      unsupported("ORDER BY takes outputs, expressions, or positions from 1 to " +
                  std::to_string(first_outputs.size()));
    const std::size_t first = first_outputs[static_cast<std::size_t>(*position) - 1];
    plan_.order_by.push_back({outputs_[first].expression, order.descending, order.nulls_first});
  }
  if (!plan_.aggregates.empty()) return;
  if (keys_.empty())
    not_private("the question selects no aggregate; ask for COUNT(*), AVG(x), ...");
  if (std::all_of(plan_.keys.begin(), plan_.keys.end(),
                  [](const KeyColumn& key) { return key.domain.has_value(); }))
    unsupported(
        "all values of these keys are declared in the schema already; add an aggregate such as "
        "COUNT(*)");
}

RelationPtr AnswerPlanner::relation() const {
  std::vector<Expression> expressions;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < keys_.size(); ++i) {
    expressions.push_back(keys_[i].expression);
    names.push_back(std::string("k").append(std::to_string(i)));
  }
  for (std::size_t i = 0; i < values_.size(); ++i) {
    expressions.push_back(values_[i].expression);
    names.push_back(std::string("v").append(std::to_string(i)));
  }
  return project(scope_.relation, std::move(expressions), std::move(names));
}

std::uint64_t capped_product(std::uint64_t a, std::uint64_t b) {
  std::uint64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? std::numeric_limits<std::uint64_t>::max()
                                                : product;
}

/// What the schema declares, what the analyst overrides, and what the shape of the answer implies.
Bounds bounds_of(const RelationNode& rows, const std::vector<KeyColumn>& keys,
                 const PlanOptions& options) {
  Bounds result;
  if (rows.owner == Owner::kRow) return result;
  for (const auto& bound : {options.rows_per_unit, options.groups_per_unit, options.rows_per_group})
    if (bound && (*bound < 1 || *bound > 1'000'000'000))
      throw Error(ErrorCode::kInvalidOption,
                  "rows_per_unit, groups_per_unit and rows_per_group are whole numbers from 1 to "
                  "1000000000");
  if (!options.rows_per_unit && !rows.rows_per_unit)
    throw Error(ErrorCode::kMissingKnowledge,
                rows.multiplied + ", or limit the rows with rows_per_unit");
  const std::uint64_t all = options.rows_per_unit ? *options.rows_per_unit : *rows.rows_per_unit;
  std::uint64_t groups = 1;
  for (const KeyColumn& key : keys)
    groups = key.domain ? capped_product(groups, key.domain->size())
                        : std::numeric_limits<std::uint64_t>::max();
  const auto declared = [](const std::optional<std::uint64_t>& option,
                           const std::optional<std::uint64_t>& schema, std::uint64_t otherwise) {
    return option ? *option : schema.value_or(otherwise);
  };
  result.groups_per_unit =
      std::min({declared(options.groups_per_unit, rows.groups_per_unit, all), groups, all});
  result.rows_per_group = std::min(declared(options.rows_per_group, rows.rows_per_group, all), all);
  result.rows_per_unit =
      std::min(all, capped_product(result.groups_per_unit, result.rows_per_group));
  return result;
}

}  // namespace

Plan plan_query(std::string_view sql, const Schema& schema, const PlanOptions& options) {
  const SqlSelect select = parse_select(sql);
  if (!select.branches.empty())
    unsupported(
        "UNION ALL of whole answers is not supported; ask one question each, or SELECT ... FROM (a "
        "UNION ALL b) AS both");
  RelationPlanner relations(schema);
  relations.remember(select.with);
  const Scope scope = relations.rows(select);

  Plan plan;
  plan.sql = std::string(sql);
  plan.dataset = schema.dataset;
  AnswerPlanner answer(scope, select, plan);
  answer.keys(select);
  answer.outputs(select);
  plan.rows = answer.relation();
  plan.unit_is_row = plan.rows->owner == Owner::kRow;
  plan.unit = plan.rows->unit;
  plan.bounds = bounds_of(*plan.rows, plan.keys, options);
  plan.limit = select.limit;
  plan.offset = select.offset;
  return plan;
}

}  // namespace gauze
