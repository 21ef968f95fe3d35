#include <algorithm>

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
    // The engine takes any number of microseconds for a time of day, and writes it without looking: beyond a day, what
    // happens to lie in its memory.
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

bool is_cast_whole(const ViewColumn& column, const ViewColumn& all) {
  if (column.info.type != all.info.type) return false;
  if (all.info.type == Type::kInteger || all.info.type == Type::kDouble) return true;
  // Decimals of more digits than they declare, which are null otherwise, cannot be cast to wider ones.
  return column.type == all.type && column.alias == all.alias &&
         column.precision == all.precision && column.scale == all.scale;
}

namespace {

std::string decimal_type(int precision, int scale) {
  return "DECIMAL(" + std::to_string(precision) + ", " + std::to_string(scale) + ")";
}

std::string cast_to(const std::string& type, const std::string& x) {
  return "CAST(" + x + " AS " + type + ")";
}

/// Bytes are integers in two's complement, the highest first, in units of the last digit. The engine takes the last of them, as many
/// as its type for this precision has, and fails when those before do not just repeat the sign.
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

/// The engine takes the ends of 64 bits for infinities, which are null in UTC (`view_column`), and fails at what has no
/// microseconds; that becomes the last that has.
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

}  // namespace

std::string within_precision(const ViewColumn& column) {
  if (column.type != DUCKDB_TYPE_DECIMAL) return column.sql;
  std::string most(static_cast<std::size_t>(column.precision), '9');
  if (column.scale > 0) most.insert(most.size() - static_cast<std::size_t>(column.scale), ".");
  const std::string type = decimal_type(column.precision, column.scale);
  return "CASE WHEN " + column.sql + " BETWEEN " + cast_to(type, sql_text("-" + most)) + " AND " +
         cast_to(type, sql_text(most)) + " THEN " + column.sql + " END";
}

std::string mended_sql(const ViewColumn& column, duckdb_type stored) {
  const std::string raw = duckdb_dialect().identifier(column.info.name);
  if (column.type == DUCKDB_TYPE_VARCHAR && stored == DUCKDB_TYPE_BLOB)
    return "TRY(decode(" + raw + "))";
  if (column.type == DUCKDB_TYPE_DECIMAL && stored == DUCKDB_TYPE_BLOB)
    return decimal_of_bytes(raw, column.precision, column.scale);
  if (column.info.type == Type::kTimestamp && stored == DUCKDB_TYPE_BIGINT)
    return time_of_milliseconds(raw, column.type);
  return column.sql;
}

}  // namespace gauze::internal
