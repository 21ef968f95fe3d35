#include <array>
#include <atomic>
#include <new>
#include <utility>

#include "gauze/base/on_threads.h"
#include "gauze/data/parquet_pages_internal.h"
#include "gauze/data/utf8_internal.h"

// Columns of a few thousand rows at a time, in buffers that stay in the processor's cache.
namespace gauze::internal::parquet {
namespace {

constexpr std::size_t kBatchRows = 4096;
/// Work for less is done before another thread has started.
constexpr std::uint64_t kScanRowsPerThread = std::uint64_t{1} << 18;
constexpr std::uint64_t kMostScanRows = std::uint64_t{1} << 32;

template <unsigned kWidth>
void unpack_numbers(const std::uint8_t* from, std::size_t groups, std::uint32_t* to) {
  each_packed<kWidth>(from, groups, [&](std::size_t i, std::uint64_t number) {
    to[i] = static_cast<std::uint32_t>(number);
  });
}

using UnpackNumbers = void (*)(const std::uint8_t*, std::size_t, std::uint32_t*);
template <std::size_t... kWidths>
constexpr auto unpack_by_width(std::index_sequence<kWidths...>) {
  return std::array<UnpackNumbers, sizeof...(kWidths)>{&unpack_numbers<kWidths>...};
}

/// The numbers of `Runs`, some at a time.
class Numbers {
 public:
  Numbers() = default;
  Numbers(Bytes from, unsigned width) : runs_(from, width), width_(width) {
    expect(width <= kWidest);
  }

  /// Whether the next `count` are `number` for sure; then they are passed.
  bool pass_if_all(std::uint32_t number, std::size_t count) {
    if (done_ == run_.count) begin();
    if (run_.bits || run_.number != number || run_.count - done_ < count) return false;
    done_ += count;
    return true;
  }

  void read(std::span<std::uint32_t> to) {
    static constexpr auto kUnpack = unpack_by_width(std::make_index_sequence<kWidest + 1>());
    while (!to.empty()) {
      if (done_ == run_.count) begin();
      const std::size_t count =
          static_cast<std::size_t>(std::min<std::uint64_t>(run_.count - done_, to.size()));
      std::size_t i = 0;
      if (!run_.bits) {
        std::fill_n(to.begin(), count, run_.number);
        i = count;
      }
      const auto one = [&] { to[i] = packed_at(run_.bits, width_, done_ + i); };
      for (; i < count && (done_ + i) % 8 != 0; ++i) one();
      const std::size_t groups = (count - i) / 8;
      if (groups > 0) kUnpack[width_](run_.bits + (done_ + i) / 8 * width_, groups, to.data() + i);
      for (i += groups * 8; i < count; ++i) one();
      done_ += count;
      to = to.subspan(count);
    }
  }

 private:
  void begin() {
    run_ = runs_.next();
    done_ = 0;
  }

  Runs runs_;
  unsigned width_ = 0;
  Runs::Run run_;
  std::uint64_t done_ = 0;  ///< of the run
};

/// One column of one row group after the other.
class ScanColumn {
 public:
  void open(const InputFile& file, const ColumnOfFile& column, const ColumnChunk& chunk) {
    pages_.open(file, column, chunk);
    stored_ = column.stored;
    nullable_ = column.nullable;
    left_ = 0;
    set_dictionary({});
  }

  /// Rows that can be read at once; opens the next page where it must.
  std::size_t available() {
    while (left_ == 0) {
      Page page;
      expect(pages_.next(page));
      page.is_dictionary ? set_dictionary(page) : set_page(page);
    }
    return static_cast<std::size_t>(std::min<std::uint64_t>(left_, kBatchRows));
  }

  /// The next rows, as many as are available at most, until the next call.
  void read(std::size_t rows, BatchColumn& to) {
    left_ -= rows;
    to = {};
    const std::size_t there = read_levels(rows);
    switch (stored_) {
      case Stored::kInteger32:
        to.integers = read_numbers<std::int32_t>(rows, there, integers_, integer_dictionary_);
        break;
      case Stored::kInteger64:
        to.integers = read_numbers<std::int64_t>(rows, there, integers_, integer_dictionary_);
        break;
      case Stored::kDouble:
        to.kind = BatchColumn::Kind::kReals;
        to.reals = read_numbers<double>(rows, there, reals_, real_dictionary_);
        break;
      default:
        to.kind = BatchColumn::Kind::kTexts;
        read_texts(rows, there, to);
    }
    if (some_null_) to.valid = {valid_.data(), rows};
  }

 private:
  void set_page(const Page& page) {
    left_ = page.rows;
    if (nullable_) levels_ = Numbers(page.levels, 1);
    coded_ = page.is_coded;
    plain_ = page.values;
    texts_left_ = PlainTexts(page.values);
    if (!coded_) return;
    // No codes at all where every row is null.
    codes_left_ = page.values.empty() ? Numbers() : Numbers(page.values.subspan(1), page.values[0]);
  }

  void set_dictionary(const Page& page) {
    const auto size = static_cast<std::size_t>(page.rows);
    dictionary_size_ = static_cast<std::int32_t>(size);
    const auto take = [&](auto& to, auto stored) {
      using Number = decltype(stored);
      expect(size <= page.values.size() / sizeof(Number));
      to.resize(size);
      for (std::size_t i = 0; i < size; ++i)
        to[i] = load<Number>(page.values.data() + i * sizeof(Number));
    };
    if (stored_ == Stored::kInteger32) take(integer_dictionary_, std::int32_t{});
    if (stored_ == Stored::kInteger64) take(integer_dictionary_, std::int64_t{});
    if (stored_ == Stored::kDouble) take(real_dictionary_, double{});
    if (stored_ != Stored::kByteArray) return;
    ++dictionary_number_;
    text_dictionary_.clear();
    is_text_.clear();
    all_texts_ = true;
    PlainTexts texts(page.values);
    for (std::size_t i = 0; i < size; ++i) {
      text_dictionary_.push_back(texts.next());
      is_text_.push_back(is_utf8(text_dictionary_.back()) ? 1 : 0);
      all_texts_ = all_texts_ && is_text_.back() != 0;
    }
  }

  /// Fills `valid_` where something is null; how many are not.
  std::size_t read_levels(std::size_t rows) {
    some_null_ = false;
    if (!nullable_ || levels_.pass_if_all(1, rows)) return rows;
    const std::span<std::uint32_t> levels(codes_.data(), rows);
    levels_.read(levels);
    std::uint32_t any = 0;
    std::size_t there = 0;
    for (std::size_t i = 0; i < rows; ++i) {
      any |= levels[i];
      valid_[i] = static_cast<std::uint8_t>(levels[i]);
      there += levels[i];
    }
    expect(any <= 1);
    some_null_ = there < rows;
    return there;
  }

  std::span<std::uint32_t> read_codes(std::size_t count) {
    const std::span<std::uint32_t> codes(codes_.data(), count);
    codes_left_.read(codes);
    std::int32_t room = 0;  // negative when it was so for one
    for (const std::uint32_t code : codes)
      room |= dictionary_size_ - 1 - static_cast<std::int32_t>(code);
    expect(room >= 0);
    return codes;
  }

  Bytes take_plain(std::size_t size) {
    expect(size <= plain_.size());
    const Bytes taken = plain_.first(size);
    plain_ = plain_.subspan(size);
    return taken;
  }

  /// Moves the values to their rows: `there` of them to those that are valid.
  template <class T>
  void spread(std::size_t rows, std::size_t there, T* values) const {
    for (std::size_t i = rows; i-- > 0 && there <= i;)
      values[i] = valid_[i] != 0 ? values[--there] : T{};
  }

  template <class Number, class T>
  std::span<const T> read_numbers(std::size_t rows, std::size_t there,
                                  std::array<T, kBatchRows>& buffer,
                                  const std::vector<T>& dictionary) {
    if (coded_) {
      const std::span<const std::uint32_t> codes = read_codes(there);
      for (std::size_t i = 0; i < there; ++i) buffer[i] = dictionary[codes[i]];
    } else {
      const Bytes plain = take_plain(there * sizeof(Number));
      if constexpr (sizeof(Number) == sizeof(T)) {
        const bool aligned = reinterpret_cast<std::uintptr_t>(plain.data()) % alignof(T) == 0;
        if (aligned && there == rows) return {reinterpret_cast<const T*>(plain.data()), rows};
        if (there > 0) std::memcpy(buffer.data(), plain.data(), plain.size());
      } else {
        for (std::size_t i = 0; i < there; ++i)
          buffer[i] = load<Number>(plain.data() + i * sizeof(Number));
      }
    }
    if (there < rows) spread(rows, there, buffer.data());
    return {buffer.data(), rows};
  }

  void read_texts(std::size_t rows, std::size_t there, BatchColumn& to) {
    const auto set_null = [&](std::size_t row) {
      if (!some_null_) std::fill_n(valid_.begin(), rows, std::uint8_t{1});
      some_null_ = true;
      valid_[row] = 0;
    };
    texts_.resize(kBatchRows);
    if (coded_) {
      read_codes(there);
      if (there < rows) spread(rows, there, codes_.data());
      to.codes = {codes_.data(), rows};
      to.dictionary = text_dictionary_;
      to.dictionary_number = dictionary_number_;
      for (std::size_t i = 0; i < rows; ++i)
        texts_[i] = text_dictionary_.empty() ? std::string_view() : text_dictionary_[codes_[i]];
      for (std::size_t i = 0; i < rows && !all_texts_; ++i) {
        if (is_text_[codes_[i]] == 0) set_null(i);
      }
    } else {
      for (std::size_t i = 0; i < rows; ++i) {
        const bool null = some_null_ && valid_[i] == 0;
        texts_[i] = null ? std::string_view() : texts_left_.next();
        if (!null && !is_utf8(texts_[i])) set_null(i);
      }
    }
    to.texts = {texts_.data(), rows};
  }

  Pages pages_;
  Stored stored_ = Stored::kNone;
  bool nullable_ = false;

  // Of the page.
  std::uint64_t left_ = 0;
  bool coded_ = false;
  Numbers levels_, codes_left_;
  Bytes plain_;
  PlainTexts texts_left_;

  std::int32_t dictionary_size_ = 0;
  std::vector<std::int64_t> integer_dictionary_;
  std::vector<double> real_dictionary_;
  std::vector<std::string_view> text_dictionary_;
  std::vector<std::uint8_t> is_text_;
  bool all_texts_ = true;
  std::uint64_t dictionary_number_ = 0;

  // Of the rows that were read last.
  bool some_null_ = false;
  std::array<std::uint8_t, kBatchRows> valid_;
  std::array<std::uint32_t, kBatchRows> codes_;
  std::array<std::int64_t, kBatchRows> integers_;
  std::array<double, kBatchRows> reals_;
  std::vector<std::string_view> texts_;
};

/// What the streams of one scan share.
struct SharedScan {
  struct Group {
    std::size_t file, number;
    std::uint64_t rows;
  };
  std::vector<ColumnsOfFile> files;
  std::vector<Group> groups;
  std::uint64_t rows = 0;
  std::atomic<std::size_t> next = 0;
  std::atomic<std::uint64_t> done = 0;  ///< rows
  std::shared_ptr<std::atomic<bool>> readable;
};

class ScanStream final : public Stream {
 public:
  ScanStream(std::shared_ptr<SharedScan> shared, std::size_t columns) : shared_(std::move(shared)) {
    for (std::size_t i = 0; i < columns; ++i) columns_.push_back(std::make_unique<ScanColumn>());
  }

  bool next(Batch& batch) override {
    try {
      return read(batch);
    } catch (const Unreadable&) {
    } catch (const std::bad_alloc&) {
    }
    *shared_->readable = false;
    throw MendedError();
  }

  double progress() const override {
    return static_cast<double>(shared_->done) /
           static_cast<double>(std::max<std::uint64_t>(shared_->rows, 1));
  }

 private:
  bool read(Batch& batch) {
    while (left_ == 0) {
      const std::size_t i = shared_->next++;
      if (i >= shared_->groups.size()) return false;
      const SharedScan::Group& group = shared_->groups[i];
      const ColumnsOfFile& from = shared_->files[group.file];
      left_ = group.rows;
      if (left_ == 0) continue;
      for (std::size_t c = 0; c < columns_.size(); ++c)
        columns_[c]->open(*from.file, from.columns[c], from.columns[c].chunks[group.number]);
    }
    std::size_t rows = kBatchRows;
    for (const auto& column : columns_) rows = std::min(rows, column->available());
    batch.rows = rows;
    batch.owner = nullptr;
    batch.columns.resize(columns_.size());
    for (std::size_t c = 0; c < columns_.size(); ++c) columns_[c]->read(rows, batch.columns[c]);
    left_ -= rows;
    shared_->done += rows;
    return true;
  }

  std::shared_ptr<SharedScan> shared_;
  std::vector<std::unique_ptr<ScanColumn>> columns_;
  std::uint64_t left_ = 0;  ///< of the row group
};

}  // namespace
}  // namespace gauze::internal::parquet

namespace gauze::internal {

std::vector<std::unique_ptr<Stream>> scan_parquet(const std::vector<std::string>& paths,
                                                  std::span<const ColumnInfo> columns,
                                                  unsigned threads,
                                                  std::shared_ptr<std::atomic<bool>> readable) {
  using namespace parquet;  // NOLINT(google-build-using-namespace)
  if (!*readable || columns.empty()) return {};
  try {
    auto shared = std::make_shared<SharedScan>();
    shared->readable = std::move(readable);
    for (const std::string& path : paths) {
      shared->files.push_back(open_columns(path, columns));
      const std::vector<ColumnChunk>& chunks = shared->files.back().columns[0].chunks;
      for (std::size_t i = 0; i < chunks.size(); ++i) {
        const auto rows = static_cast<std::uint64_t>(chunks[i].rows);
        shared->groups.push_back({shared->files.size() - 1, i, rows});
        shared->rows += rows;
        expect(shared->rows < kMostScanRows);
      }
    }
    const std::uint64_t used =
        std::min({std::uint64_t{thread_count(threads)}, 1 + shared->rows / kScanRowsPerThread,
                  std::max<std::uint64_t>(shared->groups.size(), 1)});
    std::vector<std::unique_ptr<Stream>> streams;
    for (std::uint64_t i = 0; i < used; ++i)
      streams.push_back(std::make_unique<ScanStream>(shared, columns.size()));
    return streams;
  } catch (const Unreadable&) {
    return {};
  }
}

}  // namespace gauze::internal
