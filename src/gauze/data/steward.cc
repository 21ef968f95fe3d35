#include "gauze/data/steward.h"

#include <nlohmann/json.hpp>

#include "gauze/base/error.h"
#include "gauze/base/words.h"
#include "gauze/data/normalise.h"
#include "gauze/data/utf8_internal.h"

namespace gauze {
namespace {

using Json = nlohmann::ordered_json;

Json column_template(const ColumnInfo& info) {
  if (!info.typed)
    return {
        {"type", nullptr},
        {"todo",
         "type: boolean, integer, decimal, double, text, date or timestamp; then lower and upper, "
         "or categories, as far as they are public"}};
  Json json{{"type", name(info.type)}};
  if (info.type == Type::kText) {
    json["categories"] = nullptr;
  } else if (info.type != Type::kBoolean) {
    json["lower"] = nullptr;
    json["upper"] = nullptr;
  }
  return json;
}

/// Counts from one row of integers.
class Counts {
 public:
  Counts(Source& source, const std::string& sql) {
    const auto stream = source.execute(sql);
    Batch batch;
    if (!stream->next(batch)) return;
    for (const BatchColumn& each : batch.columns)
      values_.push_back(static_cast<std::uint64_t>(each.integers[0]));
  }
  std::uint64_t next() { return at_ < values_.size() ? values_[at_++] : 0; }

 private:
  std::vector<std::uint64_t> values_;
  std::size_t at_ = 0;
};

class Checker {
 public:
  Checker(Source& source, const Schema& schema) : source_(source), schema_(schema) {}

  SchemaCheck::Table check(const TableSchema& table) {
    SchemaCheck::Table result;
    result.name = table.name;
    result.unseen = source_.unseen(table.name);
    std::string select = "SELECT count(*), " + count(no_unit(table));
    for (const ColumnSchema& each : table.columns) {
      const std::string raw = column(table, each.name), value = converted(table, each.name, raw);
      select += ", " + count(raw + " IS NOT NULL AND " + value + " IS NULL") + ", " +
                count(outside(each.domain, value)) + ", " +
                count(each.domain.nullable ? "1 = 0" : value + " IS NULL");
    }
    Counts counts(source_, select + " FROM " + table_sql(table));
    result.rows = counts.next();
    result.rows_without_unit = counts.next();
    for (const ColumnSchema& each : table.columns) {
      auto& to = result.columns.emplace_back();
      to.name = each.name;
      to.unreadable = counts.next() + source_.broken_texts(table.name, each.name);
      to.outside = counts.next();
      to.nulls_not_declared = counts.next();
    }
    if (is_owned(table)) check_units(table, result);
    for (const auto& key : table.keys) result.repeated_keys.push_back(repeated(table, key));
    return result;
  }

 private:
  std::string quoted(const std::string& name) const { return source_.dialect().identifier(name); }
  std::string table_sql(const TableSchema& table) const { return source_.table_sql(table.name); }
  static std::string count(const std::string& condition) {
    return "count(CASE WHEN " + condition + " THEN 1 END)";
  }
  std::string column(const TableSchema& table, const std::string& name) {
    return table_sql(table) + "." + quoted(name);
  }

  std::string converted(const TableSchema& table, const std::string& name, const std::string& raw) {
    const ColumnSchema* declared = table.find(name);
    for (const ColumnInfo& info : source_.columns(table.name)) {
      if (!same_name(info.name, name)) continue;
      if (declared && says_whose(schema_, table, name))
        return identified(source_.dialect(), *declared, info, raw);
      if (declared) expect_readable(*declared, info);
      return source_.dialect().convert(
          info.type == Type::kDouble ? source_.dialect().unforeseen(raw) : raw, info.type,
          declared ? declared->domain.type : info.type);
    }
    throw Error(ErrorCode::kUnknownName, "the data of table '" + table.name + "' has no column '" +
                                             name + "', which the schema declares");
  }

  std::string outside(const Domain& domain, const std::string& value) const {
    const Dialect& dialect = source_.dialect();
    if (domain.lower)
      return value + " <> " + dialect.clamp(value, domain.type, *domain.lower, *domain.upper);
    if (!domain.categories) return "1 = 0";
    return "NOT " + is_in_categories(dialect, domain, value);
  }

  std::string no_unit(const TableSchema& table) {
    const UnitSchema& unit = table.unit;
    if (unit.kind == UnitSchema::Kind::kColumn)
      return converted(table, unit.column, column(table, unit.column)) + " IS NULL";
    if (unit.kind != UnitSchema::Kind::kThrough) return "1 = 0";
    const TableSchema& owner = schema_.table(unit.table);
    const std::string key = converted(owner, unit.key, column(owner, unit.key));
    return converted(table, unit.column, column(table, unit.column)) + " IS NULL OR " +
           converted(table, unit.column, column(table, unit.column)) + " NOT IN (SELECT " + key +
           " FROM " + table_sql(owner) + " WHERE " + key + " IS NOT NULL)";
  }

  static bool is_owned(const TableSchema& table) {
    return table.unit.kind == UnitSchema::Kind::kColumn ||
           table.unit.kind == UnitSchema::Kind::kThrough;
  }

  /// A value of each row that belongs to somebody, as k, and whom, as u.
  std::string with_owner(const TableSchema& table, const std::string& value) {
    const std::string own = converted(table, table.unit.column, column(table, table.unit.column));
    if (table.unit.kind == UnitSchema::Kind::kColumn)
      return "SELECT " + value + " AS k, " + own + " AS u FROM " + table_sql(table) + " WHERE " +
             own + " IS NOT NULL";
    const TableSchema& owner = schema_.table(table.unit.table);
    const std::string key = converted(owner, table.unit.key, column(owner, table.unit.key));
    return "SELECT " + value + " AS k, o.u AS u FROM " + table_sql(table) + " JOIN (" +
           with_owner(owner, key) + ") AS o ON " + own + " = o.k";
  }

  void check_units(const TableSchema& table, SchemaCheck::Table& result) {
    Counts counts(source_, "SELECT count(*), " +
                               count("n > " + std::to_string(table.rows_per_unit)) +
                               " FROM (SELECT count(*) AS n FROM (" + with_owner(table, "1") +
                               ") AS owned GROUP BY u) AS units");
    result.units = counts.next();
    result.units_over_bound = counts.next();
  }

  std::uint64_t repeated(const TableSchema& table, const std::vector<std::string>& key) {
    std::string values, there;  // a null equals nothing, and no row refers to it
    for (const std::string& each : key) {
      const std::string value = converted(table, each, column(table, each));
      values += (values.empty() ? "" : ", ") + value;
      there += (there.empty() ? "" : " AND ") + value + " IS NOT NULL";
    }
    return Counts(source_, "SELECT count(*) FROM (SELECT count(*) AS n FROM " + table_sql(table) +
                               " WHERE " + there + " GROUP BY " + values +
                               " HAVING count(*) > 1) AS keys")
        .next();
  }

  Source& source_;
  const Schema& schema_;
};

}  // namespace

Json schema_template(Source& source, const std::vector<std::string>& tables) {
  Json json{{"version", 1}, {"dataset", nullptr}};
  for (const std::string& table : tables) {
    if (!internal::is_utf8(table))
      throw Error(ErrorCode::kInvalidInput, "a table's name is not UTF-8; rename it");
    Json& to = json["tables"][table];
    to["todo"] =
        "unit: the column that says whose a row is, or \"row\" when every row is another person "
        "(then without "
        "rows_per_unit), or \"public\": true instead; rows_per_unit: at most so many rows of a "
        "unit take part";
    to["unit"] = nullptr;
    to["rows_per_unit"] = nullptr;
    for (const ColumnInfo& info : source.columns(table)) {
      if (!internal::is_utf8(info.name))
        throw Error(ErrorCode::kInvalidInput,
                    "a column's name in '" + table +
                        "' is not UTF-8, which names in a schema are; save the file as UTF-8");
      to["columns"][info.name] = column_template(info);
    }
  }
  return json;
}

SchemaCheck check_schema(Source& source, const Schema& schema) {
  Checker checker(source, schema);
  SchemaCheck result;
  for (const TableSchema& each : schema.tables) result.tables.push_back(checker.check(each));
  return result;
}

}  // namespace gauze
