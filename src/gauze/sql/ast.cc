#include "gauze/sql/ast.h"

#include <algorithm>

namespace gauze {
namespace {

std::string joined(const std::vector<SqlExpr>& parts, const std::string& separator) {
  std::string result;
  for (std::size_t i = 0; i < parts.size(); ++i)
    result += (i == 0 ? "" : separator) + to_sql(parts[i]);
  return result;
}

std::string upper(std::string text) {
  for (char& c : text)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 32);
  return text;
}

std::string literal_text(const Value& value) {
  if (std::holds_alternative<std::monostate>(value)) return "NULL";
  if (const auto* text = std::get_if<std::string>(&value)) {
    std::string quoted = "'";
    for (const char c : *text) quoted += c == '\'' ? "''" : std::string(1, c);
    return quoted + "'";
  }
  if (std::holds_alternative<Date>(value)) return "DATE '" + to_text(value) + "'";
  if (std::holds_alternative<Timestamp>(value)) return "TIMESTAMP '" + to_text(value) + "'";
  if (const auto* ratio = std::get_if<Ratio>(&value)) return to_string(*ratio);
  return to_text(value);
}

std::string inner(const SqlExpr& expression) {
  const bool operation =
      expression.kind == SqlExpr::Kind::kCall && !expression.function.empty() &&
      (std::ispunct(static_cast<unsigned char>(expression.function[0])) != 0 ||
       expression.function == "and" || expression.function == "or" || expression.function == "not");
  return operation ? std::string("(") + to_sql(expression) + ")" : to_sql(expression);
}

std::string case_text(const std::vector<SqlExpr>& arguments) {
  std::string result = "CASE";
  std::size_t i = 0;
  for (; i + 1 < arguments.size(); i += 2)
    result += " WHEN " + to_sql(arguments[i]) + " THEN " + to_sql(arguments[i + 1]);
  if (i < arguments.size() && !std::holds_alternative<std::monostate>(arguments[i].literal))
    result += " ELSE " + to_sql(arguments[i]);
  else if (i < arguments.size() && arguments[i].kind != SqlExpr::Kind::kLiteral)
    result += " ELSE " + to_sql(arguments[i]);
  return result + " END";
}

std::string operator_text(const SqlExpr& call) {
  const auto& arguments = call.arguments;
  const std::string& name = call.function;
  if (name == "negate") return std::string("-") + inner(arguments[0]);
  if (name == "is_null") return inner(arguments[0]) + " IS NULL";
  if (name == "is_not_null") return inner(arguments[0]) + " IS NOT NULL";
  if (name == "not" && arguments[0].function == "is_null")
    return inner(arguments[0].arguments[0]) + " IS NOT NULL";
  if (name == "is_distinct")
    return inner(arguments[0]) + " IS DISTINCT FROM " + inner(arguments[1]);
  if (name == "in")
    return inner(arguments[0]) + " IN (" + joined({arguments.begin() + 1, arguments.end()}, ", ") +
           ")";
  if (name == "case") return case_text(arguments);
  if (name.starts_with("to_") && arguments.size() == 1)
    return "CAST(" + to_sql(arguments[0]) + " AS " + name.substr(3) + ")";
  const bool word = name == "and" || name == "or" || name == "like" || name == "ilike";
  if (word || std::ispunct(static_cast<unsigned char>(name[0])) != 0) {
    std::string result;
    for (std::size_t i = 0; i < arguments.size(); ++i)
      result.append(i == 0 ? std::string() : std::string(" ") + upper(name) + " ")
          .append(inner(arguments[i]));
    return result;
  }
  return "";
}

}  // namespace

std::string to_sql(const SqlExpr& expression) {
  switch (expression.kind) {
    case SqlExpr::Kind::kLiteral:
      return literal_text(expression.literal);
    case SqlExpr::Kind::kColumn:
      return expression.name.size() == 2 ? expression.name[0] + "." + expression.name[1]
                                         : expression.name[0];
    case SqlExpr::Kind::kStar:
      return "*";
    case SqlExpr::Kind::kArray:
      return "ARRAY[" + joined(expression.arguments, ", ") + "]";
    case SqlExpr::Kind::kInQuery:
      return to_sql(expression.arguments[0]) + " IN (SELECT ...)";
    case SqlExpr::Kind::kCall:
      break;
  }
  if (!expression.arguments.empty())
    if (std::string text = operator_text(expression); !text.empty()) return text;
  std::string result = upper(expression.function) + "(" + (expression.distinct ? "DISTINCT " : "") +
                       (expression.star ? "*" : joined(expression.arguments, ", ")) + ")";
  if (!expression.within.empty())
    result += " WITHIN GROUP (ORDER BY " + joined(expression.within, ", ") +
              (expression.descending ? " DESC" : "") + ")";
  if (!expression.filter.empty()) result += " FILTER (WHERE " + to_sql(expression.filter[0]) + ")";
  return result;
}

}  // namespace gauze
