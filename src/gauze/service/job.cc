#include "gauze/service/job.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "gauze/base/error.h"
#include "gauze/base/words.h"
#include "gauze/service/files.h"
#include "gauze/service/values.h"

namespace gauze::service {
namespace {

constexpr const char* kSql = "sql";

const std::vector<std::string> kFields = {
    "version", "algorithm", "options", "data",   "schema", "ledger",   "analyst",
    "unit",    "table",     "explain", "output", "report", "artifact", "checkpoint"};

/// Jobs are shallow; what is deep would take a stack frame for each level wherever it is copied.
constexpr int kMostLevels = 16;

[[noreturn]] void invalid(const std::string& message) {
  throw Error(ErrorCode::kInvalidInput, message);
}

/// Files and databases would end a text at a zero byte.
std::string unbroken(const std::string& text, const std::string& field) {
  if (text.find('\0') != std::string::npos) invalid("\"" + field + "\" holds a zero byte");
  return text;
}

std::string text_of(const nlohmann::json& json, const std::string& field) {
  const auto found = json.find(field);
  if (found == json.end()) return "";
  if (!found->is_string()) invalid("\"" + field + "\" must be a text");
  return unbroken(*found, field);
}

/// A text, a list of texts, or an object from table names to texts.
std::vector<std::string> data_of(const nlohmann::json& json) {
  const auto found = json.find("data");
  const char* const wanted =
      "\"data\" must be a file like \"people.csv\", a list of them, or {\"people\": "
      "\"people.csv\"}";
  if (found == json.end()) invalid(std::string("\"data\" is missing: ") + wanted);
  std::vector<std::string> data;
  if (found->is_string()) {
    data.push_back(unbroken(*found, "data"));
  } else if (found->is_array() || found->is_object()) {
    for (const auto& [key, value] : found->items()) {
      if (!value.is_string()) invalid(wanted);
      data.push_back(
          unbroken((found->is_object() ? key + "=" : "") + value.get<std::string>(), "data"));
    }
  }
  if (data.empty()) invalid(wanted);
  return data;
}

std::vector<std::string> texts_of(const nlohmann::json& json, const std::string& field) {
  std::vector<std::string> texts;
  const std::string wanted = '"' + field + "\" must be a list of texts";
  if (!json.at(field).is_array()) invalid(wanted);
  for (const auto& each : json.at(field)) {
    if (!each.is_string()) invalid(wanted);
    texts.push_back(unbroken(each, field));
  }
  return texts;
}

bool flag_of(const nlohmann::json& json, const std::string& field) {
  const auto found = json.find(field);
  if (found == json.end()) return false;
  if (!found->is_boolean()) invalid('"' + field + "\" must be true or false");
  return found->get<bool>();
}

/// The names by which an option may stand in a job: its own, and those of its flags.
bool is_called(const OptionSpec& option, const std::string& name) {
  const std::vector<std::string> flags = list_of(option.flags);
  return option.name == name || std::find(flags.begin(), flags.end(), name) != flags.end();
}

const OptionSpec* asked_as(const Algorithm& algorithm, const std::string& field) {
  for (const OptionSpec& each : algorithm.kind.asks)
    if (each.type != OptionSpec::Type::kFlag && is_called(each, field)) return &each;
  return nullptr;
}

bool is_list(const OptionSpec& option) {
  return option.type == OptionSpec::Type::kTexts || option.type == OptionSpec::Type::kWords ||
         option.type == OptionSpec::Type::kNumbers;
}

/// The value of a field that says which rows are meant. A list under another name of its own has one text,
/// with commas between its parts: "column": "lon,lat".
nlohmann::json asked_in(const nlohmann::json& json, const std::string& field,
                        const OptionSpec& option) {
  if (!is_list(option)) return text_of(json, field);
  if (field == option.name) return texts_of(json, field);
  return list_of(text_of(json, field));
}

std::string fields_text(const Algorithm& algorithm) {
  std::string names;
  for (const OptionSpec& each : algorithm.kind.asks)
    if (each.type != OptionSpec::Type::kFlag)
      names.append(names.empty() ? "" : ", ").append("\"" + each.name + "\"");
  return names.empty() ? "nothing beside its options" : names;
}

/// Where a field that is none belongs: an option into "options", a misspelt field under its name.
std::string place_of(const Registry& registry, const Algorithm& algorithm, const std::string& key) {
  for (const OptionSpec& option : all_options(algorithm))
    if (option.name == key) return "; it is an option: \"options\": {\"" + key + "\": ...}";
  std::vector<std::string> names = kFields;
  for (const Algorithm* each : registry.algorithms())
    for (const OptionSpec& option : each->kind.asks) names.push_back(option.name);
  return did_you_mean(key, names);
}

/// Puts what the fields say which rows are meant among the options.
void add_asks(const Registry& registry, const Algorithm& algorithm, const nlohmann::json& json,
              nlohmann::json& options) {
  for (const auto& [key, value] : json.items()) {
    if (std::find(kFields.begin(), kFields.end(), key) != kFields.end()) continue;
    if (const OptionSpec* asked = asked_as(algorithm, key)) {
      if (options.contains(asked->name))
        invalid("\"" + key + "\" is said twice; give one of its names");
      options[asked->name] = asked_in(json, key, *asked);
      continue;
    }
    for (const Algorithm* each : registry.algorithms())
      if (asked_as(*each, key) != nullptr)
        invalid("\"" + key + "\" does not go with '" + algorithm.name + "', which is told by " +
                fields_text(algorithm));
    throw Error(ErrorCode::kUnknownName, "a job has no field '" + key.substr(0, 40) + "'" +
                                             place_of(registry, algorithm, key));
  }
}

/// The parser keeps one of two equal keys in silence; who wrote both meant something else.
nlohmann::json parsed(const std::string& path, const std::string& text) {
  using Event = nlohmann::json::parse_event_t;
  std::vector<std::set<std::string>> open;
  const auto watch = [&](int depth, Event event, nlohmann::json& json) {
    if (depth >= kMostLevels && (event == Event::object_start || event == Event::array_start))
      invalid("the job '" + path + "' is nested too deeply");
    if (event == Event::object_start) open.emplace_back();
    if (event == Event::object_end) open.pop_back();
    if (event == Event::key && !open.back().insert(json.get<std::string>()).second)
      invalid("the job '" + path + "' holds the name '" + json.get<std::string>().substr(0, 40) +
              "' twice in one object");
    return true;
  };
  try {
    return nlohmann::json::parse(text, watch);
  } catch (const nlohmann::json::parse_error& error) {
    invalid("the job '" + path + "' is no JSON: it breaks off or errs at byte " +
            std::to_string(error.byte));
  } catch (const nlohmann::json::exception&) {
    invalid("the job '" + path + "' has a number that is too large");
  }
}

/// A number or a text, as it would be typed.
std::string typed(const nlohmann::json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

}  // namespace

Job job_from_json(const Registry& registry, const nlohmann::json& json) {
  if (!json.is_object())
    invalid(
        "a job must be an object like {\"sql\": \"SELECT ...\", \"options\": {\"epsilon\": 1}, "
        "\"data\": \"people.csv\"}");
  if (json.contains("version") && json.at("version") != 1)
    invalid("\"version\" must be 1, the only one there is");
  Job job;
  const bool in_sql = json.contains(kSql);
  job.question.algorithm = in_sql ? kSql : text_of(json, "algorithm");
  if (job.question.algorithm.empty() || (in_sql && json.contains("algorithm")))
    invalid("a job must have either \"sql\" or \"algorithm\"");
  const Algorithm& algorithm = registry.find(job.question.algorithm);
  if (json.contains("options")) job.question.options = json.at("options");
  if (!job.question.options.is_object())
    invalid("\"options\" must be an object like {\"epsilon\": 0.5}");
  add_asks(registry, algorithm, json, job.question.options);
  job.question.table = text_of(json, "table");
  job.data.data = data_of(json);
  job.data.schema = text_of(json, "schema");
  job.data.ledger = text_of(json, "ledger");
  job.data.analyst = text_of(json, "analyst");
  job.data.unit = text_of(json, "unit");
  job.explain = flag_of(json, "explain");
  job.files.output = text_of(json, "output");
  job.files.report = text_of(json, "report");
  job.files.artifact = text_of(json, "artifact");
  job.checkpoint = text_of(json, "checkpoint");
  if (!in_sql && job.explain)
    invalid("\"explain\" goes with \"sql\"; algorithms cost what their options say");
  if (in_sql && !job.question.table.empty())
    invalid("\"table\" goes with an algorithm; SQL names its own");
  add_limits(algorithm, job.question.options, job.data);
  return job;
}

Job read_job(const Registry& registry, const std::string& path) {
  Job job = job_from_json(registry, parsed(path, read_all(path)));
  for (const auto& [field, each] :
       {std::pair("output", &job.files.output), std::pair("report", &job.files.report),
        std::pair("artifact", &job.files.artifact), std::pair("checkpoint", &job.checkpoint)}) {
    if (!each->empty() && same_file(*each, path)) refuse_to_replace(*each, field);
  }
  return job;
}

void add_limits(const Algorithm& algorithm, const nlohmann::json& options, DataOptions& data) {
  if (!options.is_object()) return;
  for (const OptionSpec& each : all_options(algorithm)) {
    if (each.name == "threads" && options.contains(each.name))
      data.threads = typed(options.at(each.name));
    if (each.name != "rows_per_unit") continue;
    const bool own =
        std::any_of(algorithm.options.begin(), algorithm.options.end(),
                    [](const OptionSpec& option) { return option.name == "rows_per_unit"; });
    if (options.contains(each.name)) data.rows_per_unit = typed(options.at(each.name));
    // Of each unit one row takes part where the algorithm does not say otherwise.
    else if (!own)
      data.rows_per_unit = each.fallback;
  }
}

}  // namespace gauze::service
