#include <algorithm>
#include <array>

#include "gauze/base/error.h"
#include "gauze/base/words.h"
#include "gauze/query/planner_internal.h"
#include "gauze/sql/evaluate.h"

namespace gauze {
namespace {

/// Other spellings of what we have.
std::string canonical(const std::string& function) {
  static const std::array<std::pair<const char*, const char*>, 15> kNames = {{
      {"substring", "substr"},
      {"btrim", "trim"},
      {"char_length", "length"},
      {"character_length", "length"},
      {"ceiling", "ceil"},
      {"pow", "power"},
      {"extract", "date_part"},
      {"datepart", "date_part"},
      {"datetrunc", "date_trunc"},
      {"mod", "%"},
      {"div", "//"},
      {"ifnull", "coalesce"},
      {"nvl", "coalesce"},
      {"if", "case"},
      {"||", "concat"},
  }};
  for (const auto& [other, ours] : kNames)
    if (function == other) return ours;
  return function;
}

void refuse_volatile(const std::string& function) {
  for (const char* name : {"random", "now", "clock_timestamp", "statement_timestamp",
                           "transaction_timestamp", "timeofday", "setseed", "nextval", "currval",
                           "gen_random_uuid", "uuid", "pg_sleep", "age", "today", "txid_current",
                           "current_setting", "version", "pg_backend_pid", "get_current_timestamp"})
    if (function == name)
      throw Error(ErrorCode::kNotPrivate,
                  function + "() is not a function of the rows; write the value instead");
}

std::string part_text(const SqlExpr& part) {
  if (part.kind == SqlExpr::Kind::kLiteral)
    if (const auto* text = std::get_if<std::string>(&part.literal)) {
      std::string lower = *text;
      for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
      return lower;
    }
  unsupported("date parts are written as constants: extract(year FROM d), date_trunc('month', d)");
}

SqlExpr literal(Value value) {
  SqlExpr result;
  result.literal = std::move(value);
  return result;
}

/// year(d), left(x, n), substr(x, n): to the forms with all arguments.
SqlExpr written_out(SqlExpr call) {
  call.function = canonical(call.function);
  const bool part =
      call.arguments.size() == 1 && (is_date_part(call.function) || call.function == "dayofweek");
  if (part) {
    const std::string name = call.function == "dayofweek" ? "dow" : call.function;
    call.arguments.insert(call.arguments.begin(), literal(name));
    call.function = "date_part";
  }
  if ((call.function == "date_part" || call.function == "date_trunc") && call.arguments.size() == 2)
    call.arguments[0] = literal(part_text(call.arguments[0]));
  if (call.function == "left" && call.arguments.size() == 2) {
    call.function = "substr";
    call.arguments.insert(call.arguments.begin() + 1, literal(std::int64_t{1}));
  }
  if (call.function == "substr" && call.arguments.size() == 2)
    call.arguments.push_back(literal(std::int64_t{1'000'000}));
  if (call.function == "case" && call.arguments.size() == 2)
    call.arguments.push_back(literal(std::monostate{}));
  if (call.function == "coalesce" && call.arguments.size() == 1) return call.arguments[0];
  return call;
}

/// 'text' beside a date is a date, also when it says a time of day; beside a timestamp it is one.
void read_dates(const std::string& function, std::vector<Bound>& arguments) {
  const bool mixes = function == "=" || function == "<>" || function == "<" || function == "<=" ||
                     function == ">" || function == ">=" || function == "in" ||
                     function == "is_distinct" || function == "nullif" || function == "least" ||
                     function == "greatest" || function == "clamp" || function == "coalesce" ||
                     function == "-";
  if (!mixes) return;
  std::optional<Type> time;
  for (const Bound& argument : arguments)
    if (argument.facts.type == Type::kDate || argument.facts.type == Type::kTimestamp)
      time = argument.facts.type;
  if (!time) return;
  for (Bound& argument : arguments) {
    const auto* text = std::get_if<std::string>(&argument.expression.literal);
    if (argument.expression.kind != Expression::Kind::kLiteral || text == nullptr) continue;
    const Timestamp moment =
        text->size() <= 10 ? start_of(parse_date(*text)) : parse_timestamp(*text);
    const Value value = *time == Type::kDate ? Value(day_of(moment)) : Value(moment);
    argument = {Expression::of(value), literal_facts(value)};
  }
}

/// The function concat passes over nulls, where a || b is null.
void pass_over_nulls(std::vector<Bound>& texts, Place place) {
  const Bound empty{Expression::of(std::string()), literal_facts(std::string())};
  for (Bound& text : texts) {
    if (text.facts.untyped) text = empty;
    if (text.facts.type != Type::kText || !text.facts.nullable) continue;
    text.expression = Expression::call("coalesce", {text.expression, empty.expression});
    text.facts = call_facts(text.expression, {text.facts, empty.facts}, place);
  }
}

/// DATE '2024-05-01', CAST('12' AS integer): the constant that is meant.
std::optional<Value> cast_literal(const std::string& function, const Expression& argument) {
  if (argument.kind != Expression::Kind::kLiteral) return std::nullopt;
  const auto* text = std::get_if<std::string>(&argument.literal);
  if (text == nullptr) return std::nullopt;
  if (function == "to_date") return parse_date(*text);
  if (function == "to_timestamp")
    return text->size() <= 10 ? start_of(parse_date(*text)) : parse_timestamp(*text);
  if (function == "to_boolean") {
    if (*text == "t" || *text == "true") return true;
    if (*text == "f" || *text == "false") return false;
    throw Error(ErrorCode::kInvalidInput, "booleans are written true and false");
  }
  if (function != "to_integer" && function != "to_double") return std::nullopt;
  if (text->size() > 40) unsupported("a number in the question is too long");
  const Ratio number = parse_ratio(*text, "number in the question");
  if (function == "to_double") return number;
  if (abs(number) > largest_integer()) unsupported("a number in the question is too large");
  return saturate(floor(number + Ratio(1, 2)));
}

bool folds(const std::string& function) {
  for (const char* name : {"upper", "lower", "exp", "ln", "sqrt", "power", "case", "like", "ilike"})
    if (function == name) return false;
  return true;
}

}  // namespace

void check_functions(const SqlExpr& expression) {
  if (expression.kind == SqlExpr::Kind::kCall && !is_aggregate(expression) &&
      expression.function != "bin") {
    refuse_volatile(expression.function);
    const SqlExpr call = written_out(expression);
    if (call.kind == SqlExpr::Kind::kCall) check_function(call.function, call.arguments.size());
  }
  for (const SqlExpr& argument : expression.arguments) check_functions(argument);
}

Bound Binder::call(const SqlExpr& written) const {
  refuse_volatile(written.function);
  if (written.distinct || written.star || !written.filter.empty() || !written.within.empty())
    unsupported(written.function + " is not an aggregate that Gauze knows");
  const SqlExpr expression = written_out(written);
  std::vector<Bound> arguments;
  for (const SqlExpr& argument : expression.arguments) arguments.push_back(bind(argument));
  const std::string& function = expression.function;
  if (arguments.size() == 1)
    if (const auto value = cast_literal(function, arguments[0].expression))
      return {Expression::of(*value), literal_facts(*value)};
  read_dates(function, arguments);
  if (written.function == "concat") pass_over_nulls(arguments, place_);

  Bound result;
  std::vector<Facts> facts;
  std::vector<Expression> operands;
  bool constant = !arguments.empty();
  for (Bound& argument : arguments) {
    constant = constant && argument.expression.kind == Expression::Kind::kLiteral;
    operands.push_back(std::move(argument.expression));
    facts.push_back(std::move(argument.facts));
  }
  result.expression = Expression::call(function, std::move(operands));
  result.facts = call_facts(result.expression, facts, place_);
  if (constant && folds(function)) {
    const Value value = evaluate(result.expression, {}).value;
    if (!is_null(value) && (!is_numeric(result.facts.type) || number_of(value))) {
      const Facts folded = literal_facts(value);
      if (folded.type == result.facts.type) return {Expression::of(value), folded};
    }
  }
  return result;
}

Bound Binder::bind(const SqlExpr& expression) const {
  if (auto bound = leaf_(expression)) return *std::move(bound);
  switch (expression.kind) {
    case SqlExpr::Kind::kLiteral:
      return {Expression::of(expression.literal), literal_facts(expression.literal)};
    case SqlExpr::Kind::kCall:
      return call(expression);
    case SqlExpr::Kind::kStar:
      throw Error(ErrorCode::kNotPrivate,
                  "* selects rows; ask for aggregates, as in SELECT COUNT(*)");
    case SqlExpr::Kind::kInQuery:
      unsupported(
          "IN (SELECT ...) must stand by itself in WHERE, joined to other conditions by AND");
    case SqlExpr::Kind::kArray:
      unsupported("arrays are only supported as PERCENTILE_CONT(ARRAY[0.25, 0.5, 0.75])");
    case SqlExpr::Kind::kColumn:
      break;
  }
  throw Error(ErrorCode::kInternal, "a column was not found by its scope");
}

std::size_t Scope::find(const SqlExpr& column) const {
  const std::string& name = column.name.back();
  const bool qualified = column.name.size() == 2;
  std::optional<std::size_t> found;
  bool table_known = !qualified;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const bool same_table = qualified && same_name(tables[i], column.name[0]);
    table_known = table_known || same_table;
    if (!same_name(columns[i], name) || (qualified ? !same_table : hidden[i])) continue;
    if (found)
      throw Error(ErrorCode::kUnknownName,
                  "the column '" + name + "' is in more than one table; write table." + name);
    found = i;
  }
  if (found) return *found;
  if (!table_known)
    throw Error(ErrorCode::kUnknownName, "there is no table '" + column.name[0] + "' in FROM" +
                                             did_you_mean(column.name[0], tables));
  throw Error(ErrorCode::kUnknownName,
              "there is no column '" + name + "'" + did_you_mean(name, columns));
}

bool Scope::has(const SqlExpr& column) const {
  try {
    find(column);
    return true;
  } catch (const Error&) {
    return false;
  }
}

namespace {

/// Whether every value lies between the first edge and the last.
bool covered(const Facts& facts, const std::vector<Value>& edges) {
  const Facts first = literal_facts(edges.front()), last = literal_facts(edges.back());
  return !facts.nullable && facts.bounded() && first.lower && last.upper &&
         *first.lower <= *facts.lower && *facts.upper <= *last.upper;
}

/// bin(x): the declared histogram as CASE, one text per bin; null outside.
SqlExpr bins_of(const SqlExpr& column, const Facts& facts, const std::vector<Value>& edges) {
  SqlExpr result;
  result.kind = SqlExpr::Kind::kCall;
  result.function = "case";
  const auto compare_with = [&](const char* sign, const Value& edge) {
    SqlExpr call;
    call.kind = SqlExpr::Kind::kCall;
    call.function = sign;
    call.arguments = {column, literal(edge)};
    return call;
  };
  const bool total = covered(facts, edges);
  if (!total) result.arguments = {compare_with("<", edges.front()), literal(std::monostate{})};
  for (std::size_t i = 0; i + 1 < edges.size(); ++i) {
    const bool last = i + 2 == edges.size();
    if (!last || !total) result.arguments.push_back(compare_with(last ? "<=" : "<", edges[i + 1]));
    result.arguments.push_back(literal(std::string("[") + to_text(edges[i]) + ", " +
                                       to_text(edges[i + 1]) + (last ? "]" : ")")));
  }
  if (!total) result.arguments.push_back(literal(std::monostate{}));
  return result;
}

}  // namespace

Bound Scope::bind(const SqlExpr& expression) const {
  const std::vector<Facts> facts = relation->facts();
  Binder* self = nullptr;
  Binder binder(Place::kRows, [&](const SqlExpr& each) -> std::optional<Bound> {
    if (each.kind == SqlExpr::Kind::kColumn) {
      const std::size_t column = find(each);
      return Bound{Expression::input(column), facts[column]};
    }
    if (each.kind != SqlExpr::Kind::kCall) return std::nullopt;
    if (is_aggregate(each))
      unsupported(
          "aggregates cannot stand in WHERE, GROUP BY, ON or inside each other; use HAVING or a "
          "sub-select grouped by the unit");
    if (each.function == "bin") {
      if (each.arguments.size() != 1 || each.arguments[0].kind != SqlExpr::Kind::kColumn)
        unsupported("bin(x) takes a column with declared bins");
      const std::size_t index = find(each.arguments[0]);
      const RelationColumn& column = relation->columns[index];
      if (column.bins.empty())
        throw Error(ErrorCode::kMissingKnowledge,
                    "the column '" + column.name +
                        "' has no bins; add \"bins\": [0, 10, 20] to it in the schema, or use "
                        "width_bucket(x, lower, upper, count)");
      return self->bind(bins_of(each.arguments[0], facts[index], column.bins));
    }
    return std::nullopt;
  });
  self = &binder;
  return binder.bind(expression);
}

}  // namespace gauze
