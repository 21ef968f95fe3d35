#pragma once

#include <string>

#include "gauze/data/duckdb_internal.h"

// How columns of files become columns of views that have one of our types, by expressions that have a value for
// whatever a row holds (parquet.md).
namespace gauze::internal {

struct ViewColumn {
  ColumnInfo info;
  std::string sql;
  duckdb_type type = DUCKDB_TYPE_INVALID;  ///< of the file, before it was mended
  int precision = 0, scale = 0;            ///< of decimals, before
  std::string alias = {};                  ///< of the type, before: JSON is text with one
};

/// Columns of several values in a row are left out: they would have to be written as text by the engine, and what it
/// writes of times and of mended text is not the same whatever other rows hold.
bool is_nested(duckdb_type type);

ViewColumn view_column(const std::string& name, duckdb_type type);

/// The type of the column `i` of a result.
void set_type(ViewColumn& column, DuckDbResult& result, idx_t i);

/// Whether a value in a file's column can always be cast to the type that the engine finds for the column of `all` files, and
/// is the same there. So it is where they are of one type, and among integers, and among doubles.
bool is_cast_whole(const ViewColumn& column, const ViewColumn& all);

/// The same; where it is a decimal, null for what has more digits than it declares. The engine reads some of them and fails at
/// others, and in a mended file there are none.
std::string within_precision(const ViewColumn& column);

/// The same values out of a mended file, where the column is of type `stored`, as far as there are such: no text is null, time
/// beyond all years its end, a decimal beyond its precision null.
std::string mended_sql(const ViewColumn& column, duckdb_type stored);

}  // namespace gauze::internal
