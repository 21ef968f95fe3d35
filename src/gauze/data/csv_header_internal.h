#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace gauze::internal {

/// The fields of the line that names the columns.
struct CsvHeader {
  char delimiter = ',';
  std::vector<std::string> names;
  bool operator==(const CsvHeader&) const = default;
};

/// Throws `kInvalidInput` where the first line of a file names no columns, or one twice.
CsvHeader parse_csv_header(std::string_view line, const std::string& shown_file);

}  // namespace gauze::internal
