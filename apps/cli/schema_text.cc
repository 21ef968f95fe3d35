#include "schema_text.h"

#include <algorithm>

#include "text.h"

namespace gauze::cli {
namespace {

constexpr std::size_t kMostCategories = 6;

std::string unit_text(const TableSchema& table) {
  const std::string rows = grouped(table.rows_per_unit) +
                           (table.rows_per_unit == 1 ? " row" : " rows") + " of each count" +
                           (table.rows_per_unit == 1 ? "s" : "");
  switch (table.unit.kind) {
    case UnitSchema::Kind::kPublic:
      return "public";
    case UnitSchema::Kind::kRow:
      return "private, each row is somebody else's";
    case UnitSchema::Kind::kColumn:
      return "private by " + table.unit.column + ", at most " + rows;
    case UnitSchema::Kind::kThrough:
      break;
  }
  return "private through " + table.unit.column + " of " + table.unit.table + ", at most " + rows;
}

std::string knowledge(const Domain& domain) {
  if (domain.categories) {
    std::string list;
    const std::size_t shown_count = std::min(domain.categories->size(), kMostCategories);
    for (std::size_t i = 0; i < shown_count; ++i)
      list += (i == 0 ? "" : ", ") + to_text((*domain.categories)[i]);
    if (shown_count < domain.categories->size())
      list += ", ... (" + grouped(domain.categories->size()) + ")";
    return list;
  }
  if (domain.lower && domain.upper) return to_text(*domain.lower) + " to " + to_text(*domain.upper);
  if (domain.type == Type::kBoolean) return "false, true";
  return "nothing: can be counted; as a group key its values are private";
}

std::string table_text(const TableSchema& table_schema) {
  std::vector<std::vector<std::string>> rows;
  for (const ColumnSchema& column : table_schema.columns)
    rows.push_back({column.name, std::string(name(column.domain.type)), knowledge(column.domain)});
  return heading(table_schema.name) + "  " + unit_text(table_schema) + "\n" +
         table(rows, "  ", "l");
}

}  // namespace

std::string schema_text(const Schema& schema, const std::string& only) {
  if (!only.empty()) return table_text(schema.table(only));
  std::string text;
  for (const TableSchema& each : schema.tables) text += table_text(each);
  return text;
}

}  // namespace gauze::cli
