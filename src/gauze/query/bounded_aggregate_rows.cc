#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <filesystem>
#include <utility>

#include "gauze/base/error.h"
#include "gauze/base/nameless_file.h"
#include "gauze/query/bounded_aggregate_rows_internal.h"

namespace gauze::internal {
namespace {

constexpr std::size_t kBlockBytes = std::size_t{1} << 15;
constexpr std::size_t kPieceBytes = std::size_t{1} << 20, kLargePieceBytes = std::size_t{1} << 23;

[[noreturn]] void no_room() {
  throw Error(ErrorCode::kIo,
              "temporary rows cannot be written or read: allow more memory, or make room in the "
              "temporary folder");
}

}  // namespace

void BlockPool::grow() {
  const std::size_t bytes = made_ < few_ ? kPieceBytes : kLargePieceBytes;
  const std::size_t blocks = std::max<std::size_t>(1, bytes / (words_ * 8));
  pieces_.push_back(large_array<std::uint64_t>(blocks * words_));
  made_ += blocks;
  for (std::size_t b = blocks; b-- > 0;) spare_.push_back(pieces_.back().get() + b * words_);
}

PartitionedRows::PartitionedRows(std::size_t words_per_row, std::uint64_t memory,
                                 std::string temp_directory)
    : words_(words_per_row),
      rows_per_block_(std::bit_floor(std::max<std::size_t>(1, kBlockBytes / (8 * words_per_row)))),
      memory_(memory),
      temp_directory_(std::move(temp_directory)),
      partitions_(kPartitions),
      pool_(block_words(), 2 * kPartitions) {}

PartitionedRows::~PartitionedRows() {
  if (file_ >= 0) ::close(file_);
}

std::uint64_t PartitionedRows::rows(const Partition& p) const {
  return (p.in_file.size() + p.blocks.size()) * rows_per_block_ - p.free / words_;
}

std::uint64_t PartitionedRows::rows_held(std::size_t partition) const {
  const Partition& p = partitions_[partition];
  return p.in_file.empty() ? rows(p) : 0;
}

void PartitionedRows::append(std::size_t partition, std::span<const std::uint64_t> rows) {
  Partition& p = partitions_[partition];
  while (!rows.empty()) {
    if (p.free == 0) {
      p.blocks.push_back(empty_block(p));
      p.free = block_words();
    }
    const std::size_t count = std::min(p.free, rows.size());
    std::copy_n(rows.begin(), count, p.blocks.back() + (block_words() - p.free));
    p.free -= count;
    rows = rows.subspan(count);
  }
}

PartitionedRows::Block PartitionedRows::exchange(std::size_t partition, Block full) {
  Partition& p = partitions_[partition];
  p.blocks.insert(p.blocks.end() - (p.free > 0 ? 1 : 0), full);
  return empty_block(p);
}

/// One more for a partition, or for what it gets.
PartitionedRows::Block PartitionedRows::empty_block(Partition& p) {
  const std::lock_guard lock(mutex_);
  if ((pool_.taken() - borrowed_) * block_bytes() >= memory_) spill(p);
  return pool_.take();
}

void PartitionedRows::spill(Partition& p) {
  if (file_ < 0) {
    file_ = open_nameless(temp_directory_.empty() ? std::filesystem::temp_directory_path().string()
                                                  : temp_directory_);
    if (file_ < 0) no_room();
  }
  const std::size_t full = p.blocks.size() - (p.free > 0 ? 1 : 0);
  const auto blocks = std::span(p.blocks).first(full);
  for (const Block block : blocks) {
    const char* bytes = reinterpret_cast<const char*>(block);
    for (std::size_t done = 0; done < block_bytes();) {
      const ssize_t n = ::pwrite(file_, bytes + done, block_bytes() - done,
                                 static_cast<off_t>(file_size_ + done));
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) no_room();
      done += static_cast<std::size_t>(n);
    }
    p.in_file.push_back(file_size_);
    file_size_ += block_bytes();
  }
  pool_.give_back(blocks);
  p.blocks.erase(p.blocks.begin(), p.blocks.begin() + static_cast<std::ptrdiff_t>(full));
}

PartitionedRows::Block PartitionedRows::read(std::uint64_t offset) {
  const Block block = take_block();
  char* bytes = reinterpret_cast<char*>(block);
  for (std::size_t done = 0; done < block_bytes();) {
    const ssize_t n =
        ::pread(file_, bytes + done, block_bytes() - done, static_cast<off_t>(offset + done));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) no_room();
    done += static_cast<std::size_t>(n);
  }
  return block;
}

PartitionedRows::Wave PartitionedRows::take(std::size_t partition, std::size_t limit) {
  Partition& p = partitions_[partition];
  Wave wave;
  const std::uint64_t before = rows(p);
  while (!p.in_file.empty() && wave.blocks.size() < limit) {
    wave.blocks.push_back(read(p.in_file.back()));
    p.in_file.pop_back();
  }
  // Full blocks first: only the last of all may have room left.
  const std::size_t count = std::min(p.blocks.size(), limit - wave.blocks.size());
  std::move(p.blocks.begin(), p.blocks.begin() + static_cast<std::ptrdiff_t>(count),
            std::back_inserter(wave.blocks));
  p.blocks.erase(p.blocks.begin(), p.blocks.begin() + static_cast<std::ptrdiff_t>(count));
  wave.last = p.in_file.empty() && p.blocks.empty();
  wave.rows = wave.last ? before : wave.blocks.size() * rows_per_block_;
  if (wave.last) p.free = 0;
  return wave;
}

std::vector<PartitionedRows::Block> PartitionedRows::lend(std::size_t partition) {
  return std::exchange(partitions_[partition].blocks, {});
}

void PartitionedRows::give_back(std::size_t partition, std::vector<Block> blocks,
                                std::uint64_t rows) {
  const std::size_t needed = (rows + rows_per_block_ - 1) / rows_per_block_;
  give_back(std::span(blocks).subspan(needed));
  blocks.resize(needed);
  Partition& p = partitions_[partition];
  p.free = (needed * rows_per_block_ - rows) * words_;
  p.blocks = std::move(blocks);
}

PartitionedRows::Block PartitionedRows::take_block() {
  const std::lock_guard lock(mutex_);
  return pool_.take();
}

PartitionedRows::Block PartitionedRows::borrow() {
  const std::lock_guard lock(mutex_);
  ++borrowed_;
  return pool_.take();
}

void PartitionedRows::release() {
  const std::lock_guard lock(mutex_);
  pool_.release();
}

void PartitionedRows::give_back(std::span<const Block> blocks) {
  const std::lock_guard lock(mutex_);
  pool_.give_back(blocks);
}

}  // namespace gauze::internal
