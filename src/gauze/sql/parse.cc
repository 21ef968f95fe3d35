#include "gauze/sql/parse.h"

#include <pg_query.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "gauze/base/error.h"
#include "gauze/sql/ast.h"
#include "gauze/sql/parse_internal.h"

namespace gauze {
namespace {

using Json = nlohmann::json;

// The parser's tree printer recurses without a check of its own; a chain of one-character operators
// is the deepest tree a text can have, and at this length it stays within a small thread's stack.
constexpr std::size_t kLongestText = 20'000;
constexpr std::size_t kDeepestTree = 1'000;

std::string near_word(std::string_view sql, std::size_t position) {
  if (position >= sql.size()) return "the end";
  std::size_t end = position;
  while (end < sql.size() && end - position < 30 &&
         !std::isspace(static_cast<unsigned char>(sql[end])))
    ++end;
  return "'" + std::string(sql.substr(position, std::max<std::size_t>(end - position, 1))) + "'";
}

/// How deeply the braces of JSON nest.
std::size_t nesting(std::string_view json) {
  std::size_t depth = 0, deepest = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (quoted && c == '\\') ++i;
    if (c == '"') quoted = !quoted;
    if (quoted) continue;
    if (c == '{' || c == '[') deepest = std::max(deepest, ++depth);
    if (c == '}' || c == ']') --depth;
  }
  return deepest;
}

Json parse_tree(std::string_view sql) {
  if (sql.size() > kLongestText)
    throw Error(ErrorCode::kUnsupported,
                "the question is longer than 20,000 characters; ask a shorter one");
  if (sql.find('\0') != std::string_view::npos)
    throw Error(ErrorCode::kSyntax, "the question contains a zero byte");
  const std::string text(sql);
  PgQueryParseResult result = pg_query_parse(text.c_str());
  std::string tree, problem;
  if (result.error != nullptr) {
    const auto position = static_cast<std::size_t>(std::max(result.error->cursorpos - 1, 0));
    problem = std::string(result.error->message) + " (character " + std::to_string(position + 1) +
              ", near " + near_word(sql, position) + ")";
  } else {
    tree = result.parse_tree;
  }
  pg_query_free_parse_result(result);
  if (!problem.empty()) throw Error(ErrorCode::kSyntax, "SQL: " + problem);
  // Before anything of ours recurses over it.
  if (nesting(tree) > kDeepestTree)
    throw Error(ErrorCode::kUnsupported, "the question is nested too deeply; ask a simpler one");
  Json parsed = Json::parse(tree, nullptr, false);
  // Texts in an encoding other than UTF-8 end here.
  if (parsed.is_discarded())
    throw Error(ErrorCode::kSyntax, "the question is not valid UTF-8 text");
  return parsed;
}

const Json& only_statement(const Json& tree) {
  const Json& statements = tree.at("stmts");
  if (statements.empty())
    throw Error(ErrorCode::kSyntax, "the question is empty; write SELECT ...");
  if (statements.size() > 1)
    throw Error(ErrorCode::kUnsupported,
                "one question at a time: remove what follows the first ';'");
  return statements.at(0).at("stmt");
}

Expression bound_to(const SqlExpr& written, std::span<const std::string> columns) {
  switch (written.kind) {
    case SqlExpr::Kind::kLiteral:
      return Expression::of(written.literal);
    case SqlExpr::Kind::kColumn: {
      const auto found = std::find(columns.begin(), columns.end(), written.name.back());
      if (found == columns.end() || written.name.size() > 1)
        throw Error(ErrorCode::kUnknownName,
                    "'" + to_sql(written).substr(0, 100) + "' is no column that is counted by");
      return Expression::input(static_cast<std::size_t>(found - columns.begin()));
    }
    case SqlExpr::Kind::kCall: {
      if (written.star || written.distinct || !written.filter.empty() || !written.within.empty())
        break;
      std::vector<Expression> arguments;
      for (const SqlExpr& each : written.arguments) arguments.push_back(bound_to(each, columns));
      return Expression::call(written.function, std::move(arguments));
    }
    default:
      break;
  }
  throw Error(ErrorCode::kUnsupported, "a condition compares columns with values");
}

}  // namespace

Expression parse_condition(std::string_view text, std::span<const std::string> columns) {
  const SqlSelect select = parse_select("SELECT 1 FROM cells WHERE " + std::string(text));
  const bool alone = select.where.size() == 1 && select.branches.empty() && select.with.empty() &&
                     select.group_by.empty() && select.having.empty() && select.order_by.empty() &&
                     !select.limit && !select.offset;
  if (!alone)
    throw Error(ErrorCode::kSyntax, "a condition is what stands after WHERE, and nothing else");
  return bound_to(select.where[0], columns);
}

bool is_explain(std::string_view sql) {
  const Json tree = parse_tree(sql);
  return only_statement(tree).contains("ExplainStmt");
}

SqlSelect parse_select(std::string_view sql) {
  const Json tree = parse_tree(sql);
  const Json* statement = &only_statement(tree);
  if (statement->contains("ExplainStmt")) {
    const Json& explain = statement->at("ExplainStmt");
    if (explain.contains("options"))
      unsupported(
          "EXPLAIN takes no options here and runs nothing: it shows plan, price and expected "
          "error; write EXPLAIN SELECT ...");
    statement = &explain.at("query");
  }
  if (!statement->contains("SelectStmt"))
    throw Error(ErrorCode::kNotPrivate,
                "only questions are answered, nothing is changed: write SELECT ...");
  try {
    return SqlReader(sql).select(statement->at("SelectStmt"), 0);
  } catch (const Json::exception&) {
    throw Error(ErrorCode::kUnsupported,
                "this form of SELECT is not supported; see docs/sql.md for what is");
  }
}

}  // namespace gauze
