#include <algorithm>
#include <map>
#include <set>

#include "gauze/query/relation_internal.h"
#include "gauze/sql/evaluate.h"

namespace gauze {
namespace {

using Values = std::optional<std::vector<Value>>;

/// What is known already: a column may be mentioned any number of times.
using Found = std::map<std::pair<const RelationNode*, std::size_t>, Values>;

Values domain_of(const RelationPtr& relation, std::size_t column, Found& found);

constexpr std::size_t kMostValues = 100'000;

/// As the column's type has it: whole numbers among doubles become doubles.
Value in_type(const Value& value, Type type) {
  if (type == Type::kDouble)
    if (const auto number = number_of(value)) return *number;
  return value;
}

/// The different values among `from`, in their order.
std::vector<Value> different(const std::vector<Value>& from, Type type) {
  std::vector<Value> result;
  std::set<Value, decltype(&sorts_before)> seen(&sorts_before);
  for (const Value& each : from) {
    Value value = in_type(each, type);
    if (!is_null(value) && seen.insert(value).second) result.push_back(std::move(value));
  }
  return result;
}

Values from_range(const Facts& facts) {
  if (facts.type == Type::kBoolean) {
    std::vector<Value> both;
    for (const bool each : {false, true}) both.push_back(each);
    return both;
  }
  const bool whole = facts.type == Type::kInteger || facts.type == Type::kDate;
  if (!whole || !facts.bounded() || !facts.missing.empty() ||
      *facts.upper - *facts.lower >= kMostValues)
    return std::nullopt;
  std::vector<Value> result;
  for (std::int64_t i = saturate(numerator(*facts.lower)); Ratio(i) <= *facts.upper; ++i)
    facts.type == Type::kDate ? result.push_back(Date{i}) : result.push_back(i);
  return result;
}

/// The union of a few lists, in the order in which they are written.
Values joined(const std::vector<Values>& parts, Type type) {
  std::vector<Value> all;
  for (const Values& part : parts) {
    if (!part || part->size() > 10'000 || all.size() > kMostValues) return std::nullopt;
    all.insert(all.end(), part->begin(), part->end());
  }
  return different(all, type);
}

/// Our upper and lower are those of ASCII; exp, ln and sqrt differ in the last bit between machines.
bool computed_alike(const std::string& function, const std::vector<Values>& arguments) {
  for (const char* inexact : {"exp", "ln", "sqrt", "power"})
    if (function == inexact) return false;
  if (function != "upper" && function != "lower") return true;
  return std::all_of(arguments[0]->begin(), arguments[0]->end(), [](const Value& value) {
    const auto& text = std::get<std::string>(value);
    return std::all_of(text.begin(), text.end(),
                       [](char c) { return static_cast<unsigned char>(c) < 128; });
  });
}

/// The function's values on every combination of its arguments' values.
Values enumerated(const Expression& call, const std::vector<Values>& arguments, Type type) {
  std::size_t combinations = 1;
  for (const Values& argument : arguments) {
    if (!argument || argument->empty()) return std::nullopt;
    combinations *= argument->size();
    if (combinations > kMostValues) return std::nullopt;
  }
  if (!computed_alike(call.function, arguments)) return std::nullopt;
  Expression at = call;
  std::vector<Value> result;
  for (std::size_t i = 0; i < combinations; ++i) {
    std::size_t rest = i;
    for (std::size_t k = 0; k < arguments.size(); ++k) {
      at.arguments[k] = Expression::of((*arguments[k])[rest % arguments[k]->size()]);
      rest /= arguments[k]->size();
    }
    const Value value = in_type(evaluate(at, {}).value, type);
    if (!is_null(value)) result.push_back(value);
  }
  std::sort(result.begin(), result.end(), sorts_before);
  result.erase(std::unique(result.begin(), result.end()), result.end());
  return result;
}

/// date_trunc over a declared range: each start there is, found by walking the range in days (hours, minutes).
Values trunc_values(const Expression& call, const Facts& time) {
  const auto& part = std::get<std::string>(call.arguments[0].literal);
  const bool date = time.type == Type::kDate;
  if (!time.bounded() || !time.missing.empty()) return std::nullopt;
  const std::int64_t step = part == "hour"     ? 3'600'000'000
                            : part == "minute" ? 60'000'000
                                               : 86'400'000'000;
  const auto at = [&](const Ratio& end) {
    const std::int64_t whole = saturate(numerator(end));
    return date_trunc(part, date ? start_of(Date{whole}) : Timestamp{whole});
  };
  const Timestamp first = at(*time.lower), last = at(*time.upper);
  if ((last.microseconds - first.microseconds) / step >= static_cast<std::int64_t>(kMostValues))
    return std::nullopt;
  std::vector<Value> result;
  for (Timestamp t = first; t <= last; t.microseconds += step) {
    const Timestamp start = date_trunc(part, t);
    const Value value = date ? Value(day_of(start)) : Value(start);
    if (result.empty() || result.back() != value) result.push_back(value);
  }
  return result;
}

Values domain_of_expression(const Expression& expression, const RelationPtr& input,
                            const std::vector<Facts>& facts, Found& found) {
  if (expression.kind == Expression::Kind::kColumn)
    return domain_of(input, expression.column, found);
  if (expression.kind == Expression::Kind::kLiteral)
    return is_null(expression.literal) ? std::vector<Value>{}
                                       : std::vector<Value>{expression.literal};
  const Facts whole = facts_of(expression, facts, Place::kRows);
  if (whole.type == Type::kBoolean) return from_range(whole);
  std::vector<Values> parts;
  for (std::size_t i = 0; i < expression.arguments.size(); ++i) {
    const bool condition =
        expression.function == "case" && i % 2 == 0 && i + 1 < expression.arguments.size();
    if (!condition)
      parts.push_back(domain_of_expression(expression.arguments[i], input, facts, found));
  }
  if (expression.function == "nullif") {
    // Whatever else has one value may be null on some rows, and then takes nothing away.
    const Expression& other = expression.arguments[1];
    if (parts[0] && other.kind == Expression::Kind::kLiteral)
      std::erase(*parts[0], in_type(other.literal, whole.type));
    return parts[0];
  }
  if (expression.function == "date_trunc")
    return trunc_values(expression, facts_of(expression.arguments[1], facts, Place::kRows));
  // Other functions of a null are null; these pass over it.
  if (expression.function == "least" || expression.function == "greatest")
    for (std::size_t i = 0; i < parts.size(); ++i)
      if (parts[i] && facts_of(expression.arguments[i], facts, Place::kRows).nullable)
        parts[i]->push_back(Value());
  Values result = expression.function == "case" || expression.function == "coalesce"
                      ? joined(parts, whole.type)
                      : enumerated(expression, parts, whole.type);
  return result ? result : from_range(whole);
}

Values domain_of_scan(const RelationNode& scan, std::size_t column) {
  const Domain& domain = scan.table.columns[column].domain;
  const Facts& facts = scan.columns[column].facts;
  const bool identity = !facts.missing.empty() && (domain.categories || domain.lower);
  if (domain.categories && !identity) return different(*domain.categories, facts.type);
  return from_range(facts);
}

Values compute_domain(const RelationPtr& relation, std::size_t column, Found& found) {
  const RelationNode& node = *relation;
  const RelationNode* first = node.inputs.empty() ? nullptr : node.inputs[0].get();
  switch (node.kind) {
    case RelationNode::Kind::kScan:
      return domain_of_scan(node, column);
    case RelationNode::Kind::kFilter:
    case RelationNode::Kind::kSemiJoin:
      return domain_of(node.inputs[0], column, found);
    case RelationNode::Kind::kProject:
      return domain_of_expression(node.expressions[column], node.inputs[0], first->facts(), found);
    case RelationNode::Kind::kJoin:
      return column < first->columns.size()
                 ? domain_of(node.inputs[0], column, found)
                 : domain_of(node.inputs[1], column - first->columns.size(), found);
    case RelationNode::Kind::kUnion: {
      std::vector<Values> parts;
      for (const RelationPtr& input : node.inputs) parts.push_back(domain_of(input, column, found));
      return joined(parts, node.columns[column].facts.type);
    }
    case RelationNode::Kind::kUnitAggregate:
      return column < node.expressions.size()
                 ? domain_of_expression(node.expressions[column], node.inputs[0], first->facts(),
                                        found)
                 : from_range(node.columns[column].facts);
  }
  return std::nullopt;
}

Values domain_of(const RelationPtr& relation, std::size_t column, Found& found) {
  const auto key = std::make_pair(relation.get(), column);
  if (const auto known = found.find(key); known != found.end()) return known->second;
  return found.emplace(key, compute_domain(relation, column, found)).first->second;
}

}  // namespace

std::optional<std::vector<Value>> domain_of(const RelationPtr& relation, std::size_t column) {
  Found found;
  return domain_of(relation, column, found);
}

}  // namespace gauze
