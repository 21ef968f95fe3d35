#include "gauze/data/normalise.h"

#include "gauze/base/error.h"

namespace gauze {
namespace {

std::string in_categories(const Dialect& dialect, const Domain& domain, const std::string& x) {
  std::string list;
  for (const Value& each : *domain.categories)
    list += (list.empty() ? "" : ", ") + dialect.literal(each);
  std::string sql = "(CASE WHEN " + x + " IN (" + list + ") THEN " + x;
  if (domain.fallback)
    sql += " WHEN " + x + " IS NOT NULL THEN " + dialect.literal(*domain.fallback);
  return sql + " END)";
}

}  // namespace

Value null_substitute(const Domain& domain) {
  if (domain.fallback) return *domain.fallback;
  if (domain.lower) return *domain.lower;
  if (domain.categories) return domain.categories->front();
  switch (domain.type) {
    case Type::kBoolean:
      return false;
    case Type::kInteger:
      return std::int64_t{0};
    case Type::kDecimal:
      return Ratio(0);
    case Type::kDouble:
      return 0.0;
    case Type::kText:
      return std::string();
    case Type::kDate:
      return Date{0};
    case Type::kTimestamp:
      return Timestamp{0};
  }
  return {};
}

std::string converted(const Dialect& dialect, const ColumnSchema& column, Type source_type,
                      const std::string& column_sql) {
  const Domain& domain = column.domain;
  const bool real = source_type == Type::kDouble;
  const std::string x = real ? dialect.unforeseen(column_sql) : column_sql;
  // Clamping handles NaN, infinity and far dates by itself.
  if (source_type == domain.type && domain.lower && domain.type != Type::kDecimal) return x;
  try {
    return dialect.convert(x, source_type, domain.type);
  } catch (const Error& error) {
    throw Error(error.code(), "column '" + column.name + "': " + error.what());
  }
}

std::string confined(const Dialect& dialect, const ColumnSchema& column, const std::string& x) {
  const Domain& domain = column.domain;
  const auto clamped = [&](const std::string& value) {
    return domain.lower ? dialect.clamp(value, domain.type, *domain.lower, *domain.upper) : value;
  };
  std::string sql = clamped(x);
  if (domain.categories) sql = in_categories(dialect, domain, sql);
  if (domain.nullable) return sql;
  // The lower end is inside, but for one that is no double.
  const std::string substitute = dialect.literal(null_substitute(domain));
  const bool rounded = domain.type == Type::kDouble || domain.type == Type::kDecimal;
  return "COALESCE(" + sql + ", " + (rounded ? clamped(substitute) : substitute) + ")";
}

std::string normalised(const Dialect& dialect, const ColumnSchema& column, Type source_type,
                       const std::string& column_sql) {
  return confined(dialect, column, converted(dialect, column, source_type, column_sql));
}

}  // namespace gauze
