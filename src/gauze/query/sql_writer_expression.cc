#include <cmath>

#include "gauze/base/error.h"
#include "gauze/base/words.h"
#include "gauze/query/sql_writer_internal.h"
#include "gauze/sql/evaluate.h"

namespace gauze {
namespace {

std::string cast(const std::string& sql, const std::string& type) {
  return std::string("CAST(") + sql + " AS " + type + ")";
}

/// One call, its arguments written.
class Call {
 public:
  Call(const Dialect& dialect, const Expression& call, const std::vector<Written>& arguments,
       const Facts& facts)
      : dialect_(dialect), call_(call), x_(arguments), facts_(facts) {}

  std::string sql() const {
    if (auto text = logic(); !text.empty()) return text;
    if (auto text = arithmetic(); !text.empty()) return text;
    if (auto text = number(); !text.empty()) return text;
    if (auto text = choice(); !text.empty()) return text;
    if (auto text = dates_and_texts(); !text.empty()) return text;
    throw Error(ErrorCode::kInternal, "no SQL for the function " + call_.function);
  }

 private:
  std::string as_double(std::size_t i) const { return in_type(dialect_, x_[i], Type::kDouble); }
  std::string typed(std::size_t i) const { return in_type(dialect_, x_[i], facts_.type); }
  std::string bigint(const std::string& sql) const {
    return cast(sql, dialect_.type_name(Type::kInteger));
  }
  bool is(const char* name) const { return call_.function == name; }
  const Value& constant(std::size_t i) const { return call_.arguments[i].literal; }

  std::string all(const std::string& separator) const {
    std::vector<std::string> parts;
    for (const Written& each : x_) parts.push_back(each.sql);
    return std::string("(") + gauze::joined(parts, separator) + ")";
  }

  std::string logic() const {
    if (is("and")) return all(" AND ");
    if (is("or")) return all(" OR ");
    if (is("not")) return "(NOT " + x_[0].sql + ")";
    if (is("is_null")) return std::string("(") + x_[0].sql + " IS NULL)";
    if (is("is_distinct")) return all(" IS DISTINCT FROM ");
    if (is("=") || is("<>") || is("<") || is("<=") || is(">") || is(">="))
      return all(" " + call_.function + " ");
    if (is("in")) {
      std::vector<std::string> values;
      for (std::size_t i = 1; i < x_.size(); ++i) values.push_back(x_[i].sql);
      return dialect_.is_one_of(x_[0].sql, values);
    }
    if (!is("like") && !is("ilike")) return "";
    return dialect_.like(x_[0].sql, std::get<std::string>(constant(1)), is("ilike"));
  }

  std::string arithmetic() const {
    const bool whole = facts_.type == Type::kInteger;
    if (is("+") || is("-")) {
      if (x_[0].facts.type == Type::kDate && x_[1].facts.type == Type::kDate)
        return bigint(all(" - "));
      if (facts_.type == Type::kDate)
        return std::string("(") + x_[0].sql + " " + call_.function + " " +
               cast(x_[1].sql, "INTEGER") + ")";
      return whole ? all(" " + call_.function + " ")
                   : std::string("(") + as_double(0) + " " + call_.function + " " + as_double(1) +
                         ")";
    }
    if (is("*")) return whole ? all(" * ") : dialect_.multiply(x_[0].sql, x_[1].sql);
    if (is("/")) return dialect_.divide(x_[0].sql, x_[1].sql);
    if (is("//")) return bigint("TRUNC(" + dialect_.divide(x_[0].sql, x_[1].sql) + ")");
    if (is("%")) return all(" % ");
    return "";
  }

  std::string rounded() const {
    if (x_.size() == 1)
      return x_[0].facts.type == Type::kInteger ? x_[0].sql
                                                : dialect_.steps(x_[0].sql, Type::kDouble, 0);
    const std::string scale =
        dialect_.literal(std::pow(10.0, static_cast<double>(std::get<std::int64_t>(constant(1)))));
    // A whole number over a power of ten is no smaller than the power allows: it needs no guard against underflow.
    return "(FLOOR(" + dialect_.multiply(x_[0].sql, scale) + " + " + dialect_.literal(0.5) +
           ") / " + scale + ")";
  }

  std::string bucket() const {
    const double lower = *number_of(constant(1)), upper = *number_of(constant(2)),
                 count = *number_of(constant(3));
    const std::string x = as_double(0), low = dialect_.literal(lower);
    const std::string above = "(" + x + " - " + low + ")";
    // Whole numbers stay exact until the quotient. What is within 1e-150 of the lower end is in the first bucket, for
    // bounds are further apart; its quotient might underflow, which PostgreSQL refuses.
    const std::string steps = "FLOOR(" + above + " * " + dialect_.literal(count) + " / " +
                              dialect_.literal(upper - lower) + ")";
    return "(CASE WHEN " + x + " IS NULL THEN NULL WHEN " + x + " < " + low + " THEN " +
           dialect_.literal(std::int64_t{0}) + " WHEN " + x + " >= " + dialect_.literal(upper) +
           " THEN " + dialect_.literal(static_cast<std::int64_t>(count) + 1) + " WHEN " + above +
           " < " + dialect_.literal(1e-150) + " THEN " + dialect_.literal(std::int64_t{1}) +
           " ELSE " + bigint("LEAST(" + steps + ", " + dialect_.literal(count - 1) + ")") +
           " + 1 END)";
  }

  std::string number() const {
    if (is("negate")) return "(- " + typed(0) + ")";
    if (is("abs")) return "ABS(" + typed(0) + ")";
    if (is("sign")) return bigint("SIGN(" + x_[0].sql + ")");
    if (is("floor") || is("ceil"))
      return x_[0].facts.type == Type::kInteger
                 ? x_[0].sql
                 : bigint((is("floor") ? "FLOOR(" : "CEIL(") + x_[0].sql + ")");
    if (is("round")) return rounded();
    if (is("sqrt")) return "SQRT(" + as_double(0) + ")";
    if (is("exp")) return "EXP(" + as_double(0) + ")";
    if (is("ln")) return "LN(" + as_double(0) + ")";
    if (is("width_bucket")) return bucket();
    if (!is("clamp")) return "";
    Value lower = constant(1), upper = constant(2);
    if (facts_.type == Type::kTimestamp)
      for (Value* end : {&lower, &upper})
        if (const auto* day = std::get_if<Date>(end)) *end = start_of(*day);
    return dialect_.clamp(typed(0), facts_.type, lower, upper);
  }

  std::string choice() const {
    if (is("least") || is("greatest") || is("coalesce")) {
      std::vector<std::string> parts;
      for (std::size_t i = 0; i < x_.size(); ++i) parts.push_back(typed(i));
      return std::string(is("least")      ? "LEAST("
                         : is("greatest") ? "GREATEST("
                                          : "COALESCE(") +
             gauze::joined(parts, ", ") + ")";
    }
    if (is("nullif"))
      return "(CASE WHEN " + x_[0].sql + " = " + x_[1].sql + " THEN NULL ELSE " + x_[0].sql +
             " END)";
    if (!is("case")) return "";
    std::string result = "(CASE";
    for (std::size_t i = 0; i + 1 < x_.size(); i += 2)
      result += " WHEN " + x_[i].sql + " THEN " + typed(i + 1);
    const bool none = call_.arguments.back().kind == Expression::Kind::kLiteral &&
                      is_null(call_.arguments.back().literal);
    return result + (none ? std::string() : " ELSE " + typed(x_.size() - 1)) + " END)";
  }

  std::string dates_and_texts() const {
    if (is("date_part") || is("date_trunc")) {
      const auto& part = std::get<std::string>(constant(0));
      if (is("date_trunc")) return dialect_.date_trunc(part, x_[1].sql, facts_.type);
      if (part == "isodow") return "((" + dialect_.date_part("dow", x_[1].sql) + " + 6) % 7 + 1)";
      return dialect_.date_part(part, x_[1].sql);
    }
    if (call_.function.starts_with("to_")) {
      const Type from = x_[0].facts.type;
      if (from == facts_.type && !x_[0].facts.untyped) return x_[0].sql;
      if (facts_.type == Type::kInteger && from == Type::kDouble)
        return dialect_.steps(x_[0].sql, Type::kDouble, 0);
      return dialect_.convert(x_[0].sql, from, facts_.type);
    }
    if (is("upper")) return "UPPER(" + x_[0].sql + ")";
    if (is("lower")) return "LOWER(" + x_[0].sql + ")";
    if (is("trim") || is("ltrim") || is("rtrim"))
      // Blanks alone: engines differ in what else is white.
      return (is("trim") ? "TRIM(" : is("ltrim") ? "LTRIM(" : "RTRIM(") + x_[0].sql + ", ' ')";
    if (is("length")) return bigint("LENGTH(" + x_[0].sql + ")");
    if (is("substr"))
      return "SUBSTR(" + x_[0].sql + ", " + to_text(constant(1)) + ", " + to_text(constant(2)) +
             ")";
    if (!is("concat")) return "";
    // Two texts of half a gigabyte each would be too long together, so each gives its beginning.
    std::vector<std::string> parts;
    for (std::size_t i = 0; i < x_.size(); ++i)
      parts.push_back(call_.arguments[i].kind == Expression::Kind::kLiteral
                          ? x_[i].sql
                          : "SUBSTR(" + x_[i].sql + ", 1, 1000)");
    return std::string("(") + gauze::joined(parts, " || ") + ")";
  }

  const Dialect& dialect_;
  const Expression& call_;
  const std::vector<Written>& x_;
  const Facts& facts_;
};

}  // namespace

std::string in_type(const Dialect& dialect, const Written& x, Type type) {
  return x.facts.type == type || x.facts.untyped ? x.sql : cast(x.sql, dialect.type_name(type));
}

Written write_expression(const Dialect& dialect, const Expression& expression,
                         const std::vector<Written>& inputs) {
  if (expression.kind == Expression::Kind::kLiteral)
    return {dialect.literal(expression.literal), literal_facts(expression.literal)};
  if (expression.kind == Expression::Kind::kColumn) return inputs.at(expression.column);
  std::vector<Written> arguments;
  std::vector<Facts> facts;
  for (const Expression& argument : expression.arguments) {
    arguments.push_back(write_expression(dialect, argument, inputs));
    facts.push_back(arguments.back().facts);
  }
  Facts whole = call_facts(expression, facts, Place::kRows);
  return {Call(dialect, expression, arguments, whole).sql(), whole};
}

}  // namespace gauze
