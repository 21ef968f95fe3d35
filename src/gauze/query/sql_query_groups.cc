#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>

#include "gauze/base/on_threads.h"
#include "gauze/query/integer_numbers_internal.h"
#include "gauze/query/sql_query_internal.h"

namespace gauze::internal {
namespace {

/// Equal reals have equal bits.
std::int64_t real_bits(double value) {
  return std::bit_cast<std::int64_t>(value == 0 ? 0.0 : value);
}

/// What a source sends for a value: bits of a number, or a text.
struct Encode {
  std::int64_t bits = 0;
  std::string text;

  explicit Encode(const Value& value) { std::visit(*this, value); }
  void operator()(std::monostate) {}
  void operator()(bool x) { bits = x; }
  void operator()(std::int64_t x) { bits = x; }
  void operator()(const Ratio& x) { bits = real_bits(nearest_double(x)); }
  void operator()(double x) { bits = real_bits(x); }
  void operator()(const std::string& x) { text = x; }
  void operator()(const Date& x) { bits = x.days; }
  void operator()(const Timestamp& x) { bits = x.microseconds; }
};

struct TextHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const {
    return std::hash<std::string_view>()(text);
  }
};
using TextNumbers = std::unordered_map<std::string, std::uint32_t, TextHash, std::equal_to<>>;

bool is_text(Type type) {
  return type == Type::kText;
}

std::int64_t number_at(const BatchColumn& column, std::size_t row) {
  return column.kind == BatchColumn::Kind::kIntegers ? column.integers[row]
                                                     : real_bits(column.reals[row]);
}

Value decoded(Type type, std::int64_t bits) {
  switch (type) {
    case Type::kBoolean:
      return bits != 0;
    case Type::kInteger:
      return bits;
    case Type::kDate:
      return Date{bits};
    case Type::kTimestamp:
      return Timestamp{bits};
    default:
      return std::bit_cast<double>(bits);
  }
}

/// Positions in the domain of one key.
class Positions {
 public:
  explicit Positions(const KeyColumn& key) : text_(is_text(key.type)) {
    for (std::uint32_t i = 0; i < key.domain->size(); ++i) {
      const Value& value = (*key.domain)[i];
      const Encode encoded(value);
      if (std::holds_alternative<std::monostate>(value)) {
        null_ = i;
      } else if (text_) {
        texts_.emplace(encoded.text, i);
      } else {
        numbers_.find_or_add(encoded.bits, i);
      }
    }
    size_ = static_cast<std::uint32_t>(key.domain->size());
  }

  /// groups = groups * size + position, or none.
  void fold(const BatchColumn& column, std::vector<std::uint32_t>& groups) const {
    for (std::size_t row = 0; row < groups.size(); ++row) {
      std::uint32_t at = null_;
      if (!column.is_null(row)) {
        if (text_) {
          const auto found = texts_.find(column.texts[row]);
          at = found == texts_.end() ? UnitRows::kNoGroup : found->second;
        } else {
          at = numbers_.find(number_at(column, row));
        }
      }
      const bool none = at == UnitRows::kNoGroup || groups[row] == UnitRows::kNoGroup;
      groups[row] = none ? UnitRows::kNoGroup : groups[row] * size_ + at;
    }
  }

 private:
  bool text_;
  std::uint32_t null_ = UnitRows::kNoGroup;
  std::uint32_t size_ = 0;
  TextNumbers texts_;
  IntegerNumbers numbers_;
};

}  // namespace

struct GroupIndex::Parts {
  const Plan& plan;
  bool is_public = true;
  std::size_t public_size = 1;
  std::vector<Positions> positions;

  // of keys found in the rows: a single number, or any tuple as bytes
  bool single = false;
  IntegerNumbers numbers;
  std::vector<std::int64_t> number_of;
  std::uint32_t null_number = UnitRows::kNoGroup;
  TextNumbers tuples;
  std::vector<const std::string*> contents;
  std::string buffer;

  explicit Parts(const Plan& p) : plan(p) {
    for (const KeyColumn& key : plan.keys) is_public = is_public && key.domain;
    single = !is_public && plan.keys.size() == 1 && !is_text(plan.keys[0].type);
    if (!is_public) return;
    for (const KeyColumn& key : plan.keys) {
      positions.emplace_back(key);
      public_size *= key.domain->size();
    }
  }

  void encode(const Batch& batch, std::size_t first, std::size_t row) {
    buffer.clear();
    for (std::size_t k = 0; k < plan.keys.size(); ++k) {
      const BatchColumn& column = batch.columns[first + k];
      buffer.push_back(column.is_null(row) ? 0 : 1);
      if (column.is_null(row)) continue;
      if (is_text(plan.keys[k].type)) {
        const std::uint64_t size = column.texts[row].size();
        buffer.append(reinterpret_cast<const char*>(&size), sizeof size);
        buffer.append(column.texts[row]);
      } else {
        const std::int64_t bits = number_at(column, row);
        buffer.append(reinterpret_cast<const char*>(&bits), sizeof bits);
      }
    }
  }

  std::uint32_t intern(const Batch& batch, std::size_t first, std::size_t row) {
    encode(batch, first, row);
    const auto found = tuples.find(std::string_view(buffer));
    if (found != tuples.end()) return found->second;
    const auto added = tuples.emplace(buffer, static_cast<std::uint32_t>(contents.size())).first;
    contents.push_back(&added->first);
    return added->second;
  }

  void intern_numbers(const BatchColumn& column, std::vector<std::uint32_t>& groups) {
    constexpr std::size_t kAhead = 16;
    for (std::size_t row = 0; row < groups.size(); ++row) {
      if (row + kAhead < groups.size()) numbers.prefetch(number_at(column, row + kAhead));
      const auto next = static_cast<std::uint32_t>(number_of.size());
      const bool null = column.is_null(row);
      const std::int64_t bits = null ? 0 : number_at(column, row);
      if (null && null_number == UnitRows::kNoGroup) null_number = next;
      groups[row] = null ? null_number : numbers.find_or_add(bits, next);
      if (groups[row] == next) number_of.push_back(bits);
    }
  }

  /// All groups, of single numbers that sort as their bits do; null comes last.
  std::vector<std::uint32_t> by_number(unsigned threads) const {
    struct Place {
      std::int64_t number;
      std::uint32_t group;
    };
    std::vector<Place> places;
    places.reserve(number_of.size());
    for (std::uint32_t g = 0; g < number_of.size(); ++g) {
      if (g != null_number) places.push_back({number_of[g], g});
    }
    sort_on_threads(threads, places.begin(), places.end(),
                    [](const Place& a, const Place& b) { return a.number < b.number; });
    std::vector<std::uint32_t> order;
    order.reserve(number_of.size());
    for (const Place& place : places) order.push_back(place.group);
    if (null_number != UnitRows::kNoGroup) order.push_back(null_number);
    return order;
  }
};

GroupIndex::GroupIndex(const Plan& plan) : parts_(std::make_unique<Parts>(plan)) {}
GroupIndex::~GroupIndex() = default;
GroupIndex::GroupIndex(GroupIndex&&) noexcept = default;

void GroupIndex::assign(const Batch& batch, std::size_t first, std::vector<std::uint32_t>& groups) {
  Parts& p = *parts_;
  groups.assign(batch.rows, 0);
  if (p.is_public) {
    for (std::size_t k = 0; k < p.positions.size(); ++k) {
      p.positions[k].fold(batch.columns[first + k], groups);
    }
  } else if (p.single) {
    p.intern_numbers(batch.columns[first], groups);
  } else {
    for (std::size_t row = 0; row < batch.rows; ++row) groups[row] = p.intern(batch, first, row);
  }
}

bool GroupIndex::is_one_number() const {
  return parts_->single;
}

void GroupIndex::numbers(const BatchColumn& column, std::vector<std::int64_t>& numbers,
                         Ends& ends) {
  for (std::size_t row = 0; row < numbers.size(); ++row) {
    const bool null = column.is_null(row);
    numbers[row] = null ? kNullNumber : number_at(column, row);
    ends.null |= null;
    ends.lowest |= !null && numbers[row] == kNullNumber;
  }
}

void GroupIndex::take(std::vector<std::int64_t> numbers, bool null) {
  parts_->number_of = std::move(numbers);
  if (!null) return;
  const std::vector<std::int64_t>& all = parts_->number_of;
  const auto at = std::find(all.begin(), all.end(), kNullNumber);
  if (at != all.end()) parts_->null_number = static_cast<std::uint32_t>(at - all.begin());
}

std::size_t GroupIndex::size() const {
  if (parts_->is_public) return parts_->public_size;
  return parts_->single ? parts_->number_of.size() : parts_->contents.size();
}

std::string GroupIndex::content(std::uint32_t group) const {
  if (!parts_->single) return *parts_->contents[group];
  if (group == parts_->null_number) return {};
  const std::int64_t bits = parts_->number_of[group];
  return {reinterpret_cast<const char*>(&bits), sizeof bits};
}

std::vector<std::uint32_t> GroupIndex::in_order(unsigned threads) const {
  std::vector<std::uint32_t> order(size());
  std::iota(order.begin(), order.end(), 0u);
  if (parts_->is_public) return order;
  const Type first = parts_->plan.keys[0].type;
  if (parts_->single && first != Type::kDouble && first != Type::kDecimal) {
    return parts_->by_number(threads);
  }
  std::vector<std::vector<Value>> keys;
  for (const std::uint32_t g : order) keys.push_back(key(g));
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    for (std::size_t k = 0; k < keys[a].size(); ++k) {
      if (sorts_before(keys[a][k], keys[b][k])) return true;
      if (sorts_before(keys[b][k], keys[a][k])) return false;
    }
    return false;
  });
  return order;
}

std::vector<Value> GroupIndex::key(std::uint32_t group) const {
  const std::vector<KeyColumn>& keys = parts_->plan.keys;
  std::vector<Value> result(keys.size());
  if (parts_->is_public) {
    for (std::size_t k = keys.size(); k-- > 0;) {
      const auto size = static_cast<std::uint32_t>(keys[k].domain->size());
      result[k] = (*keys[k].domain)[group % size];
      group /= size;
    }
    return result;
  }
  if (parts_->single) {
    if (group != parts_->null_number) result[0] = decoded(keys[0].type, parts_->number_of[group]);
    return result;
  }
  const char* bytes = parts_->contents[group]->data();
  for (std::size_t k = 0; k < keys.size(); ++k) {
    if (*bytes++ == 0) continue;
    std::int64_t word = 0;
    std::memcpy(&word, bytes, sizeof word);
    bytes += sizeof word;
    if (is_text(keys[k].type)) {
      result[k] = std::string(bytes, static_cast<std::size_t>(word));
      bytes += word;
    } else {
      result[k] = decoded(keys[k].type, word);
    }
  }
  return result;
}

}  // namespace gauze::internal
