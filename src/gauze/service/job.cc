#include "gauze/engine/job.h"

#include <algorithm>

#include "gauze/base/error.h"
#include "gauze/base/words.h"
#include "gauze/engine/registry_internal.h"

namespace gauze {
namespace {

const std::vector<std::string> kFields = {
    "version", "sql",    "algorithm", "options", "data",  "schema",  "ledger", "analyst", "unit",
    "table",   "column", "columns",   "ranges",  "where", "explain", "output", "report"};

[[noreturn]] void invalid(const std::string& message) {
  throw Error(ErrorCode::kInvalidInput, message);
}

/// Files and databases would end a text at a zero byte.
std::string unbroken(const std::string& text, const char* field) {
  if (text.find('\0') != std::string::npos)
    invalid(std::string("\"") + field + "\" holds a zero byte");
  return text;
}

std::string text_of(const nlohmann::json& json, const char* field) {
  const auto found = json.find(field);
  if (found == json.end()) return "";
  if (!found->is_string()) invalid(std::string("\"") + field + "\" must be a text");
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

std::vector<std::string> texts_of(const nlohmann::json& json, const char* field) {
  std::vector<std::string> texts;
  const auto found = json.find(field);
  if (found == json.end()) return texts;
  const std::string wanted = '"' + std::string(field) + "\" must be a list of texts";
  if (!found->is_array()) invalid(wanted);
  for (const auto& each : *found) {
    if (!each.is_string()) invalid(wanted);
    texts.push_back(unbroken(each, field));
  }
  return texts;
}

bool flag_of(const nlohmann::json& json, const char* field) {
  const auto found = json.find(field);
  if (found == json.end()) return false;
  if (!found->is_boolean()) invalid('"' + std::string(field) + "\" must be true or false");
  return found->get<bool>();
}

/// Where a field that is none belongs: an option into "options", a misspelt field under its name.
std::string place_of(const std::string& key) {
  for (const OptionSpec& option : question_options())
    if (option.name == key) return "; it is an option: \"options\": {\"" + key + "\": ...}";
  return did_you_mean(key, kFields);
}

}  // namespace

JobDescription job_from_json(const nlohmann::json& json) {
  if (!json.is_object())
    invalid(
        "a job must be an object like {\"sql\": \"SELECT ...\", \"options\": {\"epsilon\": 1}, "
        "\"data\": \"people.csv\"}");
  for (const auto& [key, value] : json.items()) {
    if (std::find(kFields.begin(), kFields.end(), key) != kFields.end()) continue;
    throw Error(ErrorCode::kUnknownName,
                "a job has no field '" + key.substr(0, 40) + "'" + place_of(key));
  }
  if (json.contains("version") && json.at("version") != 1)
    invalid("\"version\" must be 1, the only one there is");
  JobDescription job;
  job.sql = text_of(json, "sql");
  job.algorithm = text_of(json, "algorithm");
  if (job.sql.empty() == job.algorithm.empty())
    invalid("a job must have either \"sql\" or \"algorithm\"");
  if (json.contains("options")) job.options = json.at("options");
  job.data = data_of(json);
  job.schema = text_of(json, "schema");
  job.ledger = text_of(json, "ledger");
  job.analyst = text_of(json, "analyst");
  job.unit = text_of(json, "unit");
  job.table = text_of(json, "table");
  job.column = text_of(json, "column");
  job.columns = texts_of(json, "columns");
  job.explain = flag_of(json, "explain");
  job.ranges = texts_of(json, "ranges");
  job.where = texts_of(json, "where");
  job.output = text_of(json, "output");
  job.report = text_of(json, "report");
  if (!job.column.empty() && !job.columns.empty())
    invalid("\"column\" and \"columns\" say the same; give one of them");
  if (job.sql.empty() && job.explain)
    invalid("\"explain\" goes with \"sql\"; algorithms cost what their options say");
  if (!job.sql.empty() && !(job.table.empty() && job.column.empty() && job.columns.empty()))
    invalid("\"table\", \"column\" and \"columns\" go with an algorithm; SQL names its own");
  if (!job.sql.empty() && !(job.ranges.empty() && job.where.empty()))
    invalid("\"ranges\" and \"where\" go with a histogram; SQL has its own WHERE");
  return job;
}

const std::vector<OptionSpec>& question_options() {
  using Type = OptionSpec::Type;
  static const std::vector<OptionSpec> table = {
      internal::epsilon_option(),
      {"delta", Type::kNumber, "from 0 to below 1; above 0 where groups have no public list", "0"},
      {"rows_per_unit", Type::kWhole,
       "at most so many rows of a privacy unit; 0: as the schema says", "0"},
      {"groups_per_unit", Type::kWhole, "in at most so many groups; 0: as the schema says", "0"},
      {"rows_per_group", Type::kWhole, "and at most so many in one group; 0: as the schema says",
       "0"},
      {"memory", Type::kText,
       "for rows that wait, like 4G, then they are spilled; 0: a quarter of the machine's", "0"},
      {"threads", Type::kWhole, "at most so many threads; 0: all cores", "0"},
      {"accept_weak", Type::kFlag, "allow an epsilon of 10 or more", "false"},
  };
  return table;
}

}  // namespace gauze
