#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace gauze::internal {

/// Rows of a fixed number of 64-bit words in 2^kPartitionBits partitions, in blocks of one size. What
/// does not fit into memory lies in a file that has no name and vanishes with the process.
class PartitionedRows {
 public:
  static constexpr unsigned kPartitionBits = 9;
  static constexpr std::size_t kPartitions = std::size_t{1} << kPartitionBits;

  /// `memory` is in bytes; one block per partition stays in memory in any case.
  PartitionedRows(std::size_t words_per_row, std::uint64_t memory, std::string temp_directory);
  ~PartitionedRows();
  PartitionedRows(const PartitionedRows&) = delete;
  PartitionedRows& operator=(const PartitionedRows&) = delete;

  /// Room for one row more. Throws `kIo` when the temporary file cannot grow.
  std::uint64_t* append(std::size_t partition) {
    Room& room = rooms_[partition];
    if (room.next == room.end) extend(partition);
    return std::exchange(room.next, room.next + words_);
  }

  std::size_t words_per_row() const { return words_; }
  std::size_t rows_per_block() const { return rows_per_block_; }
  std::uint64_t rows(std::size_t partition) const;
  std::uint64_t spilled_bytes() const { return file_size_; }

  /// One block of each partition.
  std::uint64_t least_bytes() const { return kPartitions * block_bytes(); }
  /// Of blocks in memory that rows lie in.
  std::uint64_t bytes_held() const { return held_ - spare_.size() * block_bytes(); }
  std::uint64_t rows_held(std::size_t partition) const {
    return rows(partition) - partitions_[partition].in_file.size() * rows_per_block_;
  }

  using Block = std::unique_ptr<std::uint64_t[]>;
  /// The next blocks of a partition, at most `limit` of them, and how many rows they hold; all are full
  /// but the last of the partition. Takes them out of the store. Threads may take from different
  /// partitions at once.
  struct Wave {
    std::vector<Block> blocks;
    std::uint64_t rows = 0;
    bool last = false;
  };
  Wave take(std::size_t partition, std::size_t limit);

  /// The blocks of a partition in memory, which come back with fewer rows, those at their beginning. Threads may borrow
  /// different partitions at once.
  std::vector<Block> lend(std::size_t partition);
  void give_back(std::size_t partition, std::vector<Block> blocks, std::uint64_t rows);

 private:
  /// Where the next row of a partition goes; apart from all else, as every row asks for it.
  struct Room {
    std::uint64_t* next = nullptr;
    std::uint64_t* end = nullptr;
  };
  struct Partition {
    std::vector<Block> blocks;           // the last one is being filled
    std::vector<std::uint64_t> in_file;  // offsets of full blocks
  };

  void extend(std::size_t partition);
  void spill();
  std::size_t block_bytes() const { return rows_per_block_ * words_ * 8; }
  Block new_block() const {
    return std::make_unique_for_overwrite<std::uint64_t[]>(rows_per_block_ * words_);
  }
  Block read(std::uint64_t offset) const;

  std::size_t words_, rows_per_block_;
  std::uint64_t memory_, held_ = 0;
  std::string temp_directory_;
  std::vector<Room> rooms_;
  std::vector<Partition> partitions_;
  std::mutex mutex_;  // of what comes back
  std::vector<Block> spare_;
  int file_ = -1;
  std::uint64_t file_size_ = 0;
};

}  // namespace gauze::internal
