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

/// Pieces of memory of one size, cut from few large ones that live as long as the pool: what is given back is taken again.
class BlockPool {
 public:
  using Block = std::uint64_t*;

  BlockPool(std::size_t words, std::size_t few) : words_(words), few_(few) {}
  /// How many are with others.
  std::size_t taken() const { return made_ - spare_.size(); }
  Block take() {
    if (spare_.empty()) grow();
    const Block block = spare_.back();
    spare_.pop_back();
    return block;
  }
  void give_back(std::span<const Block> blocks) {
    spare_.insert(spare_.end(), blocks.begin(), blocks.end());
  }
  void release() {
    spare_.clear();
    pieces_.clear();
  }

 private:
  /// By a little, or once there are more than a few by so much that large pages are worth asking for.
  void grow();

  std::size_t words_, few_, made_ = 0;
  std::vector<Block> spare_;
  std::vector<LargeArray<std::uint64_t>> pieces_;
};

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

  using Block = BlockPool::Block;

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

  /// Adds a full block, and gives one to fill for it.
  Block exchange(std::size_t partition, Block full);

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

  /// A block to fill and exchange, on top of `memory`. Mutexes do not matter here, nor below.
  Block borrow();
  /// Those of a wave.
  void give_back(std::span<const Block> blocks);
  /// All memory, when every block is given back or no more asked for.
  void release();

 private:
  struct Partition {
    std::mutex mutex;
    std::vector<Block> blocks;           // the last one is being filled
    std::size_t free = 0;                // words of the last one that are free, at its end
    std::vector<std::uint64_t> in_file;  // offsets of full blocks
  };

  std::uint64_t rows(const Partition& p) const;
  Block empty_block(Partition& p);
  void spill(Partition& p);
  std::size_t block_words() const { return rows_per_block_ * words_; }
  std::size_t block_bytes() const { return block_words() * 8; }
  Block take_block();
  Block read(std::uint64_t offset);

  std::size_t words_, rows_per_block_;
  std::uint64_t memory_;
  std::string temp_directory_;
  std::vector<Partition> partitions_;
  std::mutex mutex_;  // of what follows
  BlockPool pool_;
  std::size_t borrowed_ = 0;
  int file_ = -1;
  std::atomic<std::uint64_t> file_size_ = 0;
};

/// Rows of one thread on their way to a store: those of a partition wait side by side, so that it is locked, and looked at, for many at
/// once; for the more, the more rows there are.
class RowWriter {
 public:
  explicit RowWriter(const PartitionedRows& store)
      : words_(store.words_per_row()),
        many_(store.rows_per_block()),
        few_(waiting_.size() * kFew * words_) {
    for (std::size_t p = 0; p < waiting_.size(); ++p) wait_in(p, &few_[p * kFew * words_]);
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
    const std::span<std::uint64_t> rows(begin(partition), waiting_[partition].next);
    taken_ += rows.size() / words_;
    waiting_[partition].next = rows.data();
    return rows;
  }
  /// Whether it should have more room. Nothing must wait when it gets it.
  bool is_small() const { return !has_blocks() && taken_ > kFew * kManyTimes * waiting_.size(); }
  void enlarge(PartitionedRows& store) {
    few_ = {};
    most_ = many_;
    for (std::size_t p = 0; p < waiting_.size(); ++p) wait_in(p, store.borrow());
  }
  /// Where the rows of a partition are a whole block, it goes to the store as it is.
  bool has_block(std::size_t partition) const { return has_blocks() && is_full(partition); }
  void move_block(std::size_t partition, PartitionedRows& store) {
    wait_in(partition, store.exchange(partition, begin(partition)));
  }

 private:
  static constexpr std::size_t kFew = 16, kManyTimes = 64;
  struct Waiting {
    std::uint64_t *next, *end;
  };

  bool has_blocks() const { return most_ == many_; }
  std::uint64_t* begin(std::size_t partition) const {
    return waiting_[partition].end - most_ * words_;
  }
  void wait_in(std::size_t partition, std::uint64_t* begin) {
    waiting_[partition] = {begin, begin + most_ * words_};
  }

  std::size_t words_, many_, most_ = kFew;
  std::size_t taken_ = 0;
  std::array<Waiting, PartitionedRows::kPartitions> waiting_;
  std::vector<std::uint64_t> few_;  // where they wait at first, before there are blocks
};

}  // namespace gauze::internal
