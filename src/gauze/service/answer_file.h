#pragma once

#include <functional>
#include <string>
#include <vector>

#include "gauze/registry/algorithm.h"
#include "gauze/service/ask.h"

namespace gauze::service {

/// Where an answer goes besides; "" for nowhere.
struct AnswerFiles {
  std::string output;    ///< the table: .csv, .json or .parquet
  std::string report;    ///< a page: .html
  std::string artifact;  ///< what the algorithm leaves behind
};

/// Before anything is spent: refuses what the algorithm does not make, what could not be written, and what
/// would replace a file for which `reads` holds.
void check_files(const Algorithm& algorithm, const AnswerFiles& files,
                 const std::function<bool(const std::string&)>& reads);

/// Returns the files that were written.
std::vector<std::string> write_files(const Outcome& outcome, const AnswerFiles& files);

/// Writes the answer to `path`, .csv, .json or .parquet; a number `n` has its error bar beside it
/// in the column `n_half_width`.
void write_answer(const Answer& answer, const std::string& path);

}  // namespace gauze::service
