#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "gauze/data/duckdb_internal.h"
#include "gauze/data/holder_internal.h"

// How columns of files become columns of views that have one of our types, by expressions that have
// a value for whatever a row holds (parquet/parquet.md).
namespace gauze::internal {

struct ViewColumn {
  ColumnInfo info;
  std::string sql;
  duckdb_type type = DUCKDB_TYPE_INVALID;  ///< of the file, before it was mended
  int precision = 0, scale = 0;            ///< of decimals, before
  std::string alias = {};                  ///< of the type, before: JSON is text with one
};

/// Columns of several values in a row are left out: they would have to be written as text by the
/// engine, and what it writes of times and of mended text is not the same whatever other rows hold.
bool is_nested(duckdb_type type);

ViewColumn view_column(const std::string& name, duckdb_type type);

/// The type of the column `i` of a result.
void set_type(ViewColumn& column, DuckDbResult& result, idx_t i);

/// The columns of what stands in FROM. Throws `kUnknownName` and `kInvalidInput`.
std::vector<ViewColumn> view_columns(DuckDbConnection& connection, const Holder& holder,
                                     const std::string& from);

/// Null where there is none.
const ViewColumn* find_column(const std::vector<ViewColumn>& columns, std::string_view name);

/// Files of a table that are read alike.
struct TablePart {
  std::string from;  ///< in FROM
  std::vector<ViewColumn> columns = {};
};

}  // namespace gauze::internal
