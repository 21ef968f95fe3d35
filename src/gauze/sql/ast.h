#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gauze/data/value.h"

// A question as it was written, reduced to what Gauze can answer: whatever is not here was refused by the parser.

namespace gauze {

struct SqlSelect;

struct SqlExpr {
  enum class Kind : std::uint8_t {
    kLiteral,
    kColumn,   ///< `name` is [table,] column
    kStar,     ///< * or table.*
    kCall,     ///< operators are calls: "+", "and", "case", "=", "in", "coalesce", ...
    kInQuery,  ///< argument IN (query); function is "in" or "not in"
    kArray,    ///< ARRAY[...], for several quantiles at once
  };
  Kind kind = Kind::kLiteral;
  Value literal;
  std::vector<std::string> name;
  std::string function;  ///< lower case
  std::vector<SqlExpr> arguments;
  bool distinct = false;                   ///< f(DISTINCT x)
  bool star = false;                       ///< f(*)
  std::vector<SqlExpr> filter;             ///< FILTER (WHERE ...): none or one
  std::vector<SqlExpr> within;             ///< WITHIN GROUP (ORDER BY ...): none or one
  bool descending = false;                 ///< of `within`
  std::shared_ptr<const SqlSelect> query;  ///< of kInQuery
};

struct SqlFrom {
  enum class Kind : std::uint8_t { kTable, kQuery, kJoin };
  enum class Join : std::uint8_t { kInner, kLeft, kRight, kCross };
  Kind kind = Kind::kTable;
  std::string table;  ///< of kTable
  std::string alias;  ///< "" when there is none
  std::vector<std::string> column_aliases;
  std::shared_ptr<const SqlSelect> query;
  Join join = Join::kInner;
  std::vector<SqlFrom> sides;       ///< of kJoin: two
  std::vector<SqlExpr> condition;   ///< none or one
  std::vector<std::string> shared;  ///< USING (...)
};

struct SqlItem {
  SqlExpr expression;
  std::string name;  ///< AS ...; "" when there is none
};

struct SqlOrder {
  SqlExpr expression;
  bool descending = false;
  bool nulls_first = false;
};

struct SqlCte {
  std::string name;
  std::vector<std::string> columns;
  std::shared_ptr<const SqlSelect> query;
};

struct SqlSelect {
  std::vector<SqlCte> with;
  std::vector<std::shared_ptr<const SqlSelect>> branches;  ///< UNION ALL of these; else empty
  bool distinct = false;
  std::vector<SqlItem> items;
  std::vector<SqlFrom> from;
  std::vector<SqlExpr> where;  ///< none or one
  std::vector<SqlExpr> group_by;
  std::vector<SqlExpr> having;  ///< none or one
  std::vector<SqlOrder> order_by;
  std::optional<std::uint64_t> limit, offset;
};

/// Reads one SELECT, also behind EXPLAIN. Throws `kSyntax`, `kUnsupported`, `kNotPrivate`.
SqlSelect parse_select(std::string_view sql);

/// The expression as a person would write it.
std::string to_sql(const SqlExpr& expression);

}  // namespace gauze
