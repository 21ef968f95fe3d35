#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

// Small files of Parquet made by hand, for what no writer at hand writes.
namespace gauze::testing {

/// Thrift's compact protocol, as far as a small file needs it.
class ThriftWriter {
 public:
  ThriftWriter& number(int id, std::int64_t value, int type = 5) {
    return field(id, type).varint(static_cast<std::uint64_t>(value << 1 ^ value >> 63));
  }
  ThriftWriter& text(int id, const std::string& value) {
    field(id, 8).varint(value.size());
    bytes_ += value;
    return *this;
  }
  ThriftWriter& numbers(int id, const std::vector<std::int64_t>& values) {
    field(id, 9);
    bytes_ += static_cast<char>(values.size() << 4 | 5);
    for (const std::int64_t value : values) varint(static_cast<std::uint64_t>(value << 1));
    return *this;
  }
  ThriftWriter& names(int id, const std::string& name) {
    field(id, 9);
    bytes_ += static_cast<char>(1 << 4 | 8);
    varint(name.size());
    bytes_ += name;
    return *this;
  }
  ThriftWriter& flag(int id, bool value) { return field(id, value ? 1 : 2); }
  ThriftWriter& inside(int id, const ThriftWriter& value) {
    field(id, 12).bytes_ += value.bytes();
    return *this;
  }
  ThriftWriter& list(int id, const std::vector<ThriftWriter>& values) {
    field(id, 9);
    bytes_ += static_cast<char>(values.size() << 4 | 12);
    for (const ThriftWriter& each : values) bytes_ += each.bytes();
    return *this;
  }
  std::string bytes() const { return bytes_ + '\0'; }

 private:
  ThriftWriter& field(int id, int type) {
    bytes_ += static_cast<char>((id - last_) << 4 | type);
    last_ = id;
    return *this;
  }
  ThriftWriter& varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>(value | 0x80);
    bytes_ += static_cast<char>(value);
    return *this;
  }
  std::string bytes_;
  int last_ = 0;
};

/// Numbers as they lie in memory.
template <class T>
std::string plain_bytes(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

/// Texts as plain pages have them.
inline std::string plain_texts(const std::vector<std::string>& texts) {
  std::string bytes;
  for (const std::string& text : texts)
    bytes += plain_bytes<std::uint32_t>({static_cast<std::uint32_t>(text.size())}) + text;
  return bytes;
}

/// Rows of a column, none of which is null.
struct TestRows {
  int rows = 0;
  std::string values = {};  ///< as plain pages have them
};

/// Of a column of decimals, whose annotation is 5; statistics of any.
struct TestDecimal {
  int precision = 0, scale = 0;
  int size = 0;                       ///< of each value, where that is fixed
  std::string least = {}, most = {};  ///< statistics; none where empty
  bool old = false;                   ///< whether these are in fields that no longer count
};

/// A file of one column `g` with one row group and one page. `stored` is the number of a type,
/// `annotation` that of a converted one, or none below 0; `logical` says the same at length.
inline std::string parquet_file(int stored, int codec, const TestRows& rows, int annotation = -1,
                                const TestDecimal& decimal = {},
                                const std::optional<ThriftWriter>& logical = {}) {
  const auto bytes = static_cast<std::int64_t>(rows.values.size());
  const auto kind = ThriftWriter().number(1, rows.rows).number(2, 0).number(3, 3).number(4, 3);
  const std::string chunk =
      ThriftWriter().number(1, 0).number(2, bytes).number(3, bytes).inside(5, kind).bytes() +
      rows.values;
  const auto size = static_cast<std::int64_t>(chunk.size());
  ThriftWriter column;
  column.number(1, stored).numbers(2, {0, 3, 8}).names(3, "g").number(4, codec);
  column.number(5, rows.rows, 6).number(6, size, 6).number(7, size, 6).number(9, 4, 6);
  if (!decimal.most.empty())
    column.inside(12, ThriftWriter()
                          .text(decimal.old ? 1 : 5, decimal.most)
                          .text(decimal.old ? 2 : 6, decimal.least));
  ThriftWriter group;
  group.list(1, {ThriftWriter().number(2, 4, 6).inside(3, column)})
      .number(2, size, 6)
      .number(3, rows.rows, 6);
  ThriftWriter leaf;
  leaf.number(1, stored);
  if (decimal.size > 0) leaf.number(2, decimal.size);
  leaf.number(3, 0).text(4, "g");
  if (annotation >= 0) leaf.number(6, annotation);
  if (decimal.precision > 0) {
    leaf.number(7, decimal.scale).number(8, decimal.precision);
    leaf.inside(10, ThriftWriter().inside(
                        5, ThriftWriter().number(1, decimal.scale).number(2, decimal.precision)));
  } else if (logical) {
    leaf.inside(10, *logical);
  }
  const std::string footer = ThriftWriter()
                                 .number(1, 2)
                                 .list(2, {ThriftWriter().text(4, "root").number(5, 1), leaf})
                                 .number(3, rows.rows, 6)
                                 .list(4, {group})
                                 .bytes();
  return "PAR1" + chunk + footer +
         plain_bytes<std::uint32_t>({static_cast<std::uint32_t>(footer.size())}) + "PAR1";
}

}  // namespace gauze::testing
