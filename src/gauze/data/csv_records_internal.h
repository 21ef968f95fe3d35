#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "gauze/data/temporary_file_internal.h"
#include "gauze/data/text_files_internal.h"

namespace gauze::internal {

/// Where a byte of CSV stands, to the embedded engine: inside of a cell in quotes, or not. Quotes
/// open at the start of a cell or behind blanks there, and close before a delimiter or a line end;
/// between them everything is text.
class CsvCells {
 public:
  explicit CsvCells(char delimiter) : delimiter_(delimiter) {}

  void step(char c);
  /// Many at once, which looks at quotes and what is beside them alone.
  void take(std::string_view bytes);

  bool quoted() const { return quoted_; }
  /// Of the cell in quotes so far.
  std::uint64_t length() const { return length_; }

 private:
  /// Bytes outside of quotes, and none of them one.
  void skip(std::string_view plain);

  char delimiter_;
  bool start_ = true;    ///< a quote would open a cell
  bool quoted_ = false;  ///< it did
  bool closed_ = false;  ///< and the last byte that counts was one
  std::uint64_t length_ = 0;
};

/// The engine loses its way in a cell in quotes that reaches over several of its buffers: lines
/// inside become rows, and rows behind it text. If a file has a cell that long, fills the copy with
/// all records that are no longer than `kLongestRecord` (the engine passes over longer ones
/// anyway), counts those left out, and returns true. Throws `kIo`, also when cancelled.
bool copy_without_long_records(const std::string& file, char delimiter, TemporaryFile& copy,
                               std::uint64_t& left_out, const std::atomic<bool>& cancelled);

}  // namespace gauze::internal
