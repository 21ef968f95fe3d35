#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <optional>
#include <unordered_map>
#include <utility>

#include "gauze/base/on_threads.h"
#include "gauze/base/progress_ticks.h"
#include "gauze/data/parquet_pages_internal.h"
#include "gauze/data/utf8_internal.h"

namespace gauze::internal::parquet {
namespace {

/// Work for less is done before another thread has started.
constexpr std::uint64_t kRowsPerThread = std::uint64_t{1} << 21;

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
  std::uint32_t* const tables[] = {tallies.table(0), tallies.table(1), tallies.table(2),
                                   tallies.table(3)};
  each_packed<kWidth>(from, groups,
                      [&](std::size_t i, std::uint64_t code) { ++tables[i % 4][code]; });
}

using CountPacked = void (*)(const std::uint8_t*, std::size_t, Tallies&);
template <std::size_t... kWidths>
constexpr auto count_packed_by_width(std::index_sequence<kWidths...>) {
  return std::array<CountPacked, sizeof...(kWidths)>{&count_packed<kWidths>...};
}

/// How many of `values` levels of one bit are 1.
std::uint64_t count_ones(Bytes from, std::uint64_t values) {
  std::uint64_t ones = 0;
  Runs runs(from, 1);
  while (values > 0) {
    const Runs::Run run = runs.next();
    const std::uint64_t count = std::min(run.count, values);
    values -= count;
    expect(run.number <= 1);
    ones += run.number * count;
    if (!run.bits) continue;
    for (std::uint64_t i = 0; i < count / 8; ++i)
      ones += static_cast<unsigned>(std::popcount(run.bits[i]));
    if (count % 8 > 0)
      ones += static_cast<unsigned>(
          std::popcount(static_cast<unsigned>(run.bits[count / 8] & ((1u << count % 8) - 1))));
  }
  return ones;
}

void count_codes(Bytes from, std::uint64_t values, Tallies& tallies) {
  static constexpr auto kCounters = count_packed_by_width(std::make_index_sequence<kWidest + 1>());
  if (values == 0) return;
  expect(!from.empty() && from[0] <= kWidest);
  const unsigned width = from[0];
  expect(tallies.codes() >= std::size_t{1} << width);
  Runs runs(from.subspan(1), width);
  while (values > 0) {
    const Runs::Run run = runs.next();
    const std::uint64_t count = std::min(run.count, values);
    values -= count;
    if (!run.bits) {
      expect(run.number < tallies.codes());
      tallies.table(0)[run.number] += static_cast<std::uint32_t>(count);
      continue;
    }
    kCounters[width](run.bits, static_cast<std::size_t>(count / 8), tallies);
    for (std::uint64_t i = count / 8 * 8; i < count; ++i)
      ++tallies.table(0)[packed_at(run.bits, width, i)];
  }
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
    pages_.open(file, column, chunk);
    tallies_.clear(0);
    std::uint64_t nulls = 0, values = 0;
    Bytes dictionary;
    for (Page page; pages_.next(page);) {
      if (page.is_dictionary) {
        dictionary = page.values;
        values = page.rows;
        tallies_.clear(std::bit_ceil(std::max<std::size_t>(values, 1)) * 2);
        continue;
      }
      expect(page.is_coded);
      const std::uint64_t there = column.nullable ? count_ones(page.levels, page.rows) : page.rows;
      count_codes(page.values, there, tallies_);
      nulls += page.rows - there;
    }
    for (std::size_t code = values; code < tallies_.codes(); ++code)
      expect(tallies_.count(code) == 0);
    sums.add_nulls(nulls);
    add_values(column.stored, dictionary, values, sums);
  }

 private:
  void add_values(Stored stored, Bytes from, std::size_t values, ValueSums& sums) const {
    const std::size_t width = stored == Stored::kInteger32 ? 4 : 8;
    PlainTexts texts(from);
    expect(stored == Stored::kByteArray || values <= from.size() / width);
    for (std::size_t i = 0; i < values; ++i) {
      const std::uint64_t count = tallies_.count(i);
      if (stored == Stored::kByteArray) {
        const std::string_view text = texts.next();
        if (count > 0) sums.add(text, count);
      } else if (count > 0) {
        sums.add(stored == Stored::kInteger32 ? load<std::int32_t>(from.data() + i * 4)
                                              : load<std::int64_t>(from.data() + i * 8),
                 count);
      }
    }
  }

  Pages pages_;
  Tallies tallies_;
};

}  // namespace
}  // namespace gauze::internal::parquet

namespace gauze::internal {

std::optional<ValueCounts> count_parquet(const std::vector<std::string>& paths,
                                         const std::string& column, Type type, unsigned threads,
                                         const std::function<void(double)>& progress) {
  using namespace parquet;  // NOLINT(google-build-using-namespace)
  if (type != Type::kInteger && type != Type::kText) return std::nullopt;
  try {
    struct Task {
      const ColumnsOfFile* from;
      const ColumnChunk* chunk;
    };
    std::vector<ColumnsOfFile> files;
    const ColumnInfo wanted{column, type};
    for (const std::string& path : paths) files.push_back(open_columns(path, {&wanted, 1}));
    std::vector<Task> tasks;
    std::uint64_t rows = 0;
    for (const ColumnsOfFile& each : files) {
      for (const ColumnChunk& chunk : each.columns[0].chunks) {
        rows += static_cast<std::uint64_t>(chunk.rows);
        tasks.push_back({&each, &chunk});
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
        for (std::size_t i = 0; (i = next++) < tasks.size();) {
          counter.count(*tasks[i].from->file, tasks[i].from->columns[0], *tasks[i].chunk,
                        sums[thread]);
          if (thread == 0) ticks.tell(static_cast<double>(i) / static_cast<double>(tasks.size()));
        }
      } catch (...) {
        next = tasks.size();  // the others need not go on
        throw;
      }
    });
    ValueCounts counts;
    for (ValueSums& each : sums) each.move_to(counts);
    return counts;
  } catch (const Unreadable&) {
    return std::nullopt;
  }
}

}  // namespace gauze::internal
