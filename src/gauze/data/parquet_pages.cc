#include <optional>
#include <utility>

#include "gauze/base/words.h"
#include "gauze/data/parquet_pages_internal.h"

namespace gauze::internal::parquet {
namespace {

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

/// How it holds values of that type, where it does as they are. Integers of fewer bits, or without a sign, are not.
Stored stored_plainly(const SchemaNode& element, Type type) {
  constexpr std::int64_t kNone = -1, kUtf8 = 0, kInt32 = 17, kInt64 = 18, kString = 1,
                         kIntegers = 10;
  const std::int64_t converted = element.converted, logical = element.logical;
  const auto is = [&](Stored stored) { return element.type == static_cast<std::int64_t>(stored); };
  if (type == Type::kText && is(Stored::kByteArray) &&
      converted == kUtf8 &&  // without it the engine takes them for bytes
      (logical == kString || logical == kNone))
    return Stored::kByteArray;
  if (type == Type::kDouble && is(Stored::kDouble) && converted == kNone && logical == kNone)
    return Stored::kDouble;
  if (type != Type::kInteger) return Stored::kNone;
  for (const auto& [stored, annotation] :
       {std::pair(Stored::kInteger32, kInt32), std::pair(Stored::kInteger64, kInt64)}) {
    const bool bare = converted == kNone && logical == kNone;
    const bool named = converted == annotation && (logical == kNone || logical == kIntegers);
    if (is(stored) && (bare || named)) return stored;
  }
  return Stored::kNone;
}

/// The place of a column among the leaves; those of its name must be one, and it must not be nested.
std::size_t find_leaf(const std::vector<SchemaNode>& schema, const ColumnInfo& wanted,
                      ColumnOfFile& column) {
  expect(!schema.empty());
  std::size_t at = 1, leaf = 0, found = 0, named = 0;
  for (std::int64_t top = 0; top < schema[0].children; ++top) {
    expect(at < schema.size());
    const SchemaNode& child = schema[at];
    if (same_name(child.name, wanted.name)) {
      column.stored = stored_plainly(child, wanted.type);
      expect(++named == 1 && child.name == wanted.name && child.children == 0);
      expect(column.stored != Stored::kNone);
      expect(child.repetition == 0 || child.repetition == 1);
      found = leaf;
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

ColumnChunk read_chunk(Thrift& in, Thrift::Type type) {
  ColumnChunk chunk;
  in.fields(type, [&](const Thrift::Field& field) {
    if (field.id == 1 || field.id == 8 || field.id == 9) chunk.plain_file = false;
    if (field.id != 3) return false;
    in.fields(field.type, [&](const Thrift::Field& part) {
      if (part.id == 4) {
        chunk.codec = Codec{in.integer(part.type)};
        return true;
      }
      std::int64_t* to = part.id == 5    ? &chunk.values
                         : part.id == 7  ? &chunk.size
                         : part.id == 9  ? &chunk.data
                         : part.id == 11 ? &chunk.dictionary
                                         : nullptr;
      if (to) *to = in.integer(part.type);
      return to != nullptr;
    });
    return true;
  });
  return chunk;
}

/// Of the row group, those of `leaves`, as the last of `columns`' chunks.
void read_group(Thrift& in, Thrift::Type type, const std::vector<std::size_t>& leaves,
                std::vector<ColumnOfFile>& columns) {
  std::int64_t rows = 0;
  std::size_t at = 0;
  for (ColumnOfFile& column : columns) column.chunks.emplace_back();
  in.fields(type, [&](const Thrift::Field& part) {
    if (part.id == 3) rows = in.integer(part.type);
    if (part.id == 1)
      in.list(part.type, [&](Thrift::Type each) {
        if (std::find(leaves.begin(), leaves.end(), at) == leaves.end()) {
          in.skip(each);
        } else {
          const ColumnChunk chunk = read_chunk(in, each);
          for (std::size_t i = 0; i < leaves.size(); ++i) {
            if (leaves[i] == at) columns[i].chunks.back() = chunk;
          }
        }
        ++at;
      });
    return part.id == 1 || part.id == 3;
  });
  expect(rows >= 0 && static_cast<std::uint64_t>(rows) < kMostRows);
  for (std::size_t i = 0; i < columns.size(); ++i) {
    ColumnChunk& chunk = columns[i].chunks.back();
    chunk.rows = rows;
    expect(at > leaves[i] && chunk.plain_file && chunk.values == rows);
  }
}

std::vector<ColumnOfFile> read_columns(Bytes footer, std::span<const ColumnInfo> wanted) {
  std::vector<ColumnOfFile> columns(wanted.size());
  std::vector<SchemaNode> schema;
  std::vector<std::size_t> leaves;
  Thrift in(footer);
  in.fields(Thrift::kStruct, [&](const Thrift::Field& field) {
    expect(field.id != 8);  // encrypted
    if (field.id == 2) {
      expect(schema.empty());
      in.list(field.type, [&](Thrift::Type each) { schema.push_back(read_element(in, each)); });
      for (std::size_t i = 0; i < wanted.size(); ++i)
        leaves.push_back(find_leaf(schema, wanted[i], columns[i]));
      return true;
    }
    if (field.id != 4) return false;
    expect(!schema.empty());
    in.list(field.type, [&](Thrift::Type group) { read_group(in, group, leaves, columns); });
    return true;
  });
  expect(!schema.empty());
  return columns;
}

struct PageHeader {
  enum Kind : std::int64_t { kData = 0, kIndex = 1, kDictionary = 2, kData2 = 3 };
  std::int64_t kind = -1, unpacked = -1, packed = -1, values = 0, encoding = -1;
  std::int64_t definition_bytes = 0, repetition_bytes = 0, definition_encoding = 3;
  bool is_packed = true;
};

PageHeader read_header(Thrift& in) {
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

}  // namespace

ColumnsOfFile open_columns(const std::string& path, std::span<const ColumnInfo> columns) {
  ColumnsOfFile opened{std::make_unique<InputFile>(path), {}};
  expect(opened.file->is_open());
  opened.columns = read_columns(parquet_footer(*opened.file), columns);
  return opened;
}

Runs::Run Runs::next() {
  std::uint64_t header = 0;
  std::size_t at = 0;
  for (unsigned shift = 0;; shift += 7) {
    expect(at < rest_.size() && shift < 35);
    header |= std::uint64_t{rest_[at] & 0x7fu} << shift;
    if (rest_[at++] < 0x80) break;
  }
  rest_ = rest_.subspan(at);
  Run run{nullptr, 0, header >> 1};
  expect(run.count > 0);
  if (header & 1) {
    // The last group may be cut off where nothing of it is wanted.
    const std::uint64_t bytes = std::min<std::uint64_t>(run.count * width_, rest_.size());
    run.bits = rest_.data();
    run.count *= 8;
    if (width_ > 0) run.count = std::min(run.count, bytes * 8 / width_);
    expect(run.count > 0);
    rest_ = rest_.subspan(static_cast<std::size_t>(bytes));
  } else {
    const std::size_t bytes = (width_ + 7) / 8;
    expect(bytes <= rest_.size());
    for (std::size_t i = 0; i < bytes; ++i) run.number |= std::uint32_t{rest_[i]} << (8 * i);
    rest_ = rest_.subspan(bytes);
  }
  return run;
}

Bytes FileWindow::ahead(std::size_t size) {
  if (shown_.size() < size && unread_ > 0) {
    const std::size_t kept = shown_.size();
    const auto more =
        static_cast<std::size_t>(std::min<std::uint64_t>(unread_, std::max(kAtOnce, size - kept)));
    if (kept > 0) std::memmove(buffer_.resized(kept).data(), shown_.data(), kept);
    const std::span<std::uint8_t> all = buffer_.resized(kept + more);
    expect(file_->read(offset_, all.subspan(kept)));
    offset_ += more;
    unread_ -= more;
    shown_ = all;
  }
  return shown_.first(std::min(size, shown_.size()));
}

void Pages::open(const InputFile& file, const ColumnOfFile& column, const ColumnChunk& chunk) {
  const std::int64_t first =
      chunk.dictionary > 0 ? std::min(chunk.dictionary, chunk.data) : chunk.data;
  expect(first >= 0 && chunk.size >= 0);
  const auto from = static_cast<std::uint64_t>(first),
             size = static_cast<std::uint64_t>(chunk.size);
  expect(from <= file.size() && size <= file.size() - from);
  rest_.open(file, from, size);
  packed_ = 0;
  codec_ = chunk.codec;
  nullable_ = column.nullable;
  has_dictionary_ = false;
  left_ = static_cast<std::uint64_t>(chunk.rows);
}

bool Pages::next(Page& page) {
  constexpr std::int64_t kPlain = 0, kPlainDictionary = 2, kRunLength = 3, kCodes = 8;
  constexpr std::size_t kMostHeader = std::size_t{1} << 16;
  if (left_ == 0) return false;
  PageHeader header;
  Bytes packed;
  do {
    rest_.pass(packed_);  // the page before
    Thrift in(rest_.ahead(kMostHeader));
    header = read_header(in);
    rest_.pass(in.position());
    packed_ = static_cast<std::size_t>(header.packed);
    packed = rest_.ahead(packed_);
    expect(packed.size() == packed_);
  } while (header.kind == PageHeader::kIndex);
  const auto size = static_cast<std::size_t>(header.unpacked);
  page.rows = static_cast<std::uint64_t>(header.values);
  page.is_dictionary = header.kind == PageHeader::kDictionary;
  if (page.is_dictionary) {
    expect(!has_dictionary_ && (header.encoding == kPlain || header.encoding == kPlainDictionary));
    expect(page.rows <= kMostValues);
    has_dictionary_ = true;
    const Bytes values = unpacked(packed, size, true, dictionary_);
    const std::span<std::uint8_t> kept = dictionary_.resized(size);
    if (values.data() != kept.data()) std::copy(values.begin(), values.end(), kept.begin());
    page.values = kept;  // while the window moves on
    return true;
  }
  page.is_coded = header.encoding == kPlainDictionary || header.encoding == kCodes;
  expect(page.is_coded ? has_dictionary_ : header.encoding == kPlain);
  expect(page.rows > 0 && page.rows <= left_);
  left_ -= page.rows;
  page.levels = {};
  if (header.kind == PageHeader::kData2) {
    const auto before = static_cast<std::size_t>(header.definition_bytes);
    expect(before <= packed.size() && before <= size);
    page.levels = packed.first(before);
    page.values = unpacked(packed.subspan(before), size - before, header.is_packed, page_);
    return true;
  }
  expect(header.kind == PageHeader::kData);
  page.values = unpacked(packed, size, true, page_);
  if (!nullable_) return true;
  expect(header.definition_encoding == kRunLength && page.values.size() >= 4);
  const auto length = load<std::uint32_t>(page.values.data());
  expect(length <= page.values.size() - 4);
  page.levels = page.values.subspan(4, length);
  page.values = page.values.subspan(4 + std::size_t{length});
  return true;
}

Bytes Pages::unpacked(Bytes packed, std::size_t size, bool is_packed, PaddedBytes& buffer) {
  // No memory for what cannot be.
  expect(size / PageUnpacker::most_growth(codec_) <= packed.size());
  if (codec_ == Codec::kNone || !is_packed) {
    expect(packed.size() == size);
    return packed;
  }
  const std::span<std::uint8_t> to = buffer.resized(size);
  unpacker_.unpack(codec_, packed, to);
  return to;
}

}  // namespace gauze::internal::parquet
