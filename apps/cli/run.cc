#include <memory>

#include "column_release.h"
#include "command.h"
#include "gauze/base/error.h"
#include "gauze/engine/job.h"
#include "gauze/engine/registry.h"
#include "histogram_release.h"
#include "question.h"

namespace gauze::cli {
namespace {

nlohmann::json parsed(const std::string& path) {
  try {
    return nlohmann::json::parse(read_all(path));
  } catch (const nlohmann::json::parse_error& error) {
    throw Error(ErrorCode::kInvalidInput, "the job '" + path +
                                              "' is no JSON: it breaks off or errs at byte " +
                                              std::to_string(error.byte));
  } catch (const nlohmann::json::exception&) {
    throw Error(ErrorCode::kInvalidInput, "the job '" + path + "' has a number that is too large");
  }
}

void run_question(const JobDescription& job, DataOptions data, bool json) {
  const OptionValues values(question_options(), job.options);
  const Terms terms = terms_of(values);
  const AnswerFiles files{job.output, job.report};
  data.threads = values.text("threads");
  Desk desk(data);
  check_files(files, [&](const std::string& each) { return desk.reads(each); });
  Quote priced = quote(desk, job.sql, terms);
  if (priced.explain_only) return hand_out(priced, files, json);
  hand_out(ask(desk, std::move(priced)), files, json);
}

/// Options as they would be typed.
std::map<std::string, std::string> typed(const nlohmann::json& options) {
  std::map<std::string, std::string> words;
  for (const auto& [name, value] : options.items()) {
    std::string& word = words[name];
    for (const auto& part : value.is_array() ? value : nlohmann::json::array({value}))
      word.append(word.empty() ? "" : ",")
          .append(part.is_string() ? part.get<std::string>() : part.dump());
  }
  return words;
}

void run_histogram(const JobDescription& job, const DataOptions& data, bool json) {
  HistogramRequest request;
  request.algorithm = job.algorithm;
  request.options = typed(job.options);
  request.data = data;
  request.table = job.table;
  request.columns = list_of(job.column);
  request.ranges = job.ranges;
  request.where = job.where;
  request.json = json;
  request.files = {job.output, job.report};
  release_histogram(request);
}

void run(const std::string& path, bool json) {
  const JobDescription job = job_from_json(parsed(path));
  for (const auto& [field, each] :
       {std::pair("output", &job.output), std::pair("report", &job.report)}) {
    if (!each->empty() && same_file(*each, path)) refuse_to_replace(*each, field);
  }
  DataOptions data;
  data.data = job.data;
  data.schema = job.schema;
  data.ledger = job.ledger;
  data.analyst = job.analyst;
  if (!job.sql.empty()) return run_question(job, data, json);
  if (find_algorithm(job.algorithm).histogram) return run_histogram(job, data, json);
  require(job.output.empty() && job.report.empty(),
          "\"output\" and \"report\" go with SQL and histograms; a number is printed");
  require(job.ranges.empty() && job.where.empty(), "\"ranges\" and \"where\" go with histograms");
  ColumnRequest request;
  request.algorithm = job.algorithm;
  request.options = job.options;
  request.data = data;
  request.table = job.table;
  request.column = job.column;
  request.json = json;
  release_column(request);
}

}  // namespace

void add_run(CLI::App& app) {
  CLI::App* command = app.add_subcommand("run", "Run a job described in a JSON file");
  auto path = std::make_shared<std::string>();
  auto json = std::make_shared<bool>(false);
  command->add_option("job", *path, "The file; - reads standard input")->required();
  command->add_flag("--json", *json, "Print the answer, its cost and its bounds as JSON");
  command->footer(
      "A job has the names of the command line:\n"
      "  {\"sql\": \"SELECT ward, COUNT(*) FROM visits GROUP BY ward\", \"options\": {\"epsilon\": "
      "1},\n"
      "   \"data\": \"hospital\", \"ledger\": \"hospital.ledger\", \"output\": \"wards.csv\"}\n"
      "  {\"algorithm\": \"median\", \"options\": {\"epsilon\": 0.5}, \"data\": \"hospital\", "
      "\"column\": "
      "\"age\"}");
  command->callback([path, json] { run(*path, *json); });
}

}  // namespace gauze::cli
