#include "gauze/data/normalise.h"

#include "gauze/base/error.h"

namespace gauze {
namespace {

std::string typed(const Dialect& dialect, const Domain& domain, Type source_type,
                  const std::string& x) {
  // Clamping handles NaN, infinity and far dates by itself.
  const bool converted =
      source_type == domain.type && domain.lower.has_value() && domain.type != Type::kDecimal;
  const std::string value = converted ? x : dialect.convert(x, source_type, domain.type);
  return domain.lower ? dialect.clamp(value, domain.type, *domain.lower, *domain.upper) : value;
}

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

std::string normalised(const Dialect& dialect, const ColumnSchema& column, Type source_type,
                       const std::string& column_sql) {
  try {
    const Domain& domain = column.domain;
    std::string sql = typed(dialect, domain, source_type, column_sql);
    if (domain.categories) sql = in_categories(dialect, domain, sql);
    if (domain.nullable) return sql;
    const Value instead = null_substitute(domain);
    return "COALESCE(" + sql + ", " +
           (domain.lower
                ? dialect.clamp(dialect.literal(instead), domain.type, *domain.lower, *domain.upper)
                : dialect.literal(instead)) +
           ")";
  } catch (const Error& error) {
    throw Error(error.code(), "column '" + column.name + "': " + error.what());
  }
}

}  // namespace gauze
