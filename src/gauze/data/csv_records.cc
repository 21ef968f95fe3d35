#include <algorithm>

#include "gauze/base/error.h"
#include "gauze/data/csv_records_internal.h"

namespace gauze::internal {

void CsvCells::step(char c) {
  const bool line_end = c == '\n' || c == '\r';
  if (quoted_) {
    ++length_;
    // Behind a closing quote only a delimiter or a line end ends the cell, and another quote opens
    // it again.
    const bool ends = closed_ && (c == delimiter_ || line_end);
    closed_ = c == '"' ? !closed_ : closed_;
    if (!ends) return;
    quoted_ = closed_ = false;
    start_ = true;
    return;
  }
  if (c == '"' && start_) {
    quoted_ = true;
    closed_ = false;
    length_ = 0;
  }
  start_ = c == delimiter_ || line_end || (start_ && c == ' ');
}

void CsvCells::take(std::string_view bytes) {
  while (!bytes.empty()) {
    const bool every = quoted_ && closed_;
    const std::size_t plain = every ? 0 : std::min(bytes.find('"'), bytes.size());
    if (quoted_)
      length_ += plain;
    else
      skip(bytes.substr(0, plain));
    bytes.remove_prefix(plain);
    if (bytes.empty()) break;
    step(bytes.front());
    bytes.remove_prefix(1);
  }
}

void CsvCells::skip(std::string_view plain) {
  const std::size_t last = plain.find_last_not_of(' ');
  if (last == std::string_view::npos) return;
  step(plain[last]);
  if (last + 1 < plain.size()) step(' ');
}

namespace {

/// Whether some cell in quotes is too long, by a piece of the file at least.
bool has_long_cell(const std::string& file, char delimiter, const std::atomic<bool>& cancelled) {
  CsvCells cells(delimiter);
  bool found = false;
  read_unpacked(file, [&](std::string_view bytes) {
    cells.take(bytes);
    found = cells.quoted() && cells.length() > kLongestRecord;
    return !found && !cancelled;
  });
  return found;
}

}  // namespace

bool copy_without_long_records(const std::string& file, char delimiter, TemporaryFile& copy,
                               std::uint64_t& left_out, const std::atomic<bool>& cancelled) {
  if (!has_long_cell(file, delimiter, cancelled)) {
    if (cancelled) throw Error(ErrorCode::kIo, "cancelled");
    return false;
  }
  CsvCells cells(delimiter);
  std::string record, out;
  std::uint64_t length = 0;
  const auto end_record = [&] {
    if (length > kLongestRecord)
      ++left_out;
    else
      out += record;
    record.clear();
    length = 0;
  };
  read_unpacked(file, [&](std::string_view bytes) {
    for (const char c : bytes) {
      cells.step(c);
      if (++length <= kLongestRecord) record += c;
      if (!cells.quoted() && (c == '\n' || c == '\r')) end_record();
    }
    copy.write(out);
    out.clear();
    return !cancelled;
  });
  if (cancelled) throw Error(ErrorCode::kIo, "cancelled");
  end_record();
  copy.write(out);
  return true;
}

}  // namespace gauze::internal
