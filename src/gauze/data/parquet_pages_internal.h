#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "gauze/data/parquet_internal.h"

struct ZSTD_DCtx_s;

// Columns of Parquet down to what pages hold (parquet.md), for counting and for scanning. Whatever is not as it should be throws
// `Unreadable`.
namespace gauze::internal::parquet {

using Thrift = ThriftReader;
using Unreadable = ThriftReader::Unreadable;
using Bytes = std::span<const std::uint8_t>;

inline void expect(bool holds) {
  if (!holds) throw Unreadable();
}

template <class T>
T load(const std::uint8_t* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

constexpr std::size_t kMostBytes = std::size_t{1} << 28;     ///< of a page
constexpr std::size_t kMostValues = std::size_t{1} << 20;    ///< of a dictionary
constexpr std::uint64_t kMostRows = std::uint64_t{1} << 31;  ///< of a row group
constexpr unsigned kWidest = 20;                             ///< bits of a code
constexpr std::size_t kPadding = 16;  ///< that may be read behind packed bits

/// Bytes with room behind them that may be read.
class PaddedBytes {
 public:
  /// What was there stays, as far as there is room for it.
  std::span<std::uint8_t> resized(std::size_t size) {
    if (bytes_.size() < size + kPadding) bytes_.resize(size + size / 4 + kPadding);
    return {bytes_.data(), size};
  }

 private:
  std::vector<std::uint8_t> bytes_;
};

/// How values are stored; numbers of parquet.thrift.
enum class Stored : std::int8_t {
  kNone = -1,
  kInteger32 = 1,
  kInteger64 = 2,
  kDouble = 5,
  kByteArray = 6
};

/// How pages are packed; numbers of parquet.thrift. What else there is is not read here.
enum class Codec : std::int64_t { kNone = 0, kSnappy = 1, kGzip = 2, kZstandard = 6, kLz4 = 7 };

/// The dictionary and the pages of one column in one row group.
struct ColumnChunk {
  Codec codec = Codec::kNone;
  std::int64_t rows = 0;  ///< of the row group
  std::int64_t values = 0;
  std::int64_t size = 0;
  std::int64_t dictionary = 0, data = 0;  ///< offsets in the file; the dictionary's may be missing
  bool plain_file = true;                 ///< not in another file, not encrypted
};

/// What a file says of a column.
struct ColumnOfFile {
  Stored stored = Stored::kNone;
  bool nullable = false;
  std::vector<ColumnChunk> chunks;  ///< one for each row group
};

/// A file and the columns that are read of it.
struct ColumnsOfFile {
  std::unique_ptr<InputFile> file;
  std::vector<ColumnOfFile> columns;
};

ColumnsOfFile open_columns(const std::string& path, std::span<const ColumnInfo> columns);

/// Snappy, from its size on: literals, and copies of what came before.
void unpack_snappy(Bytes from, std::span<std::uint8_t> to);

/// Unpacks one page after the other, with what a codec needs of its own for all of them.
class PageUnpacker {
 public:
  /// How many bytes may come of one at most. Throws for a codec that there is not.
  static std::size_t most_growth(Codec codec);

  /// Makes all of `to`, and nothing beyond, of all of `from`, both below 2^31 bytes.
  void unpack(Codec codec, Bytes from, std::span<std::uint8_t> to);

 private:
  struct FreeZstandard {
    void operator()(ZSTD_DCtx_s* context) const;
  };

  void unpack_zstandard(Bytes from, std::span<std::uint8_t> to);

  std::unique_ptr<ZSTD_DCtx_s, FreeZstandard> zstandard_;  ///< from the first page on
};

/// Runs and packed groups of numbers of `width` bits (Parquet's RLE).
class Runs {
 public:
  struct Run {
    const std::uint8_t* bits = nullptr;  ///< of packed numbers, least first; null where all are
    std::uint32_t number = 0;            ///< this one
    std::uint64_t count = 0;             ///< at least 1; of packed numbers, those that are there
  };

  Runs() = default;
  Runs(Bytes from, unsigned width) : rest_(from), width_(width) {}
  Run next();

 private:
  Bytes rest_;
  unsigned width_ = 0;
};

/// Calls take(i, number) for `groups` times eight packed numbers of `kWidth` bits, at most 20. Reads up to 8 bytes behind them.
template <unsigned kWidth, class Take>
void each_packed(const std::uint8_t* from, std::size_t groups, Take take) {
  constexpr std::uint64_t kMask = (std::uint64_t{1} << kWidth) - 1;
  for (std::size_t at = 0; at < groups * 8; at += 8, from += kWidth) {
    if constexpr (kWidth <= 15) {
      // Four at a time; the second four begin at bit 4 * kWidth.
      const std::uint64_t low = load<std::uint64_t>(from);
      const std::uint64_t high = load<std::uint64_t>(from + kWidth / 2) >> (kWidth % 2 * 4);
      for (unsigned i = 0; i < 4; ++i) take(at + i, low >> (i * kWidth) & kMask);
      for (unsigned i = 0; i < 4; ++i) take(at + 4 + i, high >> (i * kWidth) & kMask);
    } else {
      for (unsigned i = 0; i < 8; ++i) {
        const unsigned bit = i * kWidth;
        take(at + i, load<std::uint64_t>(from + bit / 8) >> (bit % 8) & kMask);
      }
    }
  }
}

/// Packed number `i`.
inline std::uint32_t packed_at(const std::uint8_t* bits, unsigned width, std::uint64_t i) {
  const std::uint64_t word = load<std::uint64_t>(bits + i * width / 8) >> (i * width % 8);
  return static_cast<std::uint32_t>(word & ((std::uint64_t{1} << width) - 1));
}

/// A page of values, or of a dictionary.
struct Page {
  bool is_dictionary = false;
  bool is_coded = false;   ///< codes of the dictionary, otherwise plain
  std::uint64_t rows = 0;  ///< or values of the dictionary
  Bytes levels;  ///< as `Runs` of one bit, which say what is not null; where the column is nullable
  Bytes values;  ///< with `kPadding` behind them
};

/// Some bytes of a file, one after the other, of which only those that are wanted lie in memory.
class FileWindow {
 public:
  void open(const InputFile& file, std::uint64_t from, std::uint64_t size) {
    file_ = &file;
    offset_ = from;
    unread_ = size;
    shown_ = {};
  }
  /// The next `size` bytes, or as many as there are, with `kPadding` behind them. They lie there until the next call.
  Bytes ahead(std::size_t size);
  /// Moves behind bytes that were shown.
  void pass(std::size_t size) { shown_ = shown_.subspan(size); }

 private:
  static constexpr std::size_t kAtOnce = std::size_t{1} << 20;

  const InputFile* file_ = nullptr;
  std::uint64_t offset_ = 0, unread_ = 0;
  PaddedBytes buffer_;
  Bytes shown_;  ///< of the buffer
};

/// Pages of one chunk after the other, with buffers of its own.
class Pages {
 public:
  void open(const InputFile& file, const ColumnOfFile& column, const ColumnChunk& chunk);
  /// The next; false where all rows have come. The one before is gone, except for a dictionary, of which there is at most
  /// one, before all values.
  bool next(Page& page);

 private:
  Bytes unpacked(Bytes packed, std::size_t size, bool is_packed, PaddedBytes& buffer);

  FileWindow rest_;         ///< of the chunk, from the page before on
  std::size_t packed_ = 0;  ///< bytes of that
  PaddedBytes dictionary_, page_;
  PageUnpacker unpacker_;
  Codec codec_ = Codec::kNone;
  bool nullable_ = false, has_dictionary_ = false;
  std::uint64_t left_ = 0;
};

/// The texts of plain values, one after the other.
class PlainTexts {
 public:
  PlainTexts() = default;
  explicit PlainTexts(Bytes from) : rest_(from) {}
  std::string_view next() {
    expect(rest_.size() >= 4);
    const auto size = load<std::uint32_t>(rest_.data());
    expect(size <= rest_.size() - 4);
    const std::string_view text(reinterpret_cast<const char*>(rest_.data()) + 4, size);
    rest_ = rest_.subspan(4 + std::size_t{size});
    return text;
  }

 private:
  Bytes rest_;
};

}  // namespace gauze::internal::parquet
