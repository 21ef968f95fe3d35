#pragma once

#include <map>
#include <string>
#include <vector>

#include "gauze/engine/rows.h"
#include "gauze/service/workspace.h"
#include "question.h"

namespace gauze::cli {

/// A histogram of columns of a private table, or of counts in a file.
struct HistogramRequest {
  std::string algorithm;
  std::map<std::string, std::string> options;
  service::DataOptions data;
  std::string table;
  std::vector<std::string> columns;
  std::string file = "-";  ///< of counts, where there is no `data`
  ColumnChoice choice = {};
  std::vector<std::string> ranges;
  std::vector<std::string> where;  ///< conditions in SQL
  bool non_negative = false;
  bool whole = false;
  double quote_delta = 1e-6;
  bool accept_weak = false;
  bool json = false;
  AnswerFiles files = {};
};

/// Releases it through the one door, with the ledger if there is one, prints it and writes the files.
void release_histogram(const HistogramRequest& request);

}  // namespace gauze::cli
