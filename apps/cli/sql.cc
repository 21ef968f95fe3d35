#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "command.h"
#include "data_flags.h"
#include "gauze/base/error.h"
#include "gauze/service/job.h"
#include "option_flags.h"
#include "prompt.h"
#include "show.h"

namespace gauze::cli {
namespace {

constexpr const char* kSql = "sql";

struct SqlRequest {
  std::optional<std::string> sql;  ///< nothing for a conversation
  Question question;
  DataOptions data;
  Delivery delivery;
  bool explain = false;
};

void run(const Registry& registry, SqlRequest request) {
  const bool converses = !request.sql;
  const AnswerFiles& files = request.delivery.files;
  require(converses || request.question.options.contains("epsilon"),
          "--epsilon: is missing; it says what the answer may cost, like --epsilon 1");
  require(!converses || (!request.explain && files.output.empty() && files.report.empty()),
          "--explain, --output and --report go with a question on the command line; in a "
          "conversation, ask EXPLAIN SELECT ...");
  const Algorithm& algorithm = registry.find(kSql);
  add_limits(algorithm, request.question.options, request.data);
  Workspace workspace(request.data);
  if (converses) return converse(registry, workspace, request.question, request.delivery.json);
  check_files(algorithm, files, [&](const std::string& path) { return workspace.reads(path); });
  request.question.options[kSql] = *request.sql;
  request.question.wanted = wanted_for(request.delivery);
  Quote priced = quote(registry, workspace, request.question);
  if (request.explain || priced.task.explain_only) return cli::explain(priced, request.delivery);
  answer(workspace, std::move(priced), request.delivery);
}

}  // namespace

void add_sql(CLI::App& app, const Registry& registry) {
  CLI::App* command = app.add_subcommand(kSql, "Ask a table in SQL and get a private answer");
  auto request = std::make_shared<SqlRequest>();
  request->question.algorithm = kSql;
  std::vector<OptionSpec> options = all_options(registry.find(kSql));
  std::erase_if(options, [](const OptionSpec& each) { return each.name == kSql; });
  command->add_option("query", request->sql, "The question; without it, a conversation begins");
  add_data_options(*command, request->data);
  add_option_flags(*command, options, request->question.options, Missing::kAllowed);
  command->add_flag("--explain", request->explain,
                    "Show plan, noise, cost and expected error; read and spend nothing");
  command->add_option("--output,-o", request->delivery.files.output,
                      "Also write the answer: .csv, .json, .parquet");
  command->add_option("--report", request->delivery.files.report,
                      "Also write a page with charts: .html");
  command->add_flag("--json", request->delivery.json,
                    "Print the answer, its cost and its bounds as JSON");
  command->footer(
      "Examples:\n"
      "  gauze sql \"SELECT ward, COUNT(*) FROM visits GROUP BY ward\" --data hospital --epsilon "
      "1\n"
      "  gauze sql \"SELECT AVG(cost) FROM visits\" -d visits.parquet --epsilon 0.5 --report "
      "cost.html\n"
      "  gauze sql --data hospital --epsilon 0.2        (a conversation)\n"
      "docs/sql.md says which SQL is understood.");
  command->callback([request, &registry] { run(registry, *request); });
}

}  // namespace gauze::cli
