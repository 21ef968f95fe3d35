#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "gauze/registry/options.h"

namespace gauze {

/// A private answer ordered in JSON, version 1: what `gauze run` reads. Exactly one of `sql` and
/// `algorithm` is given.
///
/// {"sql": "SELECT ward, COUNT(*) FROM visits GROUP BY ward", "options": {"epsilon": 1},
///  "data": {"visits": "visits.parquet"}, "schema": "hospital.schema.json",
///  "ledger": "hospital.ledger", "output": "wards.csv"}
///
/// {"algorithm": "median", "options": {"epsilon": 0.5}, "data": "people.csv", "column": "age"}
struct JobDescription {
  std::string sql;
  std::string algorithm;
  /// With what the command line has besides: accept_weak, confidence, non_negative, whole, quote_delta, and rows_per_unit.
  nlohmann::json options = nlohmann::json::object();
  std::vector<std::string>
      data;                    ///< FILE, NAME=FILE, a folder, or a database; as on the command line
  std::string schema, ledger;  ///< "": what lies beside the data
  std::string analyst;
  std::string unit;  ///< without a schema: the column that says whose row it is, or the word row
  std::string table, column;  ///< of an algorithm's input; "": the only private table. A histogram
                              ///< takes several columns, with commas between
  std::vector<std::string> columns;  ///< of a histogram, in place of `column`
  bool explain = false;  ///< of a question in SQL: says what it would cost, and asks nothing
  std::vector<std::string> ranges, where;  ///< of a histogram: questions, as on the command line
  std::string output, report;              ///< files to write besides; "" for none
};

/// Throws `kInvalidInput` for what is no such object, and `kUnknownName` for a field that it does
/// not have, naming the nearest.
JobDescription job_from_json(const nlohmann::json& json);

/// The options of a question in SQL by their one spelling; `OptionValues` checks them.
const std::vector<OptionSpec>& question_options();

}  // namespace gauze
