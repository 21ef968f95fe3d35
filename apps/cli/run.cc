#include <algorithm>
#include <memory>
#include <set>

#include "column_release.h"
#include "command.h"
#include "gauze/base/error.h"
#include "gauze/engine/job.h"
#include "gauze/engine/registry.h"
#include "histogram_release.h"
#include "question.h"

namespace gauze::cli {
namespace {

/// Jobs are shallow; what is deep would take a stack frame for each level wherever it is copied.
constexpr int kMostLevels = 16;

/// The parser keeps one of two equal keys in silence; who wrote both meant something else.
nlohmann::json parsed(const std::string& path) {
  using Event = nlohmann::json::parse_event_t;
  std::vector<std::set<std::string>> open;
  const auto watch = [&](int depth, Event event, nlohmann::json& json) {
    if (depth >= kMostLevels && (event == Event::object_start || event == Event::array_start))
      throw Error(ErrorCode::kInvalidInput, "the job '" + path + "' is nested too deeply");
    if (event == Event::object_start) open.emplace_back();
    if (event == Event::object_end) open.pop_back();
    if (event == Event::key && !open.back().insert(json.get<std::string>()).second)
      throw Error(ErrorCode::kInvalidInput, "the job '" + path + "' holds the name '" +
                                                json.get<std::string>().substr(0, 40) +
                                                "' twice in one object");
    return true;
  };
  try {
    return nlohmann::json::parse(read_all(path), watch);
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
  if (job.options.contains("rows_per_unit")) data.rows_per_unit = values.text("rows_per_unit");
  Workspace workspace(data);
  check_files(files, [&](const std::string& each) { return workspace.reads(each); });
  Quote priced = quote(workspace, job.sql, terms);
  if (job.explain || priced.explain_only) return hand_out(priced, files, json);
  hand_out(ask(workspace, std::move(priced)), files, json);
}

/// Takes out of the options what the command line has besides those of the algorithm.
OptionValues taken_out(nlohmann::json& options, const Algorithm& algorithm,
                       const std::vector<OptionSpec>& besides) {
  nlohmann::json taken = nlohmann::json::object();
  for (const auto& [name, type, description, fallback] : besides) {
    const bool own = std::any_of(algorithm.options.begin(), algorithm.options.end(),
                                 [&](const OptionSpec& option) { return option.name == name; });
    if (own || !options.is_object() || !options.contains(name)) continue;
    taken[name] = options.at(name);
    options.erase(name);
  }
  return {besides, taken};
}

constexpr const char* kQuoteDelta = "quote_delta";

/// At which delta the cost is quoted, where that is an option.
OptionSpec quote_delta_option() {
  return {kQuoteDelta, OptionSpec::Type::kNumber,
          "at which the cost is quoted when there is no pure guarantee", "0"};
}

std::string quoted_at(const nlohmann::json& options, const OptionValues& besides) {
  return options.is_object() && options.contains(kQuoteDelta) ? besides.text(kQuoteDelta) : "";
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

void run_histogram(JobDescription job, const DataOptions& data, bool json) {
  using Type = OptionSpec::Type;
  const nlohmann::json given = job.options;
  const OptionValues besides = taken_out(
      job.options, find_algorithm(job.algorithm),
      {quote_delta_option(),
       {"accept_weak", Type::kFlag, "allow a cost of epsilon 10 or more, or delta 0.01", "false"},
       {"non_negative", Type::kFlag, "no negative counts", "false"},
       {"whole", Type::kFlag, "whole numbers besides", "false"}});
  HistogramRequest request;
  request.accept_weak = besides.flag("accept_weak");
  request.non_negative = besides.flag("non_negative");
  request.whole = besides.flag("whole");
  request.algorithm = job.algorithm;
  request.options = typed(job.options);
  request.quote_delta = quote_delta(quoted_at(given, besides), request.options);
  request.data = data;
  request.table = job.table;
  request.columns = job.columns.empty() ? list_of(job.column) : job.columns;
  request.ranges = job.ranges;
  request.where = job.where;
  request.json = json;
  request.files = {job.output, job.report};
  release_histogram(request);
}

void run_column(JobDescription job, const DataOptions& data, bool json) {
  using Type = OptionSpec::Type;
  require(job.output.empty() && job.report.empty(),
          "\"output\" and \"report\" go with SQL and histograms; a number is printed");
  require(job.ranges.empty() && job.where.empty() && job.columns.empty(),
          "\"ranges\", \"where\" and \"columns\" go with histograms");
  const nlohmann::json given = job.options;
  const OptionValues besides = taken_out(
      job.options, find_algorithm(job.algorithm),
      {quote_delta_option(),
       {"accept_weak", Type::kFlag, "allow a cost of epsilon 10 or more, or delta 0.01", "false"},
       {"rows_per_unit", Type::kWhole, "1 and no other: of each unit one row takes part", "1"},
       {"confidence", Type::kNumber, "of the error bar", "0.95"}});
  ColumnRequest request;
  request.algorithm = job.algorithm;
  request.options = job.options;
  request.data = data;
  request.data.rows_per_unit = besides.text("rows_per_unit");
  request.table = job.table;
  request.column = job.column;
  request.confidence = besides.real("confidence");
  request.quote_delta = quote_delta(quoted_at(given, besides), typed(job.options));
  request.accept_weak = besides.flag("accept_weak");
  request.json = json;
  release_column(request);
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
  data.unit = job.unit;
  if (!job.sql.empty()) return run_question(job, data, json);
  if (find_algorithm(job.algorithm).histogram) return run_histogram(job, data, json);
  run_column(job, data, json);
}

}  // namespace

void add_run(CLI::App& app) {
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
  command->callback([path, json] { run(*path, *json); });
}

}  // namespace gauze::cli
