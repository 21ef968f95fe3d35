#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "gauze/base/large_vector.h"

namespace gauze::internal {

/// Rows of a fixed number of 64-bit words in 2^kPartitionBits partitions, in blocks of one size. What
/// does not fit into memory lies in a file that has no name and vanishes with the process. Threads append through writers of
/// their own.
class PartitionedRows {
 public:
  static constexpr unsigned kPartitionBits = 9;
  static constexpr std::size_t kPartitions = std::size_t{1} << kPartitionBits;

  /// `memory` is in bytes; one block per partition stays in memory in any case.
  PartitionedRows(std::size_t words_per_row, std::uint64_t memory, std::string temp_directory);
  ~PartitionedRows();
  PartitionedRows(const PartitionedRows&) = delete;
  PartitionedRows& operator=(const PartitionedRows&) = delete;

  using Block = std::unique_ptr<std::uint64_t[]>;

  std::size_t words_per_row() const { return words_; }
  /// A power of two.
  std::size_t rows_per_block() const { return rows_per_block_; }
  std::uint64_t spilled_bytes() const { return file_size_; }

  /// Who calls what follows holds it.
  std::mutex& mutex(std::size_t partition) { return partitions_[partition].mutex; }
  /// In memory; 0 where some lie in the file.
  std::uint64_t rows_held(std::size_t partition) const;

  /// Adds whole rows. Throws `kIo` when the temporary file cannot grow.
  void append(std::size_t partition, std::span<const std::uint64_t> rows);

  /// The next blocks of a partition, at most `limit` of them, and how many rows they hold; all are full
  /// but the last of the partition. Takes them out of the store.
  struct Wave {
    std::vector<Block> blocks;
    std::uint64_t rows = 0;
    bool last = false;
  };
  Wave take(std::size_t partition, std::size_t limit);

  /// The blocks of a partition in memory, which come back with fewer rows, those at their beginning.
  std::vector<Block> lend(std::size_t partition);
  void give_back(std::size_t partition, std::vector<Block> blocks, std::uint64_t rows);

 private:
  struct Partition {
    std::mutex mutex;
    std::vector<Block> blocks;           // the last one is being filled
    std::size_t free = 0;                // words of the last one that are free, at its end
    std::vector<std::uint64_t> in_file;  // offsets of full blocks
  };

  std::uint64_t rows(const Partition& p) const;
  void extend(Partition& p);
  void spill(Partition& p);
  std::size_t block_words() const { return rows_per_block_ * words_; }
  std::size_t block_bytes() const { return block_words() * 8; }
  Block new_block() const { return std::make_unique_for_overwrite<std::uint64_t[]>(block_words()); }
  Block read(std::uint64_t offset) const;

  std::size_t words_, rows_per_block_;
  std::uint64_t memory_;
  std::string temp_directory_;
  std::vector<Partition> partitions_;
  std::mutex mutex_;  // of what follows
  std::uint64_t held_ = 0;
  std::vector<Block> spare_;
  int file_ = -1;
  std::atomic<std::uint64_t> file_size_ = 0;
};

/// Rows of one thread on their way to a store: those of a partition wait side by side, so that it is locked, and looked at, for many at
/// once; for the more, the more rows there are.
class RowWriter {
 public:
  explicit RowWriter(const PartitionedRows& store)
      : words_(store.words_per_row()), many_(store.rows_per_block()) {
    make_room(kFew);
  }

  /// Room for one row more, where it is not full.
  std::uint64_t* append(std::size_t partition) {
    return std::exchange(waiting_[partition].next, waiting_[partition].next + words_);
  }
  /// Asks for the place of a row that will come soon.
  void prefetch(std::size_t partition) const { __builtin_prefetch(waiting_[partition].next, 1); }
  bool is_full(std::size_t partition) const {
    return waiting_[partition].next == waiting_[partition].end;
  }
  std::span<std::uint64_t> take(std::size_t partition) {
    const std::span<std::uint64_t> rows(waiting_[partition].end - most_ * words_,
                                        waiting_[partition].next);
    taken_ += rows.size() / words_;
    waiting_[partition].next = rows.data();
    return rows;
  }
  /// Whether it should have more room. Nothing must wait when it gets it.
  bool is_small() const { return most_ < many_ && taken_ > kFew * kManyTimes * waiting_.size(); }
  void enlarge() { make_room(many_); }

 private:
  static constexpr std::size_t kFew = 16, kManyTimes = 64;
  struct Waiting {
    std::uint64_t *next, *end;
  };

  void make_room(std::size_t most) {
    most_ = most;
    rows_ = LargeVector<std::uint64_t>(waiting_.size() * most * words_);
    for (std::size_t p = 0; p < waiting_.size(); ++p) {
      std::uint64_t* const begin = rows_.data() + p * most * words_;
      waiting_[p] = {begin, begin + most * words_};
    }
  }

  std::size_t words_, many_, most_ = 0;
  std::size_t taken_ = 0;
  std::array<Waiting, PartitionedRows::kPartitions> waiting_;
  LargeVector<std::uint64_t> rows_;
};

}  // namespace gauze::internal
