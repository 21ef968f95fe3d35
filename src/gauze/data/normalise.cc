#include "gauze/data/normalise.h"

#include <algorithm>

#include "gauze/base/error.h"
#include "gauze/base/words.h"

namespace gauze {
namespace {

std::string seen_anew(const Dialect& dialect, Type type, const std::string& x) {
  return type == Type::kDouble ? dialect.unforeseen(x) : x;
}

template <class Write>
std::string named(const ColumnSchema& column, const Write& write) {
  try {
    return write();
  } catch (const Error& error) {
    throw Error(error.code(), "column '" + column.name + "': " + error.what());
  }
}

std::string in_categories(const Dialect& dialect, const Domain& domain, const std::string& x) {
  std::string sql = "(CASE WHEN " + is_in_categories(dialect, domain, x) + " THEN " + x;
  if (domain.fallback)
    sql += " WHEN " + x + " IS NOT NULL THEN " + dialect.literal(*domain.fallback);
  return sql + " END)";
}

}  // namespace

std::string is_in_categories(const Dialect& dialect, const Domain& domain, const std::string& x) {
  std::vector<std::string> texts, values;
  for (const Value& each : *domain.categories) {
    if (domain.type == Type::kText)
      texts.push_back(std::get<std::string>(each));
    else
      values.push_back(dialect.literal(each));
  }
  return values.empty() ? dialect.is_one_of_texts(x, texts) : dialect.is_one_of(x, values);
}

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

void expect_readable(const ColumnSchema& column, const ColumnInfo& source) {
  const Type declared = column.domain.type;
  const bool is_time = source.type == Type::kDate || source.type == Type::kTimestamp;
  std::string is_no;
  if (!source.foreign_type.empty() && declared != Type::kText)
    is_no = source.foreign_type + " there, which is no " + std::string(name(declared)) +
            "; declare it as text";
  else if (is_time && is_numeric(declared))  // days since 1970 are hardly what was meant
    is_no = std::string(name(source.type)) + " there, which is no number; declare it as that";
  if (!is_no.empty())
    throw Error(ErrorCode::kUnsupported,
                "column '" + column.name + "': the data holds the type " + is_no);
}

std::string converted(const Dialect& dialect, const ColumnSchema& column, const ColumnInfo& source,
                      const std::string& column_sql) {
  const Domain& domain = column.domain;
  expect_readable(column, source);
  const std::string x = seen_anew(dialect, source.type, column_sql);
  // Clamping handles NaN, infinity and far dates by itself.
  if (source.type == domain.type && domain.lower && domain.type != Type::kDecimal) return x;
  return named(column, [&] { return dialect.convert(x, source.type, domain.type); });
}

bool says_whose(const Schema& schema, const TableSchema& table, std::string_view column) {
  if (!table.unit.column.empty() && same_name(table.unit.column, column)) return true;
  return std::any_of(schema.tables.begin(), schema.tables.end(), [&](const TableSchema& other) {
    return other.unit.kind == UnitSchema::Kind::kThrough &&
           same_name(other.unit.table, table.name) && same_name(other.unit.key, column);
  });
}

std::string identified(const Dialect& dialect, const ColumnSchema& column, const ColumnInfo& source,
                       const std::string& column_sql) {
  expect_readable(column, source);
  const std::string x = seen_anew(dialect, source.type, column_sql);
  return named(column, [&] { return dialect.identity(x, source.type, column.domain.type); });
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

std::string normalised(const Dialect& dialect, const ColumnSchema& column, const ColumnInfo& source,
                       const std::string& column_sql) {
  return confined(dialect, column, converted(dialect, column, source, column_sql));
}

}  // namespace gauze
