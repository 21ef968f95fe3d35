#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace gauze::internal {

/// Rows of a fixed number of 64-bit words in 2^kPartitionBits partitions, in blocks of one size. What
/// does not fit into memory lies in a file that has no name and vanishes with the process. Threads append through writers of
/// their own.
class PartitionedRows {
 public:
  static constexpr unsigned kPartitionBits = 9;
  static constexpr std::size_t kPartitions = std::size_t{1} << kPartitionBits;

  /// `memory` is in bytes; two blocks per partition stay in memory in any case.
  PartitionedRows(std::size_t words_per_row, std::uint64_t memory, std::string temp_directory);
  ~PartitionedRows();
  PartitionedRows(const PartitionedRows&) = delete;
  PartitionedRows& operator=(const PartitionedRows&) = delete;

  using Block = std::unique_ptr<std::uint64_t[]>;

  std::size_t words_per_row() const { return words_; }
  std::size_t rows_per_block() const { return rows_per_block_; }
  std::uint64_t spilled_bytes() const { return file_size_; }

  /// Who calls what follows holds it.
  std::mutex& mutex(std::size_t partition) { return partitions_[partition].mutex; }
  /// In memory, without those that wait; 0 where some lie in the file.
  std::uint64_t rows_held(std::size_t partition) const;

  /// Adds whole rows, which wait until they fill a block; then filter(rows, count) moves those that are to stay to the beginning and says
  /// how many. Throws `kIo` when the temporary file cannot grow.
  template <class Filter>
  void append(std::size_t partition, std::span<const std::uint64_t> rows, Filter filter) {
    Partition& p = partitions_[partition];
    while (!rows.empty()) {
      if (p.fresh == block_words()) settle(partition, filter);
      if (!p.waiting) p.waiting = room(p);
      const std::size_t count = std::min(block_words() - p.fresh, rows.size());
      std::copy_n(rows.begin(), count, p.waiting.get() + p.fresh);
      p.fresh += count;
      rows = rows.subspan(count);
    }
  }
  /// The same with rows that wait.
  template <class Filter>
  void settle(std::size_t partition, Filter filter) {
    Partition& p = partitions_[partition];
    const std::size_t kept = p.fresh == 0 ? 0 : filter(p.waiting.get(), p.fresh / words_) * words_;
    p.fresh = 0;
    keep(p, kept);
  }

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
    Block waiting;                       // rows that no filter has seen
    std::size_t fresh = 0;               // words of them
    std::vector<std::uint64_t> in_file;  // offsets of full blocks
  };

  std::uint64_t rows(const Partition& p) const;
  void keep(Partition& p, std::size_t words);
  void extend(Partition& p);
  Block room(Partition& p);
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

/// Rows of one thread on their way to a store: a few of each partition wait side by side, so that rows that come one by one go to
/// few places, and a partition is locked for many.
class RowWriter {
 public:
  explicit RowWriter(const PartitionedRows& store)
      : words_(store.words_per_row()),
        waiting_(PartitionedRows::kPartitions),
        rows_(PartitionedRows::kPartitions * kMost * words_) {}

  /// Room for one row more, where it is not full.
  std::uint64_t* append(std::size_t partition) {
    return rows_.data() + (partition * kMost + waiting_[partition]++) * words_;
  }
  bool is_full(std::size_t partition) const { return waiting_[partition] == kMost; }
  std::span<const std::uint64_t> take(std::size_t partition) {
    const std::span<const std::uint64_t> all(rows_);
    return all.subspan(partition * kMost * words_, std::exchange(waiting_[partition], 0) * words_);
  }

 private:
  static constexpr std::uint32_t kMost = 16;
  std::size_t words_;
  std::vector<std::uint32_t> waiting_;
  std::vector<std::uint64_t> rows_;
};

}  // namespace gauze::internal
