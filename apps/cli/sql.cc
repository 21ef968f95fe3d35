#include <memory>

#include "command.h"
#include "data_flags.h"
#include "gauze/base/error.h"
#include "option_flags.h"
#include "prompt.h"
#include "question.h"

namespace gauze::cli {
namespace {

struct SqlRequest {
  std::optional<std::string> sql;  ///< nothing for a conversation
  DataOptions data;
  std::map<std::string, std::string> options;  ///< only those that were given
  AnswerFiles files;
  bool explain = false;
  bool json = false;
};

/// With epsilon 0 where none was given.
Terms terms_of(const SqlRequest& request) {
  auto options = request.options;
  const bool priced = !options.emplace("epsilon", "1").second;
  Terms terms = cli::terms_of(OptionValues(question_options(), options));
  if (!priced) terms.epsilon = 0;
  return terms;
}

std::string given(const SqlRequest& request, const char* option) {
  const auto found = request.options.find(option);
  return found == request.options.end() ? "" : found->second;
}

void answer(Workspace& workspace, const SqlRequest& request) {
  check_files(request.files, [&](const std::string& path) { return workspace.reads(path); });
  Quote priced = quote(workspace, *request.sql, terms_of(request));
  if (request.explain || priced.explain_only) return hand_out(priced, request.files, request.json);
  hand_out(ask(workspace, std::move(priced)), request.files, request.json);
}

void run(SqlRequest request) {
  request.data.rows_per_unit = given(request, "rows_per_unit");
  request.data.threads = given(request, "threads");
  const bool converses = !request.sql;
  require(converses || request.options.contains("epsilon"),
          "--epsilon: is missing; it says what the answer may cost, like --epsilon 1");
  require(!converses ||
              (!request.explain && request.files.output.empty() && request.files.report.empty()),
          "--explain, --output and --report go with a question on the command line; in a "
          "conversation, ask EXPLAIN SELECT ...");
  Workspace workspace(request.data);
  if (!converses) return answer(workspace, request);
  converse(workspace, terms_of(request), request.json);
}

}  // namespace

void add_sql(CLI::App& app) {
  CLI::App* command = app.add_subcommand("sql", "Ask a table in SQL and get a private answer");
  auto request = std::make_shared<SqlRequest>();
  command->add_option("query", request->sql, "The question; without it, a conversation begins");
  add_data_options(*command, request->data);
  add_option_flags(*command, question_options(), request->options, Missing::kAllowed);
  command->add_flag("--explain", request->explain,
                    "Show plan, noise, cost and expected error; read and spend nothing");
  command->add_option("--output,-o", request->files.output,
                      "Also write the answer: .csv, .json, .parquet");
  command->add_option("--report", request->files.report, "Also write a page with charts: .html");
  command->add_flag("--json", request->json, "Print the answer, its cost and its bounds as JSON");
  command->footer(
      "Examples:\n"
      "  gauze sql \"SELECT ward, COUNT(*) FROM visits GROUP BY ward\" --data hospital --epsilon "
      "1\n"
      "  gauze sql \"SELECT AVG(cost) FROM visits\" -d visits.parquet --epsilon 0.5 --report "
      "cost.html\n"
      "  gauze sql --data hospital --epsilon 0.2        (a conversation)\n"
      "docs/sql.md says which SQL is understood.");
  command->callback([request] { run(*request); });
}

}  // namespace gauze::cli
