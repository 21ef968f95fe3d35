#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "gauze/data/dialect.h"
#include "gauze/data/source.h"
#include "gauze/query/relation_internal.h"

namespace gauze {

/// A column of a table before it is confined to its domain.
struct RawColumn {
  std::string sql;  ///< a double as the table has it, with NaN; others `converted`
  ColumnSchema column;
  bool is_real = false;  ///< of a double column
};

/// SQL of an expression, with what is known of its values.
struct Written {
  std::string sql;
  Facts facts;
  std::optional<RawColumn> raw = {};  ///< of what is `confined` of a column, and nothing more
};

/// An expression over columns that are SQL themselves. Total, given the facts that `call_facts` proved.
Written write_expression(const Dialect& dialect, const Expression& expression,
                         const std::vector<Written>& inputs);

/// `x` in another type; numbers, and dates to timestamps.
std::string in_type(const Dialect& dialect, const Written& x, Type type);

/// The part of a SELECT that a relation becomes: flat as long as SQL allows.
struct Fragment {
  std::string from;
  std::vector<std::string> where;
  std::vector<Written> columns;  ///< those not asked for are empty
  std::string unit;
  bool compound = false;  ///< `from` holds a join
};

/// Relations to SQL.
class RelationWriter {
 public:
  /// `each_once`: whoever writes uses each column once, so that long ones need no name of their own.
  RelationWriter(Source& source, const RelationNode& relation, bool each_once = false);

  /// `used[i]`: column i is asked for.
  Fragment write(const RelationPtr& relation, const std::vector<bool>& used);
  std::string select(const std::string& columns, const Fragment& fragment) const;
  /// A line for each column that was written and is read as another type than it is stored.
  const std::vector<std::string>& otherwise() const { return otherwise_; }

 private:
  Fragment scan(const RelationNode& node, const std::vector<bool>& used);
  Fragment project(const RelationNode& node, const std::vector<bool>& used);
  Fragment join(const RelationNode& node, const std::vector<bool>& used);
  Fragment semi_join(const RelationNode& node, const std::vector<bool>& used);
  Fragment union_all(const RelationNode& node, const std::vector<bool>& used);
  Fragment unit_aggregate(const RelationNode& node, const std::vector<bool>& used);
  std::string aggregate(const UnitAggregate& aggregate, const Facts& facts,
                        const std::vector<Written>& inputs);
  /// Throws `kUnsupported` where all expressions together are too long.
  Written expression(const Expression& expression, const std::vector<Written>& inputs);
  /// The fragment as a sub-select with columns c0, c1, ... and u.
  Fragment wrapped(const Fragment& fragment, const std::vector<bool>& used,
                   const std::string& tail = "");
  /// One row per key, whatever the public table holds.
  Fragment deduplicated(Fragment fragment, const std::vector<bool>& used,
                        const std::vector<std::size_t>& key);
  std::string columns_of(const Fragment& fragment, const std::vector<bool>& used) const;
  Fragment named(const std::string& select, const Fragment& like, const std::vector<bool>& used);
  const std::map<std::string, ColumnInfo>& catalogue(const std::string& table);
  void expect_same_spelling(const std::string& table, const ColumnInfo& unit);
  void note_otherwise(const ColumnSchema& column, const ColumnInfo& stored);
  std::string alias() { return std::string(1, 't') += std::to_string(aliases_++); }

  Source& source_;
  const Dialect& dialect_;
  bool each_once_;
  std::string fence_;  ///< behind sub-selects that name what is long
  std::size_t aliases_ = 0, written_ = 0;
  std::optional<bool> units_are_bytes_;
  std::vector<std::string> otherwise_;
  std::map<std::string, std::map<std::string, ColumnInfo>> catalogues_;
};

}  // namespace gauze
