#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <system_error>

#include "gauze/data/parquet/footer_internal.h"

namespace gauze::internal {

std::uint64_t ThriftReader::number() {
  std::uint64_t result = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    const std::uint8_t next = byte();
    result |= std::uint64_t{next & 0x7fu} << shift;
    if (next < 0x80) return result;
  }
  throw Unreadable();
}

std::int64_t ThriftReader::integer(Type type) {
  if (type == kByte) return static_cast<std::int8_t>(byte());
  expect(type == kInteger16 || type == kInteger32 || type == kInteger64);
  const std::uint64_t folded = number();
  return static_cast<std::int64_t>(folded >> 1 ^ (0 - (folded & 1)));
}

std::string_view ThriftReader::bytes(Type type) {
  expect(type == kBytes);
  const std::uint64_t size = number();
  const std::size_t from = at_;
  pass(size);
  return {reinterpret_cast<const char*>(bytes_.data()) + from, static_cast<std::size_t>(size)};
}

bool ThriftReader::next(Field& field) {
  const std::uint8_t header = byte();
  field.type = static_cast<Type>(header & 15);
  if (field.type == kStop) return false;
  field.id = header >> 4 != 0 ? field.id + (header >> 4) : integer(kInteger16);
  expect(field.id >= INT16_MIN && field.id <= INT16_MAX);  // so that the next is a number, too
  return true;
}

std::uint64_t ThriftReader::list_size(Type& element) {
  const std::uint8_t header = byte();
  element = static_cast<Type>(header & 15);
  const std::uint64_t size = header >> 4 == 15 ? number() : header >> 4;
  expect(size <= bytes_.size() - at_);  // an element takes a byte at least
  return size;
}

void ThriftReader::skip(Type type, int depth) {
  expect(depth > 0);
  switch (type) {
    case kTrue:
    case kFalse:
      return;
    case kByte:
      return pass(1);
    case kInteger16:
    case kInteger32:
    case kInteger64:
      number();
      return;
    case kDouble:
      return pass(8);
    case kBytes:
      return pass(number());
    case kList:
    case kSet: {
      Type element = kStop;
      for (std::uint64_t left = list_size(element); left > 0; --left) {
        element == kTrue || element == kFalse ? pass(1) : skip(element, depth - 1);
      }
      return;
    }
    case kStruct:
      for (Field field; next(field);) skip(field.type, depth - 1);
      return;
    default:
      throw Unreadable();  // Parquet has no maps
  }
}

namespace {
constexpr std::uint64_t kTail = 8;  ///< the size of the metadata and a magic word
}

std::vector<std::uint8_t> parquet_footer(const std::string& path) {
  std::error_code unknown;
  if (!std::filesystem::is_regular_file(path, unknown)) return {};
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  const std::streamoff end = file.tellg();
  char tail[kTail] = {};
  file.seekg(end - std::streamoff{kTail}).read(tail, kTail);
  std::uint32_t size = 0;
  std::memcpy(&size, tail, sizeof size);
  if (!file || std::memcmp(tail + 4, "PAR1", 4) != 0) return {};
  if (size > static_cast<std::uint64_t>(end) - kTail) return {};
  std::vector<std::uint8_t> footer(size);
  file.seekg(end - std::streamoff{kTail} - size);
  if (!file.read(reinterpret_cast<char*>(footer.data()), size)) return {};
  return footer;
}

namespace {

/// Physical types, by their numbers in parquet.thrift; bytes of a fixed size follow.
constexpr std::int64_t kInteger32 = 1, kInteger64 = 2, kInteger96 = 3, kFloat = 4, kDouble = 5,
                       kBytes = 6;

/// Metadata again, without some of its fields. Field numbers are those of parquet.thrift.
class FooterEditor {
 public:
  explicit FooterEditor(std::span<const std::uint8_t> bytes) : bytes_(bytes), reader_(bytes) {}

  std::vector<std::uint8_t> edited() {
    edit(ThriftReader::kStruct, [&](const Field& field) {
      if (field.id == 2) return list(field, [&](Type type) { schema_element(type); });
      if (field.id == 4) return list(field, [&](Type type) { row_group(type); });
      copy(field);
    });
    return std::move(written_);
  }

 private:
  using Field = ThriftReader::Field;
  using Type = ThriftReader::Type;

  /// Calls `write` for each field, which writes it, or not, and passes it.
  template <class Write>
  void edit(Type type, Write write) {
    reader_.fields(type, [&](const Field& field) {
      write(field);
      return true;
    });
    written_.push_back(ThriftReader::kStop);
  }

  /// With its number in full: what comes before it may be missing now.
  void header(const Field& field) {
    written_.push_back(field.type);
    auto folded = static_cast<std::uint64_t>(field.id << 1 ^ field.id >> 63);
    for (; folded >= 0x80; folded >>= 7) {
      written_.push_back(static_cast<std::uint8_t>(folded | 0x80));
    }
    written_.push_back(static_cast<std::uint8_t>(folded));
  }

  /// What was read from there on.
  void write_from(std::size_t from) {
    const auto at = [&](std::size_t i) { return bytes_.begin() + static_cast<std::ptrdiff_t>(i); };
    written_.insert(written_.end(), at(from), at(reader_.position()));
  }

  void copy(const Field& field) {
    header(field);
    const std::size_t from = reader_.position();
    reader_.skip(field.type);
    write_from(from);
  }

  template <class Write>
  void list(const Field& field, Write write) {
    header(field);
    const std::size_t from = reader_.position();
    bool begun = false;
    const auto begin = [&] {
      if (!begun) write_from(from);
      begun = true;
    };
    reader_.list(field.type, [&](Type type) {
      begin();
      write(type);
    });
    begin();
  }

  /// How a column is stored, as far as it matters here.
  struct Stored {
    std::int64_t type = -1, precision = 0;
    bool is_bytes() const { return type >= kBytes; }
  };

  /// A struct of the schema without its annotation, where that is one as text (UTF8, ENUM, JSON,
  /// BSON), as milliseconds or as a decimal in bytes.
  void schema_element(Type type) {
    Stored stored;
    ThriftReader ahead = reader_;
    ahead.fields(type, [&](const Field& field) {
      if (field.id == 1) stored.type = ahead.integer(field.type);
      if (field.id == 8) stored.precision = ahead.integer(field.type);
      return field.id == 1 || field.id == 8;
    });
    edit(type, [&](const Field& field) {
      const bool dropped = (field.id == 6 && is_dropped_converted(field.type, stored)) ||
                           (field.id == 10 && is_dropped_logical(field.type, stored));
      dropped ? reader_.skip(field.type) : copy(field);
    });
  }

  bool is_dropped_converted(Type type, const Stored& stored) const {
    const std::int64_t converted = ThriftReader(reader_).integer(type);
    if (stored.type == kInteger64) return converted == 9;
    if (converted == 5) return is_dropped_decimal(stored);
    return stored.is_bytes() &&
           (converted == 0 || converted == 4 || converted == 19 || converted == 20);
  }

  /// Decimals in integers are never too long to be read, and longer ones are doubles to the engine.
  static bool is_dropped_decimal(const Stored& stored) {
    return stored.is_bytes() && stored.precision > 0 && stored.precision <= 38;
  }

  bool is_dropped_logical(Type type, const Stored& stored) const {
    bool text = false, milliseconds = false, decimal = false;
    ThriftReader ahead = reader_;
    ahead.fields(type, [&](const Field& kind) {
      text = kind.id == 1 || kind.id == 4 || kind.id == 12 || kind.id == 13;
      decimal = kind.id == 5;
      if (kind.id != 8) return false;
      ahead.fields(kind.type, [&](const Field& part) {
        if (part.id != 2) return false;
        ahead.fields(part.type, [&](const Field& unit) {
          milliseconds = unit.id == 1;
          return false;
        });
        return true;
      });
      return true;
    });
    return (text && stored.is_bytes()) || (milliseconds && stored.type == kInteger64) ||
           (decimal && is_dropped_decimal(stored));
  }

  void row_group(Type type) {
    edit(type, [&](const Field& field) {
      if (field.id == 1) return list(field, [&](Type chunk) { column_chunk(chunk); });
      copy(field);
    });
  }

  void column_chunk(Type type) {
    edit(type, [&](const Field& field) {
      if (field.id != 3) return copy(field);
      header(field);
      // Statistics (12) and filters (14, 15) are of values in another order, and with other hashes
      // perhaps.
      edit(field.type, [&](const Field& part) {
        part.id == 12 || part.id == 14 || part.id == 15 ? reader_.skip(part.type) : copy(part);
      });
    });
  }

  std::span<const std::uint8_t> bytes_;
  ThriftReader reader_;
  std::vector<std::uint8_t> written_;
};

/// Whether the embedded engine reads values of a physical type that are encoded so; all of it has
/// levels and dictionaries.
bool is_read(std::int64_t stored, std::int64_t encoding) {
  switch (encoding) {
    case 0:  // PLAIN
    case 2:  // PLAIN_DICTIONARY
    case 3:  // RLE
    case 4:  // BIT_PACKED
    case 8:  // RLE_DICTIONARY
      return true;
    case 5:  // DELTA_BINARY_PACKED
      return stored == kInteger32 || stored == kInteger64;
    case 6:  // DELTA_LENGTH_BYTE_ARRAY
    case 7:  // DELTA_BYTE_ARRAY
      return stored == kBytes;
    case 9:  // BYTE_STREAM_SPLIT
      return stored == kFloat || stored == kDouble;
    default:
      return false;
  }
}

bool is_unpacked(std::int64_t codec) {
  constexpr std::int64_t kLzo = 3, kLz4OfHadoop = 5;
  return codec >= 0 && codec <= 7 && codec != kLzo && codec != kLz4OfHadoop;
}

/// Calls read(part) for the field `id` of each struct in a list.
template <class Read>
void in_list(ThriftReader& reader, const ThriftReader::Field& list, std::int64_t id, Read read) {
  reader.list(list.type, [&](ThriftReader::Type type) {
    reader.fields(type, [&](const ThriftReader::Field& part) {
      if (part.id != id) return false;
      read(part);
      return true;
    });
  });
}

}  // namespace

ParquetFacts parquet_facts(std::span<const std::uint8_t> footer) {
  using Field = ThriftReader::Field;
  using Type = ThriftReader::Type;
  ParquetFacts facts;
  bool is_unsigned = false, of_integers = false, of_bytes = false;
  ThriftReader reader(footer);
  const auto chunk = [&](const Field& metadata) {
    std::int64_t stored = 0, codec = 0;
    std::vector<std::int64_t> encodings;
    std::vector<std::string_view> path;
    bool found[7] = {};  // the largest and least, old (1, 2) and new (5, 6)
    reader.fields(metadata.type, [&](const Field& field) {
      const auto each = [&](auto read) { reader.list(field.type, read); };
      if (field.id == 1) stored = reader.integer(field.type);
      if (field.id == 2) each([&](Type type) { encodings.push_back(reader.integer(type)); });
      if (field.id == 3) each([&](Type type) { path.push_back(reader.bytes(type)); });
      if (field.id == 4) codec = reader.integer(field.type);
      if (field.id == 12)
        reader.fields(field.type, [&](const Field& part) {
          if (part.id >= 1 && part.id <= 6) found[part.id] = true;
          return false;
        });
      return (field.id >= 1 && field.id <= 4) || field.id == 12;
    });
    const bool old = (found[1] && !found[5]) || (found[2] && !found[6]);
    of_integers = of_integers || (old && (stored == kInteger32 || stored == kInteger64));
    of_bytes = of_bytes || (old && (stored == kInteger96 || stored >= kBytes));
    if (path.size() != 1) return;
    bool& all = facts.columns.try_emplace(std::string(path[0]), true).first->second;
    all = all && is_unpacked(codec) &&
          std::all_of(encodings.begin(), encodings.end(),
                      [&](std::int64_t encoding) { return is_read(stored, encoding); });
  };
  try {
    reader.fields(ThriftReader::kStruct, [&](const Field& field) {
      if (field.id == 2)
        in_list(reader, field, 6, [&](const Field& converted) {
          const std::int64_t annotation = reader.integer(converted.type);
          is_unsigned = is_unsigned || (annotation >= 11 && annotation <= 14);
        });
      if (field.id == 4)
        in_list(reader, field, 1, [&](const Field& chunks) { in_list(reader, chunks, 3, chunk); });
      return field.id == 2 || field.id == 4;
    });
  } catch (const ThriftReader::Unreadable&) {
    return {};
  }
  facts.old_statistics = of_bytes || (of_integers && is_unsigned);
  return facts;
}

std::optional<std::vector<std::uint8_t>> with_raw_columns(std::span<const std::uint8_t> footer) {
  try {
    return FooterEditor(footer).edited();
  } catch (const ThriftReader::Unreadable&) {
    return std::nullopt;
  }
}

bool copy_with_raw_columns(const std::string& path, TemporaryFile& to,
                           const std::atomic<bool>& cancelled) {
  const std::vector<std::uint8_t> footer = parquet_footer(path);
  const auto edited = with_raw_columns(footer);
  std::error_code unknown;
  const std::uintmax_t whole = std::filesystem::file_size(path, unknown);
  if (footer.empty() || !edited || unknown) return false;
  to.clear();
  to.copy(path, whole - footer.size() - kTail, cancelled);
  const auto size = static_cast<std::uint32_t>(edited->size());
  to.write({reinterpret_cast<const char*>(edited->data()), edited->size()});
  to.write({reinterpret_cast<const char*>(&size), sizeof size});
  to.write("PAR1");
  return true;
}

}  // namespace gauze::internal
