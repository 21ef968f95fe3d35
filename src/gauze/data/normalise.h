#pragma once

#include <string>
#include <string_view>

#include "gauze/data/dialect.h"
#include "gauze/data/schema.h"
#include "gauze/data/source.h"

namespace gauze {

/// Throws `kUnsupported`, naming the column, where no row of the source has what the schema
/// declares: times are no numbers, and bytes, points or intervals are nothing but text.
void expect_readable(const ColumnSchema& column, const ColumnInfo& source);

/// What a scan puts in the place of a column: `column_sql`, of the source's type, made to keep what
/// the schema promises, whatever the row holds. The result has the declared type (decimals are
/// doubles), lies in the range or the categories, is never NaN or infinite where there is a range,
/// and is null only where the schema allows nulls. Elsewhere a null becomes the default, or the
/// lower end, the first category, 0, false, "", 1970-01-01. Throws `kUnsupported`, naming the
/// column.
std::string normalised(const Dialect& dialect, const ColumnSchema& column, const ColumnInfo& source,
                       const std::string& column_sql);

/// The same in two parts, `confined` of `converted`: columns that are equal after the first are
/// equal after the second, so that the second can be left to groups of equal rows.
std::string converted(const Dialect& dialect, const ColumnSchema& column, const ColumnInfo& source,
                      const std::string& column_sql);
std::string confined(const Dialect& dialect, const ColumnSchema& column, const std::string& x);

/// Whether a column says whose a row is: the unit's, or the key of one to which the unit of another
/// table refers.
bool says_whose(const Schema& schema, const TableSchema& table, std::string_view column);

/// What a scan puts in the place of such a column: exactly what is there, or null, and nothing else
/// whatever the schema says of ranges and nulls. A row with null belongs to nobody.
std::string identified(const Dialect& dialect, const ColumnSchema& column, const ColumnInfo& source,
                       const std::string& column_sql);

/// Whether `x` is one of the categories of its domain, which has some; null where it is null.
std::string is_in_categories(const Dialect& dialect, const Domain& domain, const std::string& x);

/// What a null becomes in a column whose schema allows none.
Value null_substitute(const Domain& domain);

}  // namespace gauze
