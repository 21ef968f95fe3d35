#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "gauze/data/source.h"
#include "gauze/data/table.h"

// For the tests of this folder.
namespace gauze::testing {

/// A folder that goes away with the test.
class Folder {
 public:
  Folder() {
    std::string path = ::testing::TempDir() + "gauze_data_XXXXXX";
    path_ = mkdtemp(path.data()) ? path : "";
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  std::string path(const std::string& name) const { return path_ + "/" + name; }
  std::string write(const std::string& name, const std::string& bytes) const {
    std::ofstream(path(name), std::ios::binary) << bytes;
    return path(name);
  }

 private:
  std::string path_;
};

/// Rows as text, cells separated by |, null as a dash.
inline void append_rows(const Batch& batch, std::vector<std::string>& lines) {
  for (std::size_t row = 0; row < batch.rows; ++row) {
    std::string line;
    for (const BatchColumn& column : batch.columns) {
      if (&column != &batch.columns.front()) line += "|";
      if (column.is_null(row))
        line += "-";
      else if (column.kind == BatchColumn::Kind::kIntegers)
        line += std::to_string(column.integers[row]);
      else if (column.kind == BatchColumn::Kind::kReals)
        line += to_text(Value(column.reals[row]));
      else
        line += column.texts[row];
    }
    lines.push_back(line);
  }
}

/// The rows of a SELECT, in the order they came.
inline std::vector<std::string> rows_of(Source& source, const std::string& sql) {
  std::vector<std::string> lines;
  const auto stream = source.execute(sql);
  for (Batch batch; stream->next(batch);) append_rows(batch, lines);
  return lines;
}

/// "-" for null.
inline std::vector<std::string> cells(const Column& column) {
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < column.size(); ++i)
    texts.push_back(column.is_null(i) ? "-" : to_text(column.value(i)));
  return texts;
}

}  // namespace gauze::testing
