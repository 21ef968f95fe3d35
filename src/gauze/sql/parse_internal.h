#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "gauze/sql/ast.h"

namespace gauze {

/// PostgreSQL's parse tree, as libpg_query prints it, to ours. Every node type that is not handled is refused.
class SqlReader {
 public:
  using Json = nlohmann::json;

  explicit SqlReader(std::string_view text) : text_(text) {}

  SqlSelect select(const Json& node, unsigned depth) const;
  SqlExpr expression(const Json& node, unsigned depth) const;

 private:
  SqlFrom from(const Json& node, unsigned depth) const;
  SqlSelect set_operation(const Json& node, unsigned depth) const;
  void clauses(const Json& node, unsigned depth, SqlSelect& result) const;
  std::vector<SqlOrder> order(const Json& node, unsigned depth) const;
  SqlExpr constant(const Json& node) const;
  SqlExpr column(const Json& node) const;
  SqlExpr operation(const Json& node, unsigned depth) const;
  SqlExpr function_call(const Json& node, unsigned depth) const;
  SqlExpr cast(const Json& node, unsigned depth) const;
  SqlExpr case_of(const Json& node, unsigned depth) const;
  SqlExpr sub_query(const Json& node, unsigned depth) const;
  std::vector<SqlExpr> list(const Json& nodes, unsigned depth) const;
  std::int64_t integer_at(const Json& node) const;
  SqlExpr copied(const SqlExpr& expression) const;

  std::string_view text_;
  mutable std::size_t copies_ = 0;  // nodes that CASE x WHEN and BETWEEN repeat
};

/// A call of a function or operator.
SqlExpr sql_call(std::string function, std::vector<SqlExpr> arguments);
SqlExpr sql_literal(Value value);

}  // namespace gauze
