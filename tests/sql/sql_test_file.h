#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "gauze/data/schema.h"

namespace gauze::sql_test {

/// One question of a .test file with what it must give.
struct Case {
  std::string where;  ///< file:line
  std::string schema;
  std::string query;
  std::string error;  ///< the name of a code, or ""
  std::string plan;   ///< what describe() prints
};

inline std::vector<Case> read_cases(const std::filesystem::path& file) {
  std::ifstream in(file);
  std::vector<Case> cases;
  std::string line, schema;
  bool in_plan = false;
  for (std::size_t number = 1; std::getline(in, line); ++number) {
    if (in_plan && !line.empty()) {
      cases.back().plan += line + "\n";
      continue;
    }
    in_plan = false;
    if (line.empty() || line[0] == '#') continue;
    const std::size_t space = line.find(' ');
    const std::string word = line.substr(0, space);
    const std::string rest = space == std::string::npos ? "" : line.substr(space + 1);
    if (word == "schema")
      schema = rest;
    else if (word == "query")
      cases.push_back(
          {file.filename().string() + ":" + std::to_string(number), schema, rest, "", ""});
    else if (word == "error")
      cases.back().error = rest;
    else if (word == "plan")
      in_plan = true;
    else
      throw std::runtime_error(file.string() + ":" + std::to_string(number) + ": unknown word " +
                               word);
  }
  return cases;
}

inline std::vector<Case> all_cases() {
  std::vector<Case> result;
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(GAUZE_SQL_TESTS))
    if (entry.path().extension() == ".test") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  for (const auto& file : files)
    for (Case& each : read_cases(file)) result.push_back(std::move(each));
  return result;
}

inline Schema schema_named(const std::string& name) {
  return read_schema((std::filesystem::path(GAUZE_SQL_TESTS) / (name + ".schema.json")).string());
}

}  // namespace gauze::sql_test
