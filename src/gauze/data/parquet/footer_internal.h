#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gauze/data/temporary_file_internal.h"

// The metadata at the end of a Parquet file (parquet.md). The embedded engine reads everything
// else.
namespace gauze::internal {

/// Fields, lists and numbers of Thrift's compact protocol. Reads nothing outside its bytes, and
/// throws `Unreadable` instead.
class ThriftReader {
 public:
  struct Unreadable {};
  enum Type : std::uint8_t {
    kStop = 0,
    kTrue = 1,
    kFalse = 2,
    kByte = 3,
    kInteger16 = 4,
    kInteger32 = 5,
    kInteger64 = 6,
    kDouble = 7,
    kBytes = 8,
    kList = 9,
    kSet = 10,
    kMap = 11,
    kStruct = 12
  };
  struct Field {
    std::int64_t id = 0;
    Type type = kStop;
  };

  explicit ThriftReader(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}

  std::size_t position() const { return at_; }
  std::int64_t integer(Type type);
  std::string_view bytes(Type type);
  void skip(Type type, int depth = kDeepest);

  /// Calls `read(field)` for each field of a struct; one that it does not read, returning false, is
  /// skipped.
  template <class Read>
  void fields(Type type, Read read) {
    expect(type == kStruct);
    for (Field field; next(field);) {
      if (!read(field)) skip(field.type);
    }
  }

  /// Calls `read(type)` for each element, which must read it.
  template <class Read>
  void list(Type type, Read read) {
    expect(type == kList || type == kSet);
    Type element = kStop;
    for (std::uint64_t left = list_size(element); left > 0; --left) read(element);
  }

 private:
  static constexpr int kDeepest = 32;

  static void expect(bool holds) {
    if (!holds) throw Unreadable();
  }
  std::uint8_t byte() {
    expect(at_ < bytes_.size());
    return bytes_[at_++];
  }
  void pass(std::uint64_t count) {
    expect(count <= bytes_.size() - at_);
    at_ += static_cast<std::size_t>(count);
  }
  std::uint64_t number();
  bool next(Field& field);
  std::uint64_t list_size(Type& element);

  std::span<const std::uint8_t> bytes_;
  std::size_t at_ = 0;
};

/// The bytes of a file's metadata; empty when it has none that can be read.
std::vector<std::uint8_t> parquet_footer(const std::string& path);

/// What metadata say of a file.
struct ParquetFacts {
  /// Those that are not nested, and whether the engine reads how all their chunks are encoded and
  /// packed. None where the metadata cannot be read.
  std::map<std::string, bool> columns;
  /// Whether the least and the largest values stand in fields that no longer count: of texts and
  /// bytes, and of numbers without a sign, they are in another order than the engine takes them for,
  /// which would pass over rows that are there. True where the metadata cannot be read.
  bool old_statistics = true;
};
ParquetFacts parquet_facts(std::span<const std::uint8_t> footer);

/// The same metadata, in which columns of text and of decimals in bytes are columns of bytes and
/// timestamps in milliseconds are integers, without statistics. Nothing when it cannot be read.
std::optional<std::vector<std::uint8_t>> with_raw_columns(std::span<const std::uint8_t> footer);

/// A copy with such metadata. Whether the file could be read; throws `kIo` when the disk is full.
bool copy_with_raw_columns(const std::string& path, TemporaryFile& to,
                           const std::atomic<bool>& cancelled);

}  // namespace gauze::internal
