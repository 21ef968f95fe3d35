#include <algorithm>

#include "gauze/base/error.h"
#include "gauze/base/words.h"
#include "gauze/data/text_files_internal.h"
#include "gauze/data/view_column_internal.h"

namespace gauze::internal {

bool is_nested(duckdb_type type) {
  return type == DUCKDB_TYPE_LIST || type == DUCKDB_TYPE_STRUCT || type == DUCKDB_TYPE_MAP ||
         type == DUCKDB_TYPE_ARRAY || type == DUCKDB_TYPE_UNION;
}

namespace {

/// Enumerations, JSON and numbers of any length are written as what they are.
std::string foreign_type(duckdb_type type) {
  switch (type) {
    case DUCKDB_TYPE_BLOB:
      return "blob";
    case DUCKDB_TYPE_UUID:
      return "uuid";
    case DUCKDB_TYPE_INTERVAL:
      return "interval";
    case DUCKDB_TYPE_BIT:
      return "bit";
    case DUCKDB_TYPE_TIME:
    case DUCKDB_TYPE_TIME_TZ:
    case DUCKDB_TYPE_TIME_NS:
      return "time";
    default:
      return "";
  }
}

}  // namespace

ViewColumn view_column(const std::string& name, duckdb_type type) {
  const std::string column = duckdb_dialect().identifier(name);
  switch (type) {
    case DUCKDB_TYPE_BOOLEAN:
      return {{name, Type::kBoolean}, column};
    case DUCKDB_TYPE_TINYINT:
    case DUCKDB_TYPE_SMALLINT:
    case DUCKDB_TYPE_INTEGER:
    case DUCKDB_TYPE_BIGINT:
    case DUCKDB_TYPE_UTINYINT:
    case DUCKDB_TYPE_USMALLINT:
    case DUCKDB_TYPE_UINTEGER:
      return {{name, Type::kInteger}, column};
    case DUCKDB_TYPE_UBIGINT:
    case DUCKDB_TYPE_HUGEINT:
    case DUCKDB_TYPE_UHUGEINT:
    case DUCKDB_TYPE_DECIMAL:
      return {{name, Type::kDecimal}, column};
    case DUCKDB_TYPE_FLOAT:
    case DUCKDB_TYPE_DOUBLE:
      return {{name, Type::kDouble}, column};
    case DUCKDB_TYPE_DATE:
      return {{name, Type::kDate}, column};
    case DUCKDB_TYPE_TIMESTAMP:
      return {{name, Type::kTimestamp}, column};
    case DUCKDB_TYPE_TIMESTAMP_S:
    case DUCKDB_TYPE_TIMESTAMP_MS:
    case DUCKDB_TYPE_TIMESTAMP_NS:
      return {{name, Type::kTimestamp}, "TRY_CAST(" + column + " AS TIMESTAMP)"};
    case DUCKDB_TYPE_TIMESTAMP_TZ:  // its microseconds are UTC's; a cast would ask for the local zone
      return {{name, Type::kTimestamp}, "make_timestamp(epoch_us(" + column + "))"};
    // The engine takes any number of microseconds for a time of day, and writes it without looking:
    // beyond a day, what happens to lie in its memory.
    case DUCKDB_TYPE_TIME:
    case DUCKDB_TYPE_TIME_TZ:
    case DUCKDB_TYPE_TIME_NS:
      return {{name, Type::kText, true, foreign_type(type)},
              "CASE WHEN CAST(" + column +
                  " AS TIME) BETWEEN TIME '00:00:00' AND TIME '24:00:00' " + "THEN CAST(" + column +
                  " AS VARCHAR) END"};
    default:  // of JSON too, whose own casts are other than those of its text, which is what is left of it when mended
      return {{name, Type::kText, true, foreign_type(type)}, "CAST(" + column + " AS VARCHAR)"};
  }
}

void set_type(ViewColumn& column, DuckDbResult& result, idx_t i) {
  duckdb_logical_type type = duckdb_column_logical_type(result.get(), i);
  column.type = duckdb_get_type_id(type);
  column.precision = duckdb_decimal_width(type);
  column.scale = duckdb_decimal_scale(type);
  if (char* alias = duckdb_logical_type_get_alias(type)) {
    column.alias = alias;
    duckdb_free(alias);
  }
  duckdb_destroy_logical_type(&type);
}

std::vector<ViewColumn> view_columns(DuckDbConnection& connection, const Holder& holder,
                                     const std::string& from) {
  DuckDbResult empty;
  if (!connection.try_run("SELECT * FROM " + from + " LIMIT 0", empty)) {
    if (holder.format == Format::kDuckDb)
      throw Error(ErrorCode::kUnknownName, "there is no table '" + holder.table.substr(0, 60) +
                                               "' in " + shown_path(holder.path));
    throw Error(
        ErrorCode::kInvalidInput,
        shown_path(holder.path) +
            (holder.format == Format::kParquet ? " is not a Parquet file" : " cannot be read"));
  }
  std::vector<ViewColumn> columns;
  for (idx_t i = 0; i < duckdb_column_count(empty.get()); ++i) {
    columns.push_back(
        view_column(duckdb_column_name(empty.get(), i), duckdb_column_type(empty.get(), i)));
    set_type(columns.back(), empty, i);
    columns.back().info.typed =
        holder.format == Format::kParquet || holder.format == Format::kDuckDb;
  }
  return columns;
}

const ViewColumn* find_column(const std::vector<ViewColumn>& columns, std::string_view name) {
  const auto found = std::find_if(columns.begin(), columns.end(), [&](const ViewColumn& each) {
    return same_name(each.info.name, name);
  });
  return found == columns.end() ? nullptr : &*found;
}

}  // namespace gauze::internal
