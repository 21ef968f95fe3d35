#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "gauze/data/parquet/footer_internal.h"
#include "gauze/data/parquet/open_internal.h"
#include "gauze/data/parquet/repair_internal.h"

// The engine checks values while it reads them, and nothing can tell it not to, except a file whose
// metadata says that they are bytes and numbers. A copy says so; expressions then turn its bytes
// and numbers into values (parquet.md).
namespace gauze::internal {
namespace {

std::string decimal_type(int precision, int scale) {
  return "DECIMAL(" + std::to_string(precision) + ", " + std::to_string(scale) + ")";
}

std::string cast_to(const std::string& type, const std::string& x) {
  return "CAST(" + x + " AS " + type + ")";
}

/// Bytes are integers in two's complement, the highest first, in units of the last digit. The
/// engine takes the last of them, as many as its type for this precision has, and fails when those
/// before do not just repeat the sign.
std::string decimal_of_bytes(const std::string& bytes, int precision, int scale) {
  const int size = precision <= 4 ? 2 : precision <= 9 ? 4 : precision <= 18 ? 8 : 16;
  const std::string digits = std::to_string(2 * size);  // of 4 bits
  const std::string hex = "hex(" + bytes + ")";
  const std::string sign = "CASE WHEN " + hex + " >= '8' THEN 'F' ELSE '0' END";
  const std::string last =
      "right(repeat(" + sign + ", " + digits + ") || " + hex + ", " + digits + ")";
  const auto number = [](const std::string& of) {  // of at most 16 digits
    return cast_to("HUGEINT", cast_to("UBIGINT", "'0x' || " + of));
  };
  const auto with_sign = [&](const std::string& x, const char* beyond) {
    return '(' + x + " - CASE WHEN " + last + " >= '8' THEN " + beyond + " ELSE 0 END)";
  };
  const char* const k64 = "18446744073709551616";
  const std::string integer = size == 2   ? with_sign(number(last), "65536")
                              : size == 4 ? with_sign(number(last), "4294967296")
                              : size == 8
                                  ? with_sign(number(last), k64)
                                  : '(' + with_sign(number("left(" + last + ", 16)"), k64) + " * " +
                                        k64 + " + " + number("right(" + last + ", 16)") + ")";
  const std::string unit =
      cast_to(decimal_type(scale, scale),
              "'0." + std::string(static_cast<std::size_t>(std::max(scale - 1, 0)), '0') + "1'");
  const std::string value = cast_to(decimal_type(precision, 0), integer);
  return "TRY(CASE WHEN octet_length(" + bytes + ") NOT BETWEEN 1 AND 1000 THEN NULL WHEN " + hex +
         " = repeat(" + sign + ", greatest(length(" + hex + ") - " + digits + ", 0)) || right(" +
         hex + ", " + digits + ") THEN " +
         (scale == 0 ? value : cast_to(decimal_type(precision, scale), value + " * " + unit)) +
         " END)";
}

/// The engine takes the ends of 64 bits for infinities, which are null in UTC (`view_column`), and
/// fails at what has no microseconds; that becomes the last that has.
std::string time_of_milliseconds(const std::string& raw, duckdb_type type) {
  const std::string infinity = std::to_string(INT64_MAX), last = std::to_string(INT64_MAX / 1000);
  const auto infinite = [&](const std::string& sign) {
    return " WHEN " + raw + " = " + sign + infinity + " THEN " +
           (type == DUCKDB_TYPE_TIMESTAMP_TZ ? "NULL" : "TIMESTAMP '" + sign + "infinity'");
  };
  return "CASE" + infinite("") + infinite("-") + " WHEN " + raw +
         " IS NOT NULL THEN make_timestamp(1000 * least(greatest(" + raw + ", -" + last + "), " +
         last + ")) END";
}

/// The same values out of a repaired file, where the column is of type `stored`, as far as there
/// are such: no text is null, time beyond all years its end, a decimal beyond its precision null.
std::string repaired_sql(const ViewColumn& column, duckdb_type stored) {
  const std::string raw = duckdb_dialect().identifier(column.info.name);
  if (column.type == DUCKDB_TYPE_VARCHAR && stored == DUCKDB_TYPE_BLOB)
    return "TRY(decode(" + raw + "))";
  if (column.type == DUCKDB_TYPE_DECIMAL && stored == DUCKDB_TYPE_BLOB)
    return decimal_of_bytes(raw, column.precision, column.scale);
  if (column.info.type == Type::kTimestamp && stored == DUCKDB_TYPE_BIGINT)
    return time_of_milliseconds(raw, column.type);
  return column.sql;
}

/// How the columns of a file are stored. What is a time in one repaired file is a number in
/// another, if that had milliseconds; decimals are bytes where they were stored in bytes.
using Kind = std::vector<std::pair<std::string, duckdb_type>>;

Kind kind_of(DuckDbConnection& connection, const Holder& holder, const std::string& file) {
  Kind kind;
  for (const ViewColumn& column : view_columns(connection, holder, scan_parquet({file})))
    kind.emplace_back(column.info.name, column.type);
  return kind;
}

/// The columns of a table out of repaired files of one kind.
TablePart repaired_part(DuckDbConnection& connection, const Holder& holder,
                        const std::vector<ViewColumn>& columns,
                        const std::vector<std::string>& files) {
  TablePart part{scan_parquet(files), columns};
  const std::vector<ViewColumn> stored = view_columns(connection, holder, part.from);
  for (ViewColumn& column : part.columns) {
    const ViewColumn* found = find_column(stored, column.info.name);
    column.sql = found ? repaired_sql(column, found->type) : "NULL";
  }
  return part;
}

/// Whether the engine failed at a value: text that is not UTF-8 or not JSON, milliseconds without
/// microseconds, decimals that are too long, or statistics of those.
bool is_of_a_value(std::string_view error) {
  constexpr std::string_view kErrors[] = {"Invalid string encoding found in Parquet file",
                                          "Invalid JSON found in Parquet file", "Timestamp(MS)",
                                          "Invalid decimal encoding in Parquet file",
                                          "Information loss on integer cast"};
  return std::any_of(std::begin(kErrors), std::end(kErrors), [&](std::string_view each) {
    return error.find(each) != std::string_view::npos;
  });
}

}  // namespace

std::optional<RepairedParquet> repair_parquet(std::string_view error, const Holder& holder,
                                              const std::vector<ViewColumn>& columns,
                                              DuckDbConnection& connection, const CopyPlace& place,
                                              const std::atomic<bool>& cancelled) {
  if (!error.empty() && !is_of_a_value(error)) return std::nullopt;
  RepairedParquet repaired;
  std::map<Kind, std::vector<std::string>> alike;  // files
  for (const std::string& file : holder.files) {
    auto& copy = repaired.copies.emplace_back(std::make_unique<TemporaryFile>(place.folder));
    if (!copy_with_raw_columns(file, *copy, cancelled)) return std::nullopt;
    const std::string path = place.path(file, *copy);
    alike[kind_of(connection, holder, path)].push_back(path);
  }
  for (const auto& [kind, files] : alike)
    repaired.parts.push_back(repaired_part(connection, holder, columns, files));
  return repaired;
}

}  // namespace gauze::internal
