#include <array>
#include <cctype>
#include <charconv>

#include "gauze/base/error.h"
#include "gauze/sql/parse_internal.h"

namespace gauze {
namespace {

using Json = nlohmann::json;

constexpr unsigned kDeepest = 200;

std::string text_of(const Json& node) {
  return node.at("String").value("sval", "");
}

std::string last_name(const Json& names) {
  return text_of(names.back());
}

/// The one operator, whatever schema it is qualified with.
std::string operator_name(const Json& node) {
  const std::string name = last_name(node.at("name"));
  return name == "!=" ? "<>" : name;
}

std::string refused_node(const std::string& type) {
  if (type == "ParamRef") return "parameters ($1) are not supported; write the value";
  if (type == "SQLValueFunction")
    return "the current time or user is not a function of the rows; write the value, as in DATE "
           "'2024-05-01'";
  if (type == "GroupingFunc" || type == "GroupingSet")
    return "ROLLUP, CUBE and GROUPING SETS are not supported; ask one question per grouping";
  if (type == "RowExpr")
    return "row values (a, b) are not supported; compare the columns one by one";
  if (type == "A_Indirection")
    return "array elements and fields are not supported; use plain columns";
  if (type == "CollateClause") return "COLLATE is not supported; remove it";
  if (type == "XmlExpr" || type == "XmlSerialize") return "XML is not supported";
  return "this expression (" + type +
         ") is not supported; use columns, operators and the functions in docs/sql.md";
}

/// What does the same as a cast to a type with a length or precision.
std::string instead_of_length(Type type) {
  if (type == Type::kText) return "write substr(x, 1, 3) for varchar(3)";
  if (type == Type::kDouble) return "write round(x, 2) for numeric(9, 2)";
  return "write date_trunc('minute', x), or leave the precision out";
}

/// PostgreSQL's names of types to ours.
std::optional<Type> type_named(const std::string& name) {
  static const std::array<std::pair<const char*, Type>, 19> kNames = {{
      {"bool", Type::kBoolean},       {"boolean", Type::kBoolean}, {"int2", Type::kInteger},
      {"int4", Type::kInteger},       {"int8", Type::kInteger},    {"integer", Type::kInteger},
      {"bigint", Type::kInteger},     {"numeric", Type::kDouble},  {"decimal", Type::kDouble},
      {"float4", Type::kDouble},      {"float8", Type::kDouble},   {"double", Type::kDouble},
      {"real", Type::kDouble},        {"text", Type::kText},       {"varchar", Type::kText},
      {"string", Type::kText},        {"date", Type::kDate},       {"timestamp", Type::kTimestamp},
      {"datetime", Type::kTimestamp},
  }};
  for (const auto& [text, type] : kNames)
    if (name == text) return type;
  return std::nullopt;
}

Value number_from(const std::string& text) {
  std::int64_t whole = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), whole);
  if (failure == std::errc() && end == text.data() + text.size()) return whole;
  // An exponent of thousands of digits would be an exact number of thousands of digits.
  const std::size_t exponent = text.find_first_of("eE");
  if (text.size() > 400 || (exponent != std::string::npos && text.size() - exponent > 5))
    unsupported("a number in the question is too long");
  const Ratio exact = parse_ratio(text, "number in the question");
  if (abs(exact) > power_of_two(1000)) unsupported("a number in the question is too large");
  return exact;
}

}  // namespace

SqlExpr sql_call(std::string function, std::vector<SqlExpr> arguments) {
  SqlExpr result;
  result.kind = SqlExpr::Kind::kCall;
  result.function = std::move(function);
  result.arguments = std::move(arguments);
  return result;
}

SqlExpr sql_literal(Value value) {
  SqlExpr result;
  result.literal = std::move(value);
  return result;
}

/// libpg_query 15 prints negative integers as if they were 0, so a number that is not above 0 is read from the
/// text of the question.
std::int64_t SqlReader::integer_at(const Json& node) const {
  std::size_t at = node.value("location", std::size_t{0});
  bool negative = false;
  for (; at < text_.size() && !std::isdigit(static_cast<unsigned char>(text_[at])); ++at) {
    const char c = text_[at];
    if (text_.substr(at, 2) == "--" || text_.substr(at, 2) == "/*" ||
        (c != '-' && c != '(' && !std::isspace(static_cast<unsigned char>(c))))
      unsupported("write negative numbers without anything between sign and digits, as in -3");
    if (c == '-') negative = !negative;
  }
  std::int64_t magnitude = 0;
  std::from_chars(text_.data() + at, text_.data() + text_.size(), magnitude);
  return negative ? -magnitude : magnitude;
}

/// Nested repetitions would double at every level.
SqlExpr SqlReader::copied(const SqlExpr& expression) const {
  const auto nodes = [](auto&& self, const SqlExpr& each) -> std::size_t {
    std::size_t count = 1;
    for (const SqlExpr& argument : each.arguments) count += self(self, argument);
    return count;
  };
  copies_ += nodes(nodes, expression);
  if (copies_ > 10'000)
    unsupported("CASE x WHEN and BETWEEN are nested too deeply; use a sub-select");
  return expression;
}

SqlExpr SqlReader::constant(const Json& node) const {
  if (node.contains("ival")) {
    if (node.at("ival").contains("ival"))
      return sql_literal(node.at("ival").at("ival").get<std::int64_t>());
    return sql_literal(integer_at(node));
  }
  if (node.contains("fval")) return sql_literal(number_from(node.at("fval").value("fval", "0")));
  if (node.contains("boolval")) return sql_literal(node.at("boolval").value("boolval", false));
  if (node.contains("sval")) return sql_literal(node.at("sval").value("sval", ""));
  if (node.contains("isnull")) return sql_literal(std::monostate{});
  unsupported("bit strings are not supported");
}

SqlExpr SqlReader::column(const Json& node) const {
  SqlExpr result;
  result.kind = SqlExpr::Kind::kColumn;
  for (const Json& field : node.at("fields")) {
    if (field.contains("A_Star"))
      result.kind = SqlExpr::Kind::kStar;
    else
      result.name.push_back(text_of(field));
  }
  if (result.name.size() > 2)
    unsupported("write columns as table.column, without a schema in front");
  return result;
}

std::vector<SqlExpr> SqlReader::list(const Json& nodes, unsigned depth) const {
  std::vector<SqlExpr> result;
  for (const Json& node : nodes) result.push_back(expression(node, depth));
  return result;
}

SqlExpr SqlReader::operation(const Json& node, unsigned depth) const {
  const std::string kind = node.at("kind");
  const std::string name = operator_name(node);
  std::vector<SqlExpr> sides;
  if (node.contains("lexpr")) sides.push_back(expression(node.at("lexpr"), depth));
  const Json& right = node.at("rexpr");

  if (kind == "AEXPR_IN" || kind.find("BETWEEN") != std::string::npos) {
    for (SqlExpr& item : list(right.at("List").at("items"), depth))
      sides.push_back(std::move(item));
    if (kind == "AEXPR_IN") {
      SqlExpr in = sql_call("in", std::move(sides));
      return name == "<>" ? sql_call("not", {std::move(in)}) : in;
    }
    if (kind.find("SYM") != std::string::npos)
      unsupported("BETWEEN SYMMETRIC is not supported; order the ends");
    SqlExpr between = sql_call("and", {sql_call(">=", {copied(sides[0]), sides[1]}),
                                       sql_call("<=", {sides[0], sides[2]})});
    return kind == "AEXPR_NOT_BETWEEN" ? sql_call("not", {std::move(between)}) : between;
  }
  sides.push_back(expression(right, depth));
  if (kind == "AEXPR_LIKE" || kind == "AEXPR_ILIKE") {
    const bool negated = name[0] == '!';
    SqlExpr like = sql_call(kind == "AEXPR_LIKE" ? "like" : "ilike", std::move(sides));
    return negated ? sql_call("not", {std::move(like)}) : like;
  }
  if (kind == "AEXPR_NULLIF") return sql_call("nullif", std::move(sides));
  if (kind == "AEXPR_DISTINCT") return sql_call("is_distinct", std::move(sides));
  if (kind == "AEXPR_NOT_DISTINCT")
    return sql_call("not", {sql_call("is_distinct", std::move(sides))});
  if (kind != "AEXPR_OP")
    unsupported("ANY, ALL and SIMILAR TO are not supported; use IN (...) and LIKE");
  if (sides.size() == 1 && name == "-") return sql_call("negate", std::move(sides));
  if (sides.size() == 1 && name == "+") return std::move(sides[0]);
  for (const char* known : {"+", "-", "*", "/", "%", "=", "<>", "<", "<=", ">", ">=", "||"})
    if (sides.size() == 2 && name == known) return sql_call(name, std::move(sides));
  unsupported("the operator " + name + " is not supported; use + - * / % = <> < > LIKE IN");
}

SqlExpr SqlReader::function_call(const Json& node, unsigned depth) const {
  for (const auto& [key, value] : node.items()) {
    if (key == "over")
      throw Error(ErrorCode::kNotPrivate,
                  "window functions (OVER) look across rows of different people; use GROUP BY");
    if (key != "funcname" && key != "args" && key != "agg_order" && key != "agg_filter" &&
        key != "agg_within_group" && key != "agg_star" && key != "agg_distinct" &&
        key != "funcformat" && key != "location")
      unsupported("this form of a function call (" + key + ") is not supported");
  }
  SqlExpr result = sql_call(last_name(node.at("funcname")), {});
  if (node.contains("args")) result.arguments = list(node.at("args"), depth);
  result.distinct = node.value("agg_distinct", false);
  result.star = node.value("agg_star", false);
  if (node.contains("agg_filter"))
    result.filter.push_back(expression(node.at("agg_filter"), depth));
  if (node.contains("agg_order")) {
    if (!node.value("agg_within_group", false))
      unsupported("ORDER BY inside an aggregate is not supported; remove it");
    for (const SqlOrder& order_item : order(node.at("agg_order"), depth)) {
      result.within.push_back(order_item.expression);
      result.descending = order_item.descending;
    }
  }
  return result;
}

SqlExpr SqlReader::cast(const Json& node, unsigned depth) const {
  const Json& target = node.at("typeName");
  const std::string name = last_name(target.at("names"));
  if (name == "interval")
    unsupported("intervals are not supported; dates differ by whole days: d + 7, d1 - d2");
  const std::optional<Type> type = type_named(name);
  if (!type || target.contains("arrayBounds"))
    unsupported("casts to " + name +
                " are not supported; use boolean, integer, double, text, date or timestamp");
  if (target.contains("typmods"))
    unsupported("types with a length or precision, which cut or round, are not supported; " +
                instead_of_length(*type));
  SqlExpr argument = expression(node.at("arg"), depth);
  // false and true are written as casts of 'f' and 't' by older grammars.
  return sql_call("to_" + std::string(gauze::name(*type)), {std::move(argument)});
}

SqlExpr SqlReader::case_of(const Json& node, unsigned depth) const {
  std::vector<SqlExpr> arguments;
  std::vector<SqlExpr> subject;
  if (node.contains("arg")) subject.push_back(expression(node.at("arg"), depth));
  for (const Json& branch : node.at("args")) {
    const Json& when = branch.at("CaseWhen");
    SqlExpr condition = expression(when.at("expr"), depth);
    if (!subject.empty()) condition = sql_call("=", {copied(subject[0]), std::move(condition)});
    arguments.push_back(std::move(condition));
    arguments.push_back(expression(when.at("result"), depth));
  }
  arguments.push_back(node.contains("defresult") ? expression(node.at("defresult"), depth)
                                                 : sql_literal(std::monostate{}));
  return sql_call("case", std::move(arguments));
}

SqlExpr SqlReader::sub_query(const Json& node, unsigned depth) const {
  const std::string kind = node.at("subLinkType");
  if (kind == "EXISTS_SUBLINK")
    unsupported("EXISTS is not supported; write: unit IN (SELECT unit FROM ... WHERE ...)");
  if (kind != "ANY_SUBLINK" || (node.contains("operName") && last_name(node.at("operName")) != "="))
    unsupported("a sub-select as a value is not supported; join the table, or use IN (SELECT ...)");
  SqlExpr result;
  result.kind = SqlExpr::Kind::kInQuery;
  result.function = "in";
  result.arguments.push_back(expression(node.at("testexpr"), depth));
  result.query =
      std::make_shared<const SqlSelect>(select(node.at("subselect").at("SelectStmt"), depth));
  return result;
}

SqlExpr SqlReader::expression(const Json& wrapper, unsigned depth) const {
  if (++depth > kDeepest)
    unsupported("the question is nested more than 200 levels deep; ask a simpler one");
  const std::string type = wrapper.begin().key();
  const Json& node = wrapper.begin().value();
  if (type == "A_Const") return constant(node);
  if (type == "ColumnRef") return column(node);
  if (type == "A_Expr") return operation(node, depth);
  if (type == "FuncCall") return function_call(node, depth);
  if (type == "TypeCast") return cast(node, depth);
  if (type == "CaseExpr") return case_of(node, depth);
  if (type == "CoalesceExpr") return sql_call("coalesce", list(node.at("args"), depth));
  if (type == "MinMaxExpr")
    return sql_call(node.value("op", "IS_GREATEST") == "IS_LEAST" ? "least" : "greatest",
                    list(node.at("args"), depth));
  if (type == "BoolExpr") {
    const std::string op = node.at("boolop");
    return sql_call(op == "AND_EXPR"  ? "and"
                    : op == "OR_EXPR" ? "or"
                                      : "not",
                    list(node.at("args"), depth));
  }
  if (type == "NullTest") {
    SqlExpr test = sql_call("is_null", {expression(node.at("arg"), depth)});
    return node.at("nulltesttype") == "IS_NULL" ? test : sql_call("not", {std::move(test)});
  }
  if (type == "BooleanTest") {
    const std::string test = node.at("booltesttype");
    SqlExpr argument = expression(node.at("arg"), depth);
    SqlExpr result =
        test.ends_with("UNKNOWN")
            ? sql_call("is_null", {std::move(argument)})
            : sql_call("coalesce", {test.ends_with("TRUE") ? std::move(argument)
                                                           : sql_call("not", {std::move(argument)}),
                                    sql_literal(false)});
    return test.starts_with("IS_NOT") ? sql_call("not", {std::move(result)}) : result;
  }
  if (type == "SubLink") return sub_query(node, depth);
  if (type == "A_ArrayExpr") {
    SqlExpr result;
    result.kind = SqlExpr::Kind::kArray;
    if (node.contains("elements")) result.arguments = list(node.at("elements"), depth);
    return result;
  }
  unsupported(refused_node(type));
}

}  // namespace gauze
