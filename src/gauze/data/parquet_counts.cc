#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <chrono>
#include <cstring>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "gauze/base/on_threads.h"
#include "gauze/base/words.h"
#include "gauze/data/parquet_internal.h"
#include "gauze/data/utf8_internal.h"

namespace gauze::internal {
namespace {

using Thrift = ThriftReader;
using Bytes = std::span<const std::uint8_t>;

void expect(bool holds) {
  if (!holds) throw Thrift::Unreadable();
}

template <class T>
T load(const std::uint8_t* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

constexpr std::size_t kMostBytes = std::size_t{1}
                                   << 28;  ///< of a column in a row group, or of a page
constexpr std::size_t kMostValues = std::size_t{1} << 20;
constexpr std::uint64_t kMostRows = std::uint64_t{1} << 31;  ///< of a row group
constexpr std::size_t kPadding = 16;  ///< that may be read behind packed bits
constexpr unsigned kWidest = 20;
/// Work for less is done before another thread has started.
constexpr std::uint64_t kRowsPerThread = std::uint64_t{1} << 21;

/// Bytes with room behind them that may be read.
class PaddedBytes {
 public:
  std::span<std::uint8_t> resized(std::size_t size) {
    if (bytes_.size() < size + kPadding) bytes_.resize(size + size / 4 + kPadding);
    return {bytes_.data(), size};
  }

 private:
  std::vector<std::uint8_t> bytes_;
};

/// The dictionary and the pages of one column in one row group.
struct ColumnChunk {
  std::size_t file = 0;
  std::int64_t codec = 0;
  std::int64_t rows = 0;  ///< of the row group
  std::int64_t values = 0;
  std::int64_t size = 0;
  std::int64_t dictionary = 0, data = 0;  ///< offsets in the file; the dictionary's may be missing
  bool plain_file = true;                 ///< not in another file, not encrypted
};

/// What a file says of a column.
struct ColumnOfFile {
  std::int64_t type = -1;
  bool nullable = false;
  std::vector<ColumnChunk> chunks;
};

constexpr std::int64_t kInteger32 = 1, kInteger64 = 2, kByteArray = 6;

struct SchemaNode {
  std::int64_t type = -1, repetition = 0, children = 0, converted = -1, logical = -1;
  std::string_view name;
};

SchemaNode read_element(Thrift& in, Thrift::Type struct_type) {
  SchemaNode element;
  in.fields(struct_type, [&](const Thrift::Field& field) {
    switch (field.id) {
      case 1:
        element.type = in.integer(field.type);
        return true;
      case 3:
        element.repetition = in.integer(field.type);
        return true;
      case 4:
        element.name = in.bytes(field.type);
        return true;
      case 5:
        element.children = in.integer(field.type);
        return true;
      case 6:
        element.converted = in.integer(field.type);
        return true;
      case 10:
        in.fields(field.type, [&](const Thrift::Field& kind) {
          element.logical = kind.id;
          return false;
        });
        return true;
      default:
        return false;
    }
  });
  return element;
}

/// Whether it holds values of that type as they are. Integers of fewer bits, or without a sign, are not.
bool is_plainly(const SchemaNode& element, Type type) {
  constexpr std::int64_t kNone = -1, kUtf8 = 0, kInt32 = 17, kInt64 = 18, kString = 1,
                         kIntegers = 10;
  const std::int64_t converted = element.converted, logical = element.logical;
  if (type == Type::kText)
    return element.type == kByteArray &&
           (converted == kUtf8 || (converted == kNone && logical == kString)) &&
           (logical == kString || logical == kNone);
  if (type != Type::kInteger) return false;
  if (converted == kNone)
    return logical == kNone && (element.type == kInteger32 || element.type == kInteger64);
  return (logical == kNone || logical == kIntegers) &&
         ((element.type == kInteger32 && converted == kInt32) ||
          (element.type == kInteger64 && converted == kInt64));
}

/// The place of a column among the leaves; those of its name must be one, and it must not be nested.
std::size_t find_leaf(const std::vector<SchemaNode>& schema, const std::string& name, Type type,
                      ColumnOfFile& column) {
  expect(!schema.empty());
  std::size_t at = 1, leaf = 0, found = 0, named = 0;
  for (std::int64_t top = 0; top < schema[0].children; ++top) {
    expect(at < schema.size());
    const SchemaNode& child = schema[at];
    if (same_name(child.name, name)) {
      expect(++named == 1 && child.name == name && child.children == 0 && is_plainly(child, type));
      expect(child.repetition == 0 || child.repetition == 1);
      found = leaf;
      column.type = child.type;
      column.nullable = child.repetition == 1;
    }
    for (std::int64_t open = 1; open > 0; --open, ++at) {  // passes all below it
      expect(at < schema.size() && schema[at].children >= 0);
      open += std::min<std::int64_t>(schema[at].children, static_cast<std::int64_t>(schema.size()));
      leaf += schema[at].children == 0 ? 1 : 0;
    }
  }
  expect(named == 1);
  return found;
}

void read_chunk(Thrift& in, Thrift::Type type, ColumnChunk& chunk) {
  in.fields(type, [&](const Thrift::Field& field) {
    if (field.id == 1 || field.id == 8 || field.id == 9) chunk.plain_file = false;
    if (field.id != 3) return false;
    in.fields(field.type, [&](const Thrift::Field& part) {
      std::int64_t* to = part.id == 4    ? &chunk.codec
                         : part.id == 5  ? &chunk.values
                         : part.id == 7  ? &chunk.size
                         : part.id == 9  ? &chunk.data
                         : part.id == 11 ? &chunk.dictionary
                                         : nullptr;
      if (to) *to = in.integer(part.type);
      return to != nullptr;
    });
    return true;
  });
}

ColumnOfFile read_column(Bytes footer, const std::string& name, Type type) {
  ColumnOfFile column;
  std::vector<SchemaNode> schema;
  std::optional<std::size_t> leaf;
  Thrift in(footer);
  in.fields(Thrift::kStruct, [&](const Thrift::Field& field) {
    expect(field.id != 8);  // encrypted
    if (field.id == 2) {
      in.list(field.type, [&](Thrift::Type each) { schema.push_back(read_element(in, each)); });
      leaf = find_leaf(schema, name, type, column);
      return true;
    }
    if (field.id != 4) return false;
    expect(leaf.has_value());
    in.list(field.type, [&](Thrift::Type group) {
      ColumnChunk chunk;
      std::size_t at = 0;
      in.fields(group, [&](const Thrift::Field& part) {
        if (part.id == 3) chunk.rows = in.integer(part.type);
        if (part.id == 1)
          in.list(part.type, [&](Thrift::Type each) {
            at++ == *leaf ? read_chunk(in, each, chunk) : in.skip(each);
          });
        return part.id == 1 || part.id == 3;
      });
      expect(at > *leaf && chunk.plain_file && chunk.values == chunk.rows && chunk.rows >= 0);
      expect(static_cast<std::uint64_t>(chunk.rows) < kMostRows);
      column.chunks.push_back(chunk);
    });
    return true;
  });
  expect(leaf.has_value());
  return column;
}

/// Snappy: literals, and copies of what came before. `to` has room behind it.
void unpack_snappy(Bytes from, std::span<std::uint8_t> to) {
  std::size_t at = 0, made = 0;
  std::uint64_t size = 0;
  for (unsigned shift = 0;; shift += 7) {
    expect(at < from.size() && shift < 35);
    size |= std::uint64_t{from[at] & 0x7fu} << shift;
    if (from[at++] < 0x80) break;
  }
  expect(size == to.size());
  const auto number = [&](std::size_t bytes) {
    expect(bytes <= from.size() - at);
    std::size_t value = 0;
    for (std::size_t i = 0; i < bytes; ++i) value |= std::size_t{from[at++]} << (8 * i);
    return value;
  };
  while (at < from.size()) {
    const std::uint8_t tag = from[at++];
    std::size_t length = tag >> 2;
    if ((tag & 3) == 0) {
      length = length < 60 ? length + 1 : number(length - 59) + 1;
      expect(length <= from.size() - at && length <= to.size() - made);
      std::memcpy(to.data() + made, from.data() + at, length);
      at += length;
      made += length;
      continue;
    }
    std::size_t back = 0;
    if ((tag & 3) == 1) {
      length = (length & 7) + 4;
      back = static_cast<std::size_t>(tag >> 5) << 8 | number(1);
    } else {
      ++length;
      back = number((tag & 3) == 2 ? 2 : 4);
    }
    expect(back > 0 && back <= made && length <= to.size() - made);
    for (; length > 0; --length, ++made) to[made] = to[made - back];
  }
  expect(made == to.size());
}

/// How often each code occurs; several tables take turns, so that an addition need not wait for the last to the same.
class Tallies {
 public:
  void clear(std::size_t codes) {
    codes_ = codes;
    counts_.assign(codes * kTables, 0);
  }
  std::size_t codes() const { return codes_; }
  std::uint32_t* table(std::size_t i) { return counts_.data() + i * codes_; }
  std::uint64_t count(std::size_t code) const {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < kTables; ++i) sum += counts_[i * codes_ + code];
    return sum;
  }

 private:
  static constexpr std::size_t kTables = 4;
  std::size_t codes_ = 0;
  std::vector<std::uint32_t> counts_;
};

/// Adds `groups` times eight numbers of `kWidth` bits. Codes are below 2^kWidth, and there are so many tallies.
template <unsigned kWidth>
void count_packed(const std::uint8_t* from, std::size_t groups, Tallies& tallies) {
  constexpr std::uint64_t kMask = (std::uint64_t{1} << kWidth) - 1;
  std::uint32_t* const tables[] = {tallies.table(0), tallies.table(1), tallies.table(2),
                                   tallies.table(3)};
  for (; groups > 0; --groups, from += kWidth) {
    if constexpr (kWidth <= 15) {
      // Four at a time; the second four begin at bit 4 * kWidth.
      const std::uint64_t low = load<std::uint64_t>(from);
      const std::uint64_t high = load<std::uint64_t>(from + kWidth / 2) >> (kWidth % 2 * 4);
      for (unsigned i = 0; i < 4; ++i) ++tables[i][low >> (i * kWidth) & kMask];
      for (unsigned i = 0; i < 4; ++i) ++tables[i][high >> (i * kWidth) & kMask];
    } else {
      for (unsigned i = 0; i < 8; ++i) {
        const unsigned bit = i * kWidth;
        ++tables[i % 4][load<std::uint64_t>(from + bit / 8) >> (bit % 8) & kMask];
      }
    }
  }
}

using CountPacked = void (*)(const std::uint8_t*, std::size_t, Tallies&);
template <std::size_t... kWidths>
constexpr auto count_packed_by_width(std::index_sequence<kWidths...>) {
  return std::array<CountPacked, sizeof...(kWidths)>{&count_packed<kWidths>...};
}

/// Runs and packed groups of numbers of `width` bits (Parquet's RLE), until there were `values`. Calls `run(number, count)` and
/// `packed(bytes, count)`; of the last packed group some may be beyond the end.
template <class Run, class Packed>
void each_run(Bytes from, unsigned width, std::uint64_t values, Run run, Packed packed) {
  std::size_t at = 0;
  while (values > 0) {
    std::uint64_t header = 0;
    for (unsigned shift = 0;; shift += 7) {
      expect(at < from.size() && shift < 35);
      header |= std::uint64_t{from[at] & 0x7fu} << shift;
      if (from[at++] < 0x80) break;
    }
    std::uint64_t count = header >> 1;
    if (header & 1) {
      expect(count <= (from.size() - at) / std::max(width, 1u) + 1);
      const std::uint64_t taken = std::min(count * 8, values);
      const std::size_t bytes = (static_cast<std::size_t>(taken) * width + 7) / 8;
      expect(bytes <=
             from.size() - at);  // the last group may be cut off where nothing of it is wanted
      packed(from.data() + at, taken);
      at += std::min(static_cast<std::size_t>(count) * width, from.size() - at);
      values -= taken;
    } else {
      const std::size_t bytes = (width + 7) / 8;
      expect(bytes <= from.size() - at && count > 0);
      std::uint64_t number = 0;
      for (std::size_t i = 0; i < bytes; ++i) number |= std::uint64_t{from[at++]} << (8 * i);
      count = std::min(count, values);
      run(number, count);
      values -= count;
    }
  }
}

/// How many of `values` levels of one bit are 1.
std::uint64_t count_ones(Bytes from, std::uint64_t values) {
  std::uint64_t ones = 0;
  each_run(
      from, 1, values,
      [&](std::uint64_t level, std::uint64_t count) {
        expect(level <= 1);
        ones += level * count;
      },
      [&](const std::uint8_t* bits, std::uint64_t count) {
        for (; count >= 8; count -= 8) ones += static_cast<unsigned>(std::popcount(*bits++));
        if (count > 0)
          ones += static_cast<unsigned>(
              std::popcount(static_cast<unsigned>(*bits & ((1u << count) - 1))));
      });
  return ones;
}

void count_codes(Bytes from, std::uint64_t values, Tallies& tallies) {
  static constexpr auto kCounters = count_packed_by_width(std::make_index_sequence<kWidest + 1>());
  if (values == 0) return;
  expect(!from.empty() && from[0] <= kWidest);
  const unsigned width = from[0];
  expect(tallies.codes() >= std::size_t{1} << width);
  each_run(
      from.subspan(1), width, values,
      [&](std::uint64_t code, std::uint64_t count) {
        expect(code < tallies.codes());
        tallies.table(0)[code] += static_cast<std::uint32_t>(count);
      },
      [&](const std::uint8_t* bits, std::uint64_t count) {
        kCounters[width](bits, static_cast<std::size_t>(count / 8), tallies);
        const std::uint64_t done = count / 8 * 8 * width;
        for (std::uint64_t i = 0; i < count % 8; ++i) {
          const std::uint64_t bit = done + i * width;
          const std::uint64_t word = load<std::uint64_t>(bits + bit / 8) >> (bit % 8);
          ++tallies.table(0)[word & ((std::uint64_t{1} << width) - 1)];
        }
      });
}

struct PageHeader {
  enum Kind : std::int64_t { kData = 0, kIndex = 1, kDictionary = 2, kData2 = 3 };
  std::int64_t kind = -1, unpacked = -1, packed = -1, values = 0, encoding = -1;
  std::int64_t nulls = 0, definition_bytes = 0, repetition_bytes = 0, definition_encoding = 3;
  bool is_packed = true;
};

PageHeader read_page(Thrift& in) {
  PageHeader page;
  in.fields(Thrift::kStruct, [&](const Thrift::Field& field) {
    if (field.id >= 1 && field.id <= 3) {
      std::int64_t* const to[] = {&page.kind, &page.unpacked, &page.packed};
      *to[field.id - 1] = in.integer(field.type);
      return true;
    }
    if (field.id != 5 && field.id != 7 && field.id != 8) return false;
    const bool second = field.id == 8;
    in.fields(field.type, [&](const Thrift::Field& part) {
      std::int64_t* to = nullptr;
      if (part.id == 1) to = &page.values;
      if (part.id == (second ? 4 : 2)) to = &page.encoding;
      if (part.id == 3 && field.id == 5) to = &page.definition_encoding;
      if (second && part.id == 2) to = &page.nulls;
      if (second && part.id == 5) to = &page.definition_bytes;
      if (second && part.id == 6) to = &page.repetition_bytes;
      if (second && part.id == 7) page.is_packed = part.type == Thrift::kTrue;
      if (to) *to = in.integer(part.type);
      return to != nullptr;
    });
    return true;
  });
  const auto sane = [](std::int64_t size) {
    return size >= 0 && size <= static_cast<std::int64_t>(kMostBytes);
  };
  expect(sane(page.unpacked) && sane(page.packed) && page.values >= 0);
  expect(sane(page.definition_bytes) && page.repetition_bytes == 0);
  return page;
}

/// What one thread has counted.
class ValueSums {
 public:
  void add_nulls(std::uint64_t count) { nulls_ += count; }
  /// A look-up costs more than a place: they are put together when there are many.
  void add(std::int64_t value, std::uint64_t count) {
    integers_.emplace_back(value, count);
    if (integers_.size() > 2 * kMostValues) unite();
  }
  void add(std::string_view text, std::uint64_t count) {
    if (!is_utf8(text)) return add_nulls(count);
    const auto found = texts_.find(text);
    if (found != texts_.end()) {
      found->second += count;
    } else {
      expect(texts_.size() < kMostValues);
      texts_.emplace(text, count);
    }
  }
  void move_to(ValueCounts& counts) {
    for (const auto& [value, count] : integers_) {
      counts.integers.push_back(value);
      counts.counts.push_back(count);
    }
    for (const auto& [text, count] : texts_) {
      counts.texts.push_back(text);
      counts.counts.push_back(count);
    }
    counts.nulls += nulls_;
  }

 private:
  void unite() {
    std::sort(integers_.begin(), integers_.end());
    std::size_t last = 0;
    for (std::size_t i = 1; i < integers_.size(); ++i) {
      if (integers_[i].first == integers_[last].first) {
        integers_[last].second += integers_[i].second;
      } else {
        integers_[++last] = integers_[i];
      }
    }
    integers_.resize(last + 1);
    expect(integers_.size() <= kMostValues);
  }

  struct TextHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>()(text);
    }
  };
  std::vector<std::pair<std::int64_t, std::uint64_t>> integers_;
  std::unordered_map<std::string, std::uint64_t, TextHash, std::equal_to<>> texts_;
  std::uint64_t nulls_ = 0;
};

/// Counts one chunk after the other, with buffers of its own.
class ChunkCounter {
 public:
  void count(const InputFile& file, const ColumnOfFile& column, const ColumnChunk& chunk,
             ValueSums& sums) {
    const std::int64_t first =
        chunk.dictionary > 0 ? std::min(chunk.dictionary, chunk.data) : chunk.data;
    expect(first >= 0 && chunk.size >= 0 && chunk.size <= static_cast<std::int64_t>(kMostBytes));
    const std::span<std::uint8_t> bytes = chunk_.resized(static_cast<std::size_t>(chunk.size));
    expect(file.read(static_cast<std::uint64_t>(first), bytes));
    std::uint64_t left = static_cast<std::uint64_t>(chunk.rows);
    std::uint64_t nulls = 0;
    tallies_.clear(0);
    Bytes dictionary;
    std::size_t values = 0;
    for (Bytes rest = bytes; left > 0;) {
      Thrift in(rest);
      const PageHeader page = read_page(in);
      rest = rest.subspan(in.position());
      const auto size = static_cast<std::size_t>(page.packed);
      expect(size <= rest.size());
      const Bytes packed = rest.first(size);
      rest = rest.subspan(size);
      if (page.kind == PageHeader::kIndex) continue;
      if (page.kind == PageHeader::kDictionary) {
        expect(dictionary.empty() && (page.encoding == 0 || page.encoding == 2));
        dictionary =
            unpacked(packed, static_cast<std::size_t>(page.unpacked), chunk.codec, dictionary_);
        values = static_cast<std::size_t>(page.values);
        expect(values <= kMostValues);
        tallies_.clear(std::bit_ceil(std::max<std::size_t>(values, 1)) * 2);
        continue;
      }
      expect((page.kind == PageHeader::kData || page.kind == PageHeader::kData2) &&
             (page.encoding == 2 || page.encoding == 8) && tallies_.codes() > 0);
      const auto of_page = static_cast<std::uint64_t>(page.values);
      expect(of_page > 0 && of_page <= left);
      nulls += count_page(page, packed, chunk.codec, column.nullable);
      left -= of_page;
    }
    for (std::size_t code = values; code < tallies_.codes(); ++code)
      expect(tallies_.count(code) == 0);
    sums.add_nulls(nulls);
    add_values(column.type, dictionary, values, sums);
  }

 private:
  static Bytes unpacked(Bytes packed, std::size_t size, std::int64_t codec, PaddedBytes& buffer) {
    constexpr std::int64_t kNone = 0, kSnappy = 1;
    expect(codec == kNone || codec == kSnappy);
    if (codec == kNone) {
      expect(packed.size() == size);
      return packed;
    }
    const std::span<std::uint8_t> to = buffer.resized(size);
    unpack_snappy(packed, to);
    return to;
  }

  /// How many are null.
  std::uint64_t count_page(const PageHeader& page, Bytes packed, std::int64_t codec,
                           bool nullable) {
    const auto values = static_cast<std::uint64_t>(page.values);
    auto size = static_cast<std::size_t>(page.unpacked);
    Bytes levels, codes;
    if (page.kind == PageHeader::kData2) {
      const auto before = static_cast<std::size_t>(page.definition_bytes);
      expect(before <= packed.size() && before <= size);
      levels = packed.first(before);
      codes = unpacked(packed.subspan(before), size - before, page.is_packed ? codec : 0, page_);
    } else {
      codes = unpacked(packed, size, codec, page_);
      if (nullable) {
        expect(page.definition_encoding == 3 && codes.size() >= 4);
        const auto length = load<std::uint32_t>(codes.data());
        expect(length <= codes.size() - 4);
        levels = codes.subspan(4, length);
        codes = codes.subspan(4 + length);
      }
    }
    const std::uint64_t there = nullable ? count_ones(levels, values) : values;
    count_codes(codes, there, tallies_);
    return values - there;
  }

  void add_values(std::int64_t type, Bytes from, std::size_t values, ValueSums& sums) const {
    const std::size_t width = type == kInteger32 ? 4 : type == kInteger64 ? 8 : 0;
    expect(width == 0 || values <= from.size() / width);
    for (std::size_t i = 0, at = 0; i < values; ++i) {
      const std::uint64_t count = tallies_.count(i);
      if (type == kByteArray) {
        expect(4 <= from.size() - at);
        const auto size = load<std::uint32_t>(from.data() + at);
        expect(size <= from.size() - at - 4);
        if (count > 0)
          sums.add(std::string_view(reinterpret_cast<const char*>(from.data()) + at + 4, size),
                   count);
        at += 4 + std::size_t{size};
      } else if (count > 0) {
        sums.add(type == kInteger32 ? load<std::int32_t>(from.data() + i * 4)
                                    : load<std::int64_t>(from.data() + i * 8),
                 count);
      }
    }
  }

  PaddedBytes chunk_, dictionary_, page_;
  Tallies tallies_;
};

/// Tells how much is done, at most twenty times a second.
class ProgressTicks {
 public:
  explicit ProgressTicks(const std::function<void(double)>& progress) : progress_(progress) {}
  void tell(double done) {
    const auto now = std::chrono::steady_clock::now();
    if (!progress_ || now - last_ < std::chrono::milliseconds(50)) return;
    last_ = now;
    progress_(done);
  }

 private:
  const std::function<void(double)>& progress_;
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

}  // namespace

std::optional<ValueCounts> count_parquet(const std::vector<std::string>& paths,
                                         const std::string& column, Type type, unsigned threads,
                                         const std::function<void(double)>& progress) {
  try {
    std::vector<std::unique_ptr<InputFile>> files;
    std::vector<ColumnOfFile> columns;
    std::vector<ColumnChunk> chunks;
    std::uint64_t rows = 0;
    for (const std::string& path : paths) {
      files.push_back(std::make_unique<InputFile>(path));
      expect(files.back()->is_open());
      columns.push_back(read_column(parquet_footer(*files.back()), column, type));
      for (ColumnChunk& chunk : columns.back().chunks) {
        chunk.file = columns.size() - 1;
        rows += static_cast<std::uint64_t>(chunk.rows);
        chunks.push_back(chunk);
      }
    }
    const auto used = static_cast<unsigned>(
        std::min<std::uint64_t>(thread_count(threads), 1 + rows / kRowsPerThread));
    std::vector<ValueSums> sums(used);
    std::atomic<std::size_t> next = 0;
    on_threads(used, [&](unsigned thread) {
      ChunkCounter counter;
      ProgressTicks ticks(progress);
      try {
        for (std::size_t i = 0; (i = next++) < chunks.size();) {
          counter.count(*files[chunks[i].file], columns[chunks[i].file], chunks[i], sums[thread]);
          if (thread == 0) ticks.tell(static_cast<double>(i) / static_cast<double>(chunks.size()));
        }
      } catch (...) {
        next = chunks.size();  // the others need not go on
        throw;
      }
    });
    ValueCounts counts;
    for (ValueSums& each : sums) each.move_to(counts);
    return counts;
  } catch (const Thrift::Unreadable&) {
    return std::nullopt;
  }
}

}  // namespace gauze::internal
