#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "gauze/registry/algorithm.h"
#include "gauze/service/answer_file.h"
#include "gauze/service/ask.h"
#include "gauze/service/workspace.h"

namespace gauze::service {

/// A private answer ordered in JSON, version 1: what `gauze run` reads. Without "algorithm" it is the one
/// that is asked by "sql". What says which rows are meant (column, columns, ranges, where) stands
/// beside the options or among them; all other options, those of the command line, stand among them.
///
/// {"sql": "SELECT ward, COUNT(*) FROM visits GROUP BY ward", "options": {"epsilon": 1},
///  "data": {"visits": "visits.parquet"}, "schema": "hospital.schema.json",
///  "ledger": "hospital.ledger", "output": "wards.csv"}
///
/// {"algorithm": "median", "options": {"epsilon": 0.5}, "data": "people.csv", "column": "age"}
struct Job {
  Question question;
  DataOptions data;
  AnswerFiles files;
  std::string checkpoint;  ///< a file; "" for none
  bool explain = false;    ///< says what it would cost, and asks nothing
};

/// Throws `kInvalidInput` for what is no such object, and `kUnknownName` for a field or an algorithm that
/// there is not, naming the nearest.
Job job_from_json(const Registry& registry, const nlohmann::json& json);

/// The same from a file, or standard input for "-", which the job may not write over.
Job read_job(const Registry& registry, const std::string& path);

/// What options say of the data: how many rows of a unit count, and how many threads read them.
void add_limits(const Algorithm& algorithm, const nlohmann::json& options, DataOptions& data);

}  // namespace gauze::service
