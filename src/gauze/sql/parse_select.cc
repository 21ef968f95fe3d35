#include "gauze/base/error.h"
#include "gauze/sql/parse_internal.h"

namespace gauze {
namespace {

using Json = nlohmann::json;

std::vector<std::string> names_in(const Json& nodes) {
  std::vector<std::string> result;
  for (const Json& node : nodes) result.push_back(node.at("String").value("sval", ""));
  return result;
}

void read_alias(const Json& node, SqlFrom& result) {
  if (!node.contains("alias")) return;
  result.alias = node.at("alias").at("aliasname");
  if (node.at("alias").contains("colnames"))
    result.column_aliases = names_in(node.at("alias").at("colnames"));
}

/// What a SELECT may consist of; everything else is refused by name.
void refuse_other_clauses(const Json& node) {
  static constexpr std::pair<const char*, const char*> kRefused[] = {
      {"intoClause", "SELECT INTO writes a table; questions only read"},
      {"windowClause",
       "window functions (OVER) look across rows of different people; use GROUP BY"},
      {"lockingClause", "FOR UPDATE locks rows; remove it"},
      {"valuesLists", "VALUES is not supported; ask SELECT ... FROM a table of the schema"},
      {"groupDistinct", "GROUP BY DISTINCT is not supported; remove DISTINCT"}};
  for (const auto& [clause, message] : kRefused)
    if (node.contains(clause)) unsupported(message);
  static constexpr const char* kKnown[] = {
      "distinctClause", "targetList", "fromClause",  "whereClause", "groupClause",
      "havingClause",   "sortClause", "limitOffset", "limitCount",  "limitOption",
      "withClause",     "op",         "all",         "larg",        "rarg"};
  for (const auto& [clause, value] : node.items()) {
    bool known = false;
    for (const char* name : kKnown) known = known || clause == name;
    if (!known) unsupported("this form of SELECT (" + clause + ") is not supported");
  }
}

std::optional<std::uint64_t> row_count(const SqlExpr& expression, const char* clause) {
  if (expression.kind == SqlExpr::Kind::kLiteral) {
    if (std::holds_alternative<std::monostate>(expression.literal))
      return std::nullopt;  // LIMIT ALL
    const auto* count = std::get_if<std::int64_t>(&expression.literal);
    if (count != nullptr && *count >= 0) return static_cast<std::uint64_t>(*count);
  }
  unsupported(std::string(clause) + " takes a whole number, 0 or more");
}

}  // namespace

std::vector<SqlOrder> SqlReader::order(const Json& nodes, unsigned depth) const {
  std::vector<SqlOrder> result;
  for (const Json& node : nodes) {
    const Json& item = node.at("SortBy");
    const std::string direction = item.value("sortby_dir", "SORTBY_DEFAULT");
    const std::string nulls = item.value("sortby_nulls", "SORTBY_NULLS_DEFAULT");
    if (direction == "SORTBY_USING")
      unsupported("ORDER BY ... USING is not supported; use ASC or DESC");
    SqlOrder by{expression(item.at("node"), depth), direction == "SORTBY_DESC", false};
    by.nulls_first =
        nulls == "SORTBY_NULLS_FIRST" || (nulls == "SORTBY_NULLS_DEFAULT" && by.descending);
    result.push_back(std::move(by));
  }
  return result;
}

SqlFrom SqlReader::from(const Json& wrapper, unsigned depth) const {
  if (++depth > 200)
    unsupported("the question is nested more than 200 levels deep; ask a simpler one");
  const std::string type = wrapper.begin().key();
  const Json& node = wrapper.begin().value();
  SqlFrom result;
  if (type == "RangeVar") {
    if (node.contains("schemaname"))
      unsupported("write tables without a schema in front, as the schema file names them");
    result.table = node.at("relname");
    read_alias(node, result);
    return result;
  }
  if (type == "RangeSubselect") {
    if (node.contains("lateral")) unsupported("LATERAL is not supported; join on the unit instead");
    result.kind = SqlFrom::Kind::kQuery;
    result.query =
        std::make_shared<const SqlSelect>(select(node.at("subquery").at("SelectStmt"), depth));
    read_alias(node, result);
    return result;
  }
  if (type != "JoinExpr")
    unsupported(type == "RangeFunction"
                    ? "functions in FROM are not supported; name a table of the schema"
                : type == "RangeTableSample"
                    ? "TABLESAMPLE is not supported; remove it"
                    : "this form of FROM is not supported; name a table of the schema");
  if (node.contains("isNatural"))
    unsupported("NATURAL JOIN is not supported; write USING (...) or ON ...");
  if (node.contains("alias"))
    unsupported("a name for a whole join is not supported; name its tables");
  const std::string kind = node.at("jointype");
  result.kind = SqlFrom::Kind::kJoin;
  if (kind == "JOIN_FULL")
    throw Error(ErrorCode::kNotPrivate,
                "FULL JOIN makes rows that belong to nobody; use LEFT JOIN or UNION ALL");
  result.join = kind == "JOIN_LEFT"    ? SqlFrom::Join::kLeft
                : kind == "JOIN_RIGHT" ? SqlFrom::Join::kRight
                                       : SqlFrom::Join::kInner;
  result.sides.push_back(from(node.at("larg"), depth));
  result.sides.push_back(from(node.at("rarg"), depth));
  if (node.contains("usingClause")) result.shared = names_in(node.at("usingClause"));
  if (node.contains("quals")) result.condition.push_back(expression(node.at("quals"), depth));
  if (result.shared.empty() && result.condition.empty()) result.join = SqlFrom::Join::kCross;
  return result;
}

SqlSelect SqlReader::set_operation(const Json& node, unsigned depth) const {
  if (node.at("op") != "SETOP_UNION" || !node.value("all", false))
    unsupported(
        "only UNION ALL is supported: UNION, INTERSECT and EXCEPT compare rows of different "
        "people");
  SqlSelect result;
  for (const char* side : {"larg", "rarg"}) {
    SqlSelect branch = select(node.at(side), depth);
    // a UNION ALL b UNION ALL c is one list.
    if (!branch.branches.empty() && branch.with.empty() && branch.order_by.empty() &&
        !branch.limit && !branch.offset)
      for (auto& inner : branch.branches) result.branches.push_back(inner);
    else
      result.branches.push_back(std::make_shared<const SqlSelect>(std::move(branch)));
  }
  return result;
}

void SqlReader::clauses(const Json& node, unsigned depth, SqlSelect& result) const {
  if (node.contains("sortClause")) result.order_by = order(node.at("sortClause"), depth);
  if (node.value("limitOption", "") == "LIMIT_OPTION_WITH_TIES")
    unsupported("WITH TIES is not supported; use LIMIT");
  if (node.contains("limitCount"))
    result.limit = row_count(expression(node.at("limitCount"), depth), "LIMIT");
  if (node.contains("limitOffset"))
    result.offset = row_count(expression(node.at("limitOffset"), depth), "OFFSET");
  if (!node.contains("withClause")) return;
  if (node.at("withClause").value("recursive", false))
    unsupported("WITH RECURSIVE is not supported");
  for (const Json& wrapper : node.at("withClause").at("ctes")) {
    const Json& cte = wrapper.at("CommonTableExpr");
    if (!cte.at("ctequery").contains("SelectStmt")) unsupported("WITH holds SELECTs only");
    SqlCte named{cte.at("ctename"), {}, nullptr};
    if (cte.contains("aliascolnames")) named.columns = names_in(cte.at("aliascolnames"));
    named.query =
        std::make_shared<const SqlSelect>(select(cte.at("ctequery").at("SelectStmt"), depth));
    result.with.push_back(std::move(named));
  }
}

SqlSelect SqlReader::select(const Json& node, unsigned depth) const {
  if (++depth > 200)
    unsupported("the question is nested more than 200 levels deep; ask a simpler one");
  refuse_other_clauses(node);
  if (node.value("op", "SETOP_NONE") != "SETOP_NONE") {
    SqlSelect result = set_operation(node, depth);
    clauses(node, depth, result);
    return result;
  }
  SqlSelect result;
  if (node.contains("distinctClause")) {
    const Json& on = node.at("distinctClause");
    if (!on.empty() && !on.at(0).empty()) unsupported("DISTINCT ON is not supported; use GROUP BY");
    result.distinct = true;
  }
  for (const Json& target : node.value("targetList", Json::array())) {
    const Json& item = target.at("ResTarget");
    result.items.push_back({expression(item.at("val"), depth), item.value("name", "")});
  }
  for (const Json& source : node.value("fromClause", Json::array()))
    result.from.push_back(from(source, depth));
  if (node.contains("whereClause"))
    result.where.push_back(expression(node.at("whereClause"), depth));
  result.group_by = list(node.value("groupClause", Json::array()), depth);
  if (node.contains("havingClause"))
    result.having.push_back(expression(node.at("havingClause"), depth));
  clauses(node, depth, result);
  return result;
}

}  // namespace gauze
