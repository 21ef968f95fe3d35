#include <memory>
#include <string>

#include "command.h"
#include "gauze/service/job.h"
#include "show.h"

namespace gauze::cli {
namespace {

void run(const Registry& registry, const std::string& path, bool json) {
  Job job = read_job(registry, path);
  const Delivery delivery{job.files, job.checkpoint, json};
  job.question.wanted = wanted_for(delivery);
  Workspace workspace(job.data);
  check_files(registry.find(job.question.algorithm), job.files,
              [&](const std::string& each) { return workspace.reads(each); });
  Quote priced = quote(registry, workspace, job.question);
  if (job.explain || priced.task.explain_only) return explain(priced, delivery);
  answer(workspace, std::move(priced), delivery);
}

}  // namespace

void add_run(CLI::App& app, const Registry& registry) {
  CLI::App* command = app.add_subcommand("run", "Run a job described in a JSON file");
  auto path = std::make_shared<std::string>();
  auto json = std::make_shared<bool>(false);
  command->add_option("job", *path, "The file; - reads standard input")->required();
  command->add_flag("--json", *json, "Print the answer, its cost and its bounds as JSON");
  command->footer(
      "A job has the names of the command line, those of what is asked among its \"options\", and "
      "lists "
      "of columns, ranges and conditions as \"columns\", \"ranges\" and \"where\":\n"
      "  {\"sql\": \"SELECT ward, COUNT(*) FROM visits GROUP BY ward\", \"options\": {\"epsilon\": "
      "1},\n"
      "   \"data\": \"hospital\", \"ledger\": \"hospital.ledger\", \"output\": \"wards.csv\"}\n"
      "  {\"algorithm\": \"median\", \"options\": {\"epsilon\": 0.5}, \"data\": \"hospital\", "
      "\"column\": "
      "\"age\"}");
  command->callback([path, json, &registry] { run(registry, *path, *json); });
}

}  // namespace gauze::cli
