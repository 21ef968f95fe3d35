#include <algorithm>

#include "gauze/base/error.h"
#include "gauze/base/words.h"
#include "gauze/data/parquet/footer_internal.h"
#include "gauze/data/parquet/open_internal.h"
#include "gauze/data/text_files_internal.h"

// What files of Parquet can do wrong by their metadata shows while they are opened.
namespace gauze::internal {

std::string scan_parquet(const std::vector<std::string>& files) {
  return "read_parquet(" + sql_files(files) +
         ", union_by_name = true, hive_types_autocast = false)";
}

namespace {

/// Whether a value in a file's column can always be cast to the type that the engine finds for the
/// column of `all` files, and is the same there. So it is where they are of one type, and among
/// integers, and among doubles.
bool is_cast_whole(const ViewColumn& column, const ViewColumn& all) {
  if (column.info.type != all.info.type) return false;
  if (all.info.type == Type::kInteger || all.info.type == Type::kDouble) return true;
  // Decimals of more digits than they declare, which are null otherwise, cannot be cast to wider
  // ones.
  return column.type == all.type && column.alias == all.alias &&
         column.precision == all.precision && column.scale == all.scale;
}

/// The same column; where it is a decimal, null for what has more digits than it declares. The
/// engine reads some of them and fails at others, and in a repaired file there are none.
std::string within_precision(const ViewColumn& column) {
  if (column.type != DUCKDB_TYPE_DECIMAL) return column.sql;
  std::string most(static_cast<std::size_t>(column.precision), '9');
  if (column.scale > 0) most.insert(most.size() - static_cast<std::size_t>(column.scale), 1, '.');
  const auto end = [&](const std::string& sign) {
    return "CAST(" + sql_text(sign + most) + " AS DECIMAL(" + std::to_string(column.precision) +
           ", " + std::to_string(column.scale) + "))";
  };
  return "CASE WHEN " + column.sql + " BETWEEN " + end("-") + " AND " + end("") + " THEN " +
         column.sql + " END";
}

/// As the engine calls it.
std::string type_in(DuckDbConnection& connection, const std::string& from,
                    const std::string& column) {
  DuckDbResult type;
  const bool found =
      connection.try_run("SELECT column_type FROM (DESCRIBE SELECT * FROM " + from +
                             ") WHERE lower(column_name) = lower(" + sql_text(column) + ")",
                         type);
  return found && type.rows() > 0 ? type.text(0, 0).substr(0, 60) : "unknown";
}

/// One file with another type would change how the values of all others are read: whole numbers
/// become doubles where it has doubles, as some programs write whole numbers of which one is
/// missing. And one value that cannot be cast, as a text to a UUID, would make every question fail.
void expect_same_types(DuckDbConnection& connection, const Holder& holder,
                       const TablePart& together, const std::string& file) {
  const std::string from = scan_parquet({file});
  for (const ViewColumn& column : view_columns(connection, holder, from)) {
    const std::string& name = column.info.name;
    const ViewColumn* all = find_column(together.columns, name);
    if (all && is_cast_whole(column, *all)) continue;
    throw Error(ErrorCode::kInvalidInput,
                "the column '" + name.substr(0, 60) + "' is of type " +
                    type_in(connection, from, name) + " in " + shown_path(file) + " and of type " +
                    type_in(connection, together.from, name) + " in all files of " +
                    shown_path(holder.path) + " together; write them with the same types");
  }
}

/// To the engine they are JSON, and one value that it cannot write makes every question fail.
void leave_out_variants(DuckDbConnection& connection, const std::string& file,
                        std::vector<ViewColumn>& columns) {
  DuckDbResult nested;
  if (std::none_of(columns.begin(), columns.end(),
                   [](const ViewColumn& each) { return each.alias == "JSON"; }))
    return;
  if (!connection.try_run(
          "SELECT name FROM parquet_schema(" + sql_files({file}) + ") WHERE num_children > 0",
          nested))
    return;
  for (std::size_t i = 0; i < nested.rows(); ++i)
    std::erase_if(columns, [&](const ViewColumn& each) {
      return each.alias == "JSON" && same_name(each.info.name, nested.text(i, 0));
    });
}

/// Of decimals that have as many bytes as each value needs the engine reads more than there are:
/// the first byte of what has none, to see its sign, and eight bytes of those with more than 38
/// digits, which are doubles. Those are another row's. Of more than 38 digits in bytes of one size
/// it reads wrong numbers, by the size.
void note_decimals(DuckDbConnection& connection, const std::string& file, OpenedParquet& opened) {
  std::vector<ViewColumn>& columns = opened.part.columns;
  const auto is_decimal = [](const ViewColumn& each) {
    return each.type == DUCKDB_TYPE_DOUBLE || each.type == DUCKDB_TYPE_DECIMAL;
  };
  DuckDbResult found;
  if (std::none_of(columns.begin(), columns.end(), is_decimal)) return;
  if (!connection.try_run("SELECT name FROM parquet_schema(" + sql_files({file}) +
                              ") WHERE (type = 'BYTE_ARRAY' OR (type = "
                              "'FIXED_LEN_BYTE_ARRAY' AND precision > 38)) AND "
                              "(converted_type = 'DECIMAL' OR logical_type LIKE "
                              "'Decimal%')",
                          found))
    return;
  for (std::size_t i = 0; i < found.rows(); ++i) {
    for (ViewColumn& column : columns) {
      if (!same_name(column.info.name, found.text(i, 0))) continue;
      if (column.type == DUCKDB_TYPE_DOUBLE) column.sql = "CAST(NULL AS DOUBLE)";
      opened.repair_first = opened.repair_first || column.type == DUCKDB_TYPE_DECIMAL;
    }
  }
}

/// Whether the engine meets a page that it cannot read hangs on which rows a question is about.
void expect_known_columns(const std::string& file, const ParquetFacts& facts) {
  for (const auto& [name, known] : facts.columns) {
    if (!known)
      throw Error(ErrorCode::kUnsupported,
                  "the column '" + name.substr(0, 60) + "' of " + shown_path(file) +
                      " is packed or encoded in a way that the embedded engine does not read; "
                      "write the file with the usual encodings and Snappy, gzip or Zstandard");
    expect_no_folder_of(file, name);
  }
}

}  // namespace

OpenedParquet open_parquet(DuckDbConnection& connection, const Holder& holder) {
  OpenedParquet opened{{scan_parquet(holder.files)}};
  std::vector<ViewColumn>& columns = opened.part.columns;
  columns = view_columns(connection, holder, opened.part.from);
  if (holder.files.size() > 1)
    for (const std::string& file : holder.files)
      expect_same_types(connection, holder, opened.part, file);
  std::erase_if(columns, [](const ViewColumn& each) { return is_nested(each.type); });
  for (ViewColumn& column : columns) column.sql = within_precision(column);
  for (const std::string& file : holder.files) {
    note_decimals(connection, file, opened);
    leave_out_variants(connection, file, columns);
    const ParquetFacts facts = parquet_facts(parquet_footer(file));
    expect_known_columns(file, facts);
    opened.repair_first = opened.repair_first || facts.old_statistics;
  }
  return opened;
}

}  // namespace gauze::internal
