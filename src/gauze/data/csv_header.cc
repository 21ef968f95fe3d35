#include <optional>

#include "gauze/base/error.h"
#include "gauze/base/words.h"
#include "gauze/data/csv_header_internal.h"

namespace gauze::internal {
namespace {

/// Fields of one line with RFC 4180 quotes; nothing when a quote stays open.
std::optional<std::vector<std::string>> split_line(std::string_view line, char delimiter) {
  std::vector<std::string> fields(1);
  bool quotes = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quotes && c == '"' && i + 1 < line.size() && line[i + 1] == '"') {
      fields.back() += line[++i];
    } else if (c == '"' && (quotes || fields.back().empty())) {
      quotes = !quotes;
    } else if (c == delimiter && !quotes) {
      fields.emplace_back();
    } else {
      fields.back() += c;
    }
  }
  if (quotes) return std::nullopt;
  return fields;
}

}  // namespace

CsvHeader parse_csv_header(std::string_view line, const std::string& shown_file) {
  if (line.starts_with("\xef\xbb\xbf")) line.remove_prefix(3);
  CsvHeader best;
  for (const char delimiter : {',', ';', '\t', '|'}) {
    const auto names = split_line(line, delimiter);
    if (names && names->size() > best.names.size()) best = {delimiter, *names};
  }
  if (line.empty() || best.names.empty() || line.find('\0') != std::string_view::npos)
    throw Error(ErrorCode::kInvalidInput,
                "the first line of " + shown_file + " should name the columns: id,age,ward");
  for (std::size_t i = 0; i < best.names.size(); ++i) {
    std::string& name = best.names[i];
    const auto first = name.find_first_not_of(' ');
    name = first == std::string::npos ? ""
                                      : name.substr(first, name.find_last_not_of(' ') - first + 1);
    if (name.empty()) name = "column" + std::to_string(i + 1);
    for (std::size_t j = 0; j < i; ++j) {
      if (same_name(name, best.names[j]))
        throw Error(ErrorCode::kInvalidInput, "columns " + std::to_string(j + 1) + " and " +
                                                  std::to_string(i + 1) + " of " + shown_file +
                                                  " have the same name");
    }
  }
  return best;
}

}  // namespace gauze::internal
