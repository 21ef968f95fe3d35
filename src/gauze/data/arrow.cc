#include "gauze/data/arrow.h"

#include <cstring>
#include <limits>
#include <string>

#include "gauze/base/error.h"

namespace gauze {

/// Reads what a column shows of itself, to share it.
class ArrowExporter {
 public:
  static std::span<const std::uint8_t> bits(const Column& column) { return column.bits_; }
  static const void* values(const Column& column) {
    if (column.type_ == Type::kText) return column.codes_.data();
    return column.reals_.empty() ? static_cast<const void*>(column.integers_.data())
                                 : column.reals_.data();
  }
};

namespace {

const char* format_of(Type type) {
  switch (type) {
    case Type::kBoolean:
      return "b";
    case Type::kInteger:
      return "l";
    case Type::kDecimal:
    case Type::kDouble:
      return "g";
    case Type::kText:
      return "i";  // of the codes; the dictionary holds "u"
    case Type::kDate:
      return "tdD";
    case Type::kTimestamp:
      return "tsu:";
  }
  return "n";
}

/// What one exported node keeps alive. Children are released with their parent unless the receiver
/// moved them away.
struct SchemaNode {
  std::string name;
  std::vector<ArrowSchema> children;
  std::vector<ArrowSchema*> pointers;
  ArrowSchema dictionary{};
};

struct ArrayNode {
  Column column;  // shares what the buffers show
  std::vector<const void*> buffers;
  std::vector<std::uint8_t> bytes;
  std::vector<std::int32_t> numbers;
  std::string text;
  std::vector<ArrowArray> children;
  std::vector<ArrowArray*> pointers;
  ArrowArray dictionary{};
};

template <class Arrow, class Node>
void release(Arrow* arrow) {
  auto* node = static_cast<Node*>(arrow->private_data);
  for (Arrow& child : node->children)
    if (child.release) child.release(&child);
  if (node->dictionary.release) node->dictionary.release(&node->dictionary);
  delete node;
  arrow->release = nullptr;
}

ArrowSchema make_schema(const char* format, const std::string& name,
                        std::vector<ArrowSchema> children) {
  auto* node = new SchemaNode{name, std::move(children), {}, {}};
  for (ArrowSchema& child : node->children) node->pointers.push_back(&child);
  return {format,
          node->name.c_str(),
          nullptr,
          ARROW_FLAG_NULLABLE,
          static_cast<std::int64_t>(node->children.size()),
          node->pointers.data(),
          nullptr,
          release<ArrowSchema, SchemaNode>,
          node};
}

ArrowArray make_array(std::size_t length, std::unique_ptr<ArrayNode> node) {
  for (ArrowArray& child : node->children) node->pointers.push_back(&child);
  ArrowArray array{static_cast<std::int64_t>(length),
                   0,
                   0,
                   static_cast<std::int64_t>(node->buffers.size()),
                   static_cast<std::int64_t>(node->children.size()),
                   node->buffers.data(),
                   node->pointers.data(),
                   nullptr,
                   release<ArrowArray, ArrayNode>,
                   node.get()};
  node.release();
  return array;
}

ArrowArray dictionary_array(const Column& column) {
  auto node = std::make_unique<ArrayNode>();
  node->numbers.push_back(0);
  for (const std::string_view text : column.dictionary()) {
    if (node->text.size() + text.size() >
        static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max()))
      throw Error(ErrorCode::kUnsupported, "the texts of a column have more than two gigabytes");
    node->text += text;
    node->numbers.push_back(static_cast<std::int32_t>(node->text.size()));
  }
  node->buffers = {nullptr, node->numbers.data(), node->text.data()};
  return make_array(column.dictionary().size(), std::move(node));
}

ArrowArray column_array(const Column& column) {
  auto node = std::make_unique<ArrayNode>();
  node->column = column;
  const void* values = ArrowExporter::values(column);
  if (column.type() == Type::kDate) {
    for (const std::int64_t day : column.integers())
      node->numbers.push_back(static_cast<std::int32_t>(day));
    values = node->numbers.data();
  } else if (column.type() == Type::kBoolean) {
    node->bytes.resize((column.size() + 7) / 8);
    for (std::size_t i = 0; i < column.size(); ++i)
      if (column.integers()[i])
        node->bytes[i / 8] = static_cast<std::uint8_t>(node->bytes[i / 8] | 1u << (i % 8));
    values = node->bytes.data();
  }
  node->buffers = {column.has_nulls() ? ArrowExporter::bits(column).data() : nullptr, values};
  if (column.type() == Type::kText) node->dictionary = dictionary_array(column);
  ArrowArray array = make_array(column.size(), std::move(node));
  // -1, for "not counted", is allowed as well, but DuckDB then takes null codes for the first text.
  for (std::size_t i = 0; i < column.size() && column.has_nulls(); ++i)
    array.null_count += column.is_null(i) ? 1 : 0;
  if (column.type() == Type::kText)
    array.dictionary = &static_cast<ArrayNode*>(array.private_data)->dictionary;
  return array;
}

ArrowSchema column_schema(const Column& column, const std::string& name) {
  ArrowSchema schema = make_schema(format_of(column.type()), name, {});
  if (column.type() != Type::kText) return schema;
  auto* node = static_cast<SchemaNode*>(schema.private_data);
  node->dictionary = make_schema("u", "", {});
  schema.dictionary = &node->dictionary;
  return schema;
}

bool bit(const void* bits, std::int64_t at) {
  return static_cast<const std::uint8_t*>(bits)[at / 8] >> (at % 8) & 1;
}

template <class T>
const T* buffer(const ArrowArray& array, std::size_t which) {
  return static_cast<const T*>(array.buffers[which]);
}

/// Both structures, moved here, until the last column that needs them is gone.
struct Imported {
  ArrowSchema schema;
  ArrowArray array;
  Imported(ArrowSchema* from_schema, ArrowArray* from_array)
      : schema(*from_schema), array(*from_array) {
    from_schema->release = nullptr;
    from_array->release = nullptr;
  }
  Imported(const Imported&) = delete;
  Imported& operator=(const Imported&) = delete;
  ~Imported() {
    if (schema.release) schema.release(&schema);
    if (array.release) array.release(&array);
  }
};

/// A 128-bit integer, least byte first, divided by a power of ten.
double decimal(const std::uint8_t* at, int scale) {
  std::uint64_t low = 0;
  std::int64_t high = 0;
  std::memcpy(&low, at, sizeof low);
  std::memcpy(&high, at + 8, sizeof high);
  Integer power = 1;
  for (int i = 0; i < std::abs(scale); ++i) power *= 10;
  const Integer whole = (Integer(high) << 64) + low;
  return nearest_double(scale >= 0 ? Ratio(whole, power) : Ratio(whole * power));
}

}  // namespace

class ArrowImporter {
 public:
  ArrowImporter(std::shared_ptr<const Imported> owner, const ArrowSchema& schema,
                const ArrowArray& array, std::int64_t offset, std::int64_t length)
      : owner_(std::move(owner)),
        schema_(schema),
        array_(array),
        format_(schema.format),
        offset_(offset + array.offset),
        rows_(static_cast<std::size_t>(length)) {
    if (array.length < offset + length || offset_ < 0) throw_invalid();
  }

  Column column() {
    if (format_ == "n")
      return Column::of_texts(std::vector<std::int32_t>(rows_), {},
                              std::vector<std::uint8_t>(rows_, 0));
    if (array_.n_buffers < 2) throw_unsupported();
    read_validity();
    if (schema_.dictionary) return dictionary_column();
    if (format_ == "l") return share_integers(Type::kInteger);
    if (format_ == "g") return share_reals();
    if (format_.starts_with("tsu:")) return share_integers(Type::kTimestamp);
    if (format_ == "b")
      return convert(Type::kBoolean, [&](std::size_t i) {
        return std::int64_t{bit(array_.buffers[1], offset_ + static_cast<std::int64_t>(i))};
      });
    if (format_ == "tdD") return integers_of<std::int32_t>(Type::kDate, 1, 1);
    if (format_ == "tdm") return integers_of<std::int64_t>(Type::kDate, 1, 86'400'000);
    if (format_.starts_with("tss:"))
      return integers_of<std::int64_t>(Type::kTimestamp, 1'000'000, 1);
    if (format_.starts_with("tsm:")) return integers_of<std::int64_t>(Type::kTimestamp, 1000, 1);
    if (format_.starts_with("tsn:")) return integers_of<std::int64_t>(Type::kTimestamp, 1, 1000);
    if (format_ == "u") return texts<std::int32_t>();
    if (format_ == "U") return texts<std::int64_t>();
    if (format_ == "f")
      return reals_of(Type::kDouble, [&](std::size_t i) { return double{at<float>()[i]}; });
    if (format_ == "L")
      return reals_of(Type::kDecimal,
                      [&](std::size_t i) { return static_cast<double>(at<std::uint64_t>()[i]); });
    if (format_.starts_with("d:")) return decimals();
    return small_integers();
  }

 private:
  [[noreturn]] void throw_unsupported() const {
    throw Error(ErrorCode::kUnsupported, "column '" +
                                             std::string(schema_.name ? schema_.name : "") +
                                             "' has the Arrow type '" + format_.substr(0, 40) +
                                             "', which is not read; cast it first");
  }
  [[noreturn]] static void throw_invalid() {
    throw Error(ErrorCode::kInvalidInput, "what was given as an Arrow table is none");
  }

  template <class T>
  const T* at() const {
    return buffer<T>(array_, 1) + offset_;
  }

  void read_validity() {
    const void* bits = array_.null_count == 0 ? nullptr : array_.buffers[0];
    if (!bits) return;
    valid_.resize(rows_);
    for (std::size_t i = 0; i < rows_; ++i)
      valid_[i] = bit(bits, offset_ + static_cast<std::int64_t>(i)) ? 1 : 0;
  }

  /// `made` with its nulls, then pointed at memory that is not ours.
  Column shared(Type type) {
    std::vector<std::int64_t> none(valid_.empty() ? 0 : rows_);
    Column column = Column::of_integers(Type::kInteger, std::move(none), valid_);
    column.type_ = type;
    column.size_ = rows_;
    column.integers_ = {};
    struct Both {
      std::shared_ptr<const void> bits, values;
    };
    column.owner_ = std::make_shared<Both>(Both{column.owner_, owner_});
    return column;
  }
  Column share_integers(Type type) {
    Column column = shared(type);
    column.integers_ = {at<std::int64_t>(), rows_};
    return column;
  }
  Column share_reals() {
    Column column = shared(Type::kDouble);
    column.reals_ = {at<double>(), rows_};
    return column;
  }

  template <class Read>
  Column convert(Type type, Read read) {
    std::vector<std::int64_t> values(rows_);
    for (std::size_t i = 0; i < rows_; ++i) values[i] = valid(i) ? read(i) : 0;
    return Column::of_integers(type, std::move(values), valid_);
  }
  template <class Read>
  Column reals_of(Type type, Read read) {
    std::vector<double> values(rows_);
    for (std::size_t i = 0; i < rows_; ++i) values[i] = valid(i) ? read(i) : 0;
    return Column::of_reals(type, std::move(values), valid_);
  }
  /// Times `multiple`, saturating, divided by `part`, rounded down.
  template <class T>
  Column integers_of(Type type, std::int64_t multiple, std::int64_t part) {
    return convert(type, [&](std::size_t i) {
      std::int64_t value = at<T>()[i];
      if (__builtin_mul_overflow(value, multiple, &value))
        value = at<T>()[i] < 0 ? INT64_MIN : INT64_MAX;
      return value / part - (value % part < 0 ? 1 : 0);
    });
  }
  Column small_integers() {
    if (format_ == "c") return integers_of<std::int8_t>(Type::kInteger, 1, 1);
    if (format_ == "C") return integers_of<std::uint8_t>(Type::kInteger, 1, 1);
    if (format_ == "s") return integers_of<std::int16_t>(Type::kInteger, 1, 1);
    if (format_ == "S") return integers_of<std::uint16_t>(Type::kInteger, 1, 1);
    if (format_ == "i") return integers_of<std::int32_t>(Type::kInteger, 1, 1);
    if (format_ == "I") return integers_of<std::uint32_t>(Type::kInteger, 1, 1);
    throw_unsupported();
  }
  Column decimals() {
    // d:precision,scale or d:precision,scale,bits
    const auto comma = format_.find(',');
    if (comma == std::string::npos) throw_unsupported();
    const auto bits = format_.find(',', comma + 1);
    if (bits != std::string::npos && format_.substr(bits) != ",128") throw_unsupported();
    const int scale = std::atoi(format_.c_str() + comma + 1);
    if (scale < -100 || scale > 100) throw_unsupported();
    const auto* bytes = buffer<std::uint8_t>(array_, 1) + offset_ * 16;
    return reals_of(Type::kDecimal, [&](std::size_t i) { return decimal(bytes + i * 16, scale); });
  }

  template <class Offset>
  std::vector<std::string_view> views() {
    if (array_.n_buffers < 3) throw_unsupported();
    const Offset* offsets = at<Offset>();
    const char* bytes = buffer<char>(array_, 2);
    std::vector<std::string_view> texts(rows_);
    for (std::size_t i = 0; i < rows_; ++i) {
      if (!valid(i)) continue;
      if (offsets[i] < 0 || offsets[i + 1] < offsets[i]) throw_invalid();
      texts[i] = std::string_view(bytes ? bytes + offsets[i] : "",
                                  static_cast<std::size_t>(offsets[i + 1] - offsets[i]));
    }
    return texts;
  }
  template <class Offset>
  Column texts() {
    return Column::of_texts(views<Offset>(), valid_);
  }

  Column dictionary_column() {
    if (!array_.dictionary) throw_invalid();
    const Column codes = format_ == "l" ? share_integers(Type::kInteger) : small_integers();
    const Column texts =
        ArrowImporter(owner_, *schema_.dictionary, *array_.dictionary, 0, array_.dictionary->length)
            .column();
    if (texts.type() != Type::kText) throw_unsupported();
    // A dictionary may repeat a text or hold a null; ours does neither.
    std::vector<std::string_view> values(rows_);
    if (valid_.empty()) valid_.assign(rows_, 1);
    for (std::size_t i = 0; i < rows_; ++i) {
      const std::int64_t code = codes.integers()[i];
      if (!valid(i)) continue;
      if (code < 0 || static_cast<std::size_t>(code) >= texts.size()) throw_invalid();
      const auto row = static_cast<std::size_t>(code);
      valid_[i] = texts.is_null(row) ? 0 : 1;
      if (valid_[i]) values[i] = texts.text(row);
    }
    if (format_ == "i" && distinct(texts)) return share_codes(texts);
    return Column::of_texts(values, valid_);
  }
  /// Whether the codes of the array can stand as they are: every entry another text.
  static bool distinct(const Column& texts) {
    return !texts.has_nulls() && texts.dictionary().size() == texts.size();
  }
  Column share_codes(const Column& texts) {
    Column column = shared(Type::kText);
    column.codes_ = {at<std::int32_t>(), rows_};
    column.dictionary_ = texts.dictionary_;
    struct Both {
      std::shared_ptr<const void> codes, dictionary;
    };
    column.owner_ = std::make_shared<Both>(Both{column.owner_, texts.owner_});
    return column;
  }

  bool valid(std::size_t row) const { return valid_.empty() || valid_[row]; }

  std::shared_ptr<const Imported> owner_;
  const ArrowSchema& schema_;
  const ArrowArray& array_;
  std::string format_;
  std::int64_t offset_;
  std::size_t rows_;
  std::vector<std::uint8_t> valid_;
};

void export_arrow(const Table& table, ArrowSchema* schema, ArrowArray* array) {
  std::vector<ArrowSchema> schemas;
  auto node = std::make_unique<ArrayNode>();
  node->buffers = {nullptr};
  for (std::size_t i = 0; i < table.columns().size(); ++i) {
    node->children.push_back(column_array(table.columns()[i]));
    schemas.push_back(column_schema(table.columns()[i], table.names()[i]));
  }
  *schema = make_schema("+s", "", std::move(schemas));
  schema->flags = 0;
  *array = make_array(table.rows(), std::move(node));
}

Table import_arrow(ArrowSchema* schema, ArrowArray* array) {
  const auto owner = std::make_shared<const Imported>(schema, array);
  const ArrowSchema& names = owner->schema;
  const ArrowArray& values = owner->array;
  if (!names.format || std::strcmp(names.format, "+s") != 0 ||
      names.n_children != values.n_children || values.length < 0 ||
      (values.null_count != 0 && values.n_buffers > 0 && values.buffers[0]))
    throw Error(ErrorCode::kInvalidInput, "what was given as an Arrow table is none");
  std::vector<std::string> columns_names;
  std::vector<Column> columns;
  for (std::int64_t i = 0; i < names.n_children; ++i) {
    const ArrowSchema& child = *names.children[i];
    columns_names.emplace_back(child.name ? child.name : "");
    columns.push_back(
        ArrowImporter(owner, child, *values.children[i], values.offset, values.length).column());
  }
  return Table(std::move(columns_names), std::move(columns));
}

}  // namespace gauze
