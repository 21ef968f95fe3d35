#include <string_view>

#include "random_questions.h"

// Conditions, expressions and aggregates come from patterns: of [a|b] one is written, {whole}
// stands for any expression of that kind, {} for one of the kind that is asked for.

namespace gauze::sql_test {
namespace {

using Patterns = std::vector<std::string_view>;

const Patterns kConditions = {
    "({whole}[ = | <> | < | <= | > | >= ]{whole})",
    "({whole}[ = | <> | < | <= | > | >= ]{whole})",
    "({real}[ = | <> | < | <= | > | >= ]{real})",
    "({text}[ = | <> | <> ]{text})",
    "({any} IS[| NOT| NOT| NOT] NULL)",
    "({any} IS NOT NULL)",
    "({text}[ IN ('icu', 'er')| NOT IN ('t1', 'f')| IN ('t1', 'ü€', 'm', 'a%b_c')])",
    "({whole}[ IN (1, 2, 3)| BETWEEN 1 AND 5| NOT BETWEEN 0 AND 2])",
    "({text}[ LIKE 't%'| LIKE '_c%'| ILIKE 'T_'| LIKE '%\\%b%'| LIKE 'a%b\\_c'])",
    "({date}[ = | <> | < | <= | > | >= ]['2024-02-01'|DATE '2024-02-29'])",
    "({whole} IS DISTINCT FROM {whole})",
    "[TRUE|({whole} > 0)]",
    "{flag}",
};

const Patterns kConnected = {"({condition} AND {condition})", "({condition} OR {condition})",
                             "(NOT {condition})"};

const Patterns kChosen = {"CASE WHEN {condition} THEN {} ELSE {} END",
                          "CASE WHEN {condition} THEN {} END", "COALESCE({}, {})"};

const Patterns kWhole = {
    "({}[ + | - | * ]{})",
    "({} % [3|7|10])",
    "abs({})",
    "NULLIF({}, [0|1|10])",
    "EXTRACT([month|day|year|dow] FROM {date})",
    "({date} - DATE '2024-01-01')",
    "[least|greatest]({}, {})",
    "sign({})",
    "clamp({}, [0, 5|-3, 3|1, 2])",
    "clamp({key}, 0, 5)",
    "[floor|ceil|round]({real})",
    "[floor|ceil|round]({real})",
    "CAST({real} AS integer)",
    "CAST({flag} AS integer)",
    "width_bucket({real}, [0, 10, 4|-1, 1, 3|0, 1000, 2])",
    "clamp(length({text}), 0, 9)",
    "div({}, NULLIF({}, 0))",
    "EXTRACT([hour|minute|isodow|week|quarter|doy|second] FROM {time})",
    "mod({}, [4|-3])",
    "(- {})",
};

const Patterns kReal = {
    "({}[ + | - | * ]{})",           "abs({})",
    "({} / NULLIF({whole}, 0))",     "({} / clamp({}, 0.01, 5))",
    "[least|greatest]({}, {whole})", "sqrt(abs({}))",
    "exp(clamp({}, -5, 5))",         "ln(clamp({}, 0.001, 10))",
    "round({}, [1|2|-1])",           "CAST({whole} AS double precision)",
    "clamp({key}, -1.5, 2.25)",      "clamp({}, [0, 5|-3.5, 3|0.1, 0.7])",
};

const Patterns kText = {
    "upper({})",
    "lower({})",
    "({} || {})",
    "substr({}, [1, 1|2, 3|1, 2])",
    "trim({})",
    "concat({}, '-', {})",
    "CAST({whole} AS text)",
    "NULLIF({}, 't1')",
};

const Patterns kDate = {
    "date_trunc('[month|week|year|day]', {})",
    "({}[ + | - ]clamp({whole}, -40, 40))",
    "CAST({time} AS date)",
};

const Patterns kAggregates = {
    "COUNT(*)",
    "COUNT({any})",
    "COUNT(DISTINCT {any})",
    "COUNT(DISTINCT {unit})",
    "SUM({number})",
    "SUM({number})",
    "AVG({number})",
    "AVG({number})",
    "[VAR_POP|STDDEV_POP]({number})",
    "[VARIANCE|STDDEV]({number})",
    "COVAR_POP({number}, {number})",
    "CORR({number}, {number})",
    "MEDIAN({number})",
    "MEDIAN([{date}|{time}])",
    "QUANTILE({number}, 0.9)",
    "PERCENTILE_CONT(0.25) WITHIN GROUP (ORDER BY {number})",
    "[MIN|MAX]({number})",
};

}  // namespace

std::string RandomQuestions::conditions(const From& from) {
  std::string text = condition(from.fields, 2);
  const Field* unit = first(from.fields, Kind::kUnit);
  if (unit && dice_.chance(25)) {
    const From list = unit_relation(dice_.between(0, 1));
    text += " AND " + unit->name + (dice_.chance(40) ? " NOT IN (" : " IN (");
    text += "SELECT " + first(list.fields, Kind::kUnit)->name + " FROM " + list.sql;
    text += (dice_.chance(50) ? " WHERE " + condition(list.fields, 1) : "") + ")";
  }
  const Field* ward = first(from.fields, Kind::kCategory);
  if (ward && dice_.chance(15)) {
    text += " AND " + ward->name + (dice_.chance(30) ? " NOT IN (" : " IN (");
    text += dice_.of({"SELECT ward FROM wards)", "SELECT ward FROM wards WHERE floor > 0)"});
  }
  return text;
}

std::string RandomQuestions::condition(const Fields& fields, int depth) {
  const bool connected = depth > 0 && dice_.chance(25);
  return filled(dice_.of(connected ? kConnected : kConditions), fields, Kind::kBoolean, depth - 1);
}

std::string RandomQuestions::expression(const Fields& fields, Kind kind, int depth) {
  if (kind == Kind::kBoolean && (depth <= 0 || dice_.chance(70)))
    return condition(fields, depth - 1);
  if (depth <= 0 || dice_.chance(35)) return leaf(fields, kind);
  const auto one_of = [&](const Patterns& patterns) {
    return filled(dice_.of(dice_.chance(15) ? kChosen : patterns), fields, kind, depth - 1);
  };
  switch (kind) {
    case Kind::kWhole:
      return one_of(kWhole);
    case Kind::kReal:
      return one_of(kReal);
    case Kind::kCategory:
    case Kind::kText:
      return one_of(kText);
    case Kind::kDate:
      return one_of(kDate);
    case Kind::kBoolean:
      return one_of(kChosen);
    default:
      return leaf(fields, kind);
  }
}

std::string RandomQuestions::leaf(const Fields& fields, Kind kind) {
  std::vector<std::string> all;
  for (const Field& field : fields) {
    const bool text = kind == Kind::kText && field.kind == Kind::kCategory;
    const bool real = kind == Kind::kReal && field.kind == Kind::kWhole && dice_.chance(20);
    if (field.kind == kind || text || real) all.push_back(field.name);
  }
  if (!all.empty() && dice_.chance(95)) return dice_.of(all);
  switch (kind) {
    case Kind::kWhole:
      return dice_.of({"1", "2", "0", "-3", "100"});
    case Kind::kReal:
      return dice_.of({"0.5", "1.25", "-2.5", "100.0"});
    case Kind::kCategory:
    case Kind::kText:
      return dice_.of({"'icu'", "'t1'", "'x''y'", "''"});
    case Kind::kBoolean:
      return dice_.of({"TRUE", "FALSE"});
    case Kind::kDate:
      return "DATE '2024-02-10'";
    case Kind::kTime:
      return "TIMESTAMP '2024-05-06 07:08:09'";
    default:
      return "1";
  }
}

std::string RandomQuestions::any(const Fields& fields, int depth) {
  if (dice_.chance(40)) return dice_.of(fields).name;
  const Kind kind = dice_.of({Kind::kWhole, Kind::kReal, Kind::kText, Kind::kBoolean, Kind::kDate});
  return expression(fields, kind, depth);
}

/// A key mostly says something about the row.
std::string RandomQuestions::key_expression(const From& from) {
  if (dice_.chance(35)) {
    const Field& field = dice_.of(from.fields);
    const std::string name = column(field);
    const bool has_bins = name == "age" || name == "days";
    if (has_bins && dice_.chance(30)) return "bin(" + field.name + ")";
    if (field.kind != Kind::kUnit) return field.name;
  }
  if (dice_.chance(5)) return any(from.fields, 1);
  for (int i = 0; i < 6; ++i) {
    const Kind kind = dice_.of(
        {Kind::kWhole, Kind::kText, Kind::kCategory, Kind::kBoolean, Kind::kDate, Kind::kReal});
    const std::string key = expression(from.fields, kind, dice_.between(0, 2));
    for (const Field& field : from.fields)
      if (key.find(field.name) != std::string::npos) return key;
  }
  return from.fields.back().name;
}

std::string RandomQuestions::aggregate(const Fields& fields) {
  std::string call = filled(dice_.of(kAggregates), fields, Kind::kWhole, dice_.between(0, 2));
  if (dice_.chance(20)) call += " FILTER (WHERE " + condition(fields, 1) + ")";
  return call;
}

std::string RandomQuestions::filled(std::string_view pattern, const Fields& fields, Kind kind,
                                    int depth) {
  std::string text;
  while (!pattern.empty()) {
    const char open = pattern.front();
    const std::size_t end = open == '[' ? pattern.find(']') : open == '{' ? pattern.find('}') : 0;
    if (end == 0) text += open;
    if (open == '[') {
      std::vector<std::string_view> all;
      for (std::size_t from = 1; from <= end;) {
        const std::size_t to = std::min(pattern.find('|', from), end);
        all.push_back(pattern.substr(from, to - from));
        from = to + 1;
      }
      text += filled(dice_.of(all), fields, kind, depth);
    } else if (open == '{') {
      text += part(pattern.substr(1, end - 1), fields, kind, depth);
    }
    pattern.remove_prefix(end + 1);
  }
  return text;
}

std::string RandomQuestions::part(std::string_view name, const Fields& fields, Kind kind,
                                  int depth) {
  static const std::map<std::string_view, Kind> kKinds = {
      {"whole", Kind::kWhole}, {"real", Kind::kReal}, {"text", Kind::kText},
      {"date", Kind::kDate},   {"time", Kind::kTime}, {"key", Kind::kKey}};
  if (name.empty()) return expression(fields, kind, depth);
  if (name == "condition") return condition(fields, depth);
  if (name == "flag") return leaf(fields, Kind::kBoolean);
  if (name == "unit") return leaf(fields, Kind::kUnit);
  if (name == "any") return any(fields, depth);
  if (name == "number") return expression(fields, dice_.of({Kind::kReal, Kind::kWhole}), depth);
  return expression(fields, kKinds.at(name), depth);
}

}  // namespace gauze::sql_test
