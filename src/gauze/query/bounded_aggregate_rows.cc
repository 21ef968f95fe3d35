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

[[noreturn]] void no_room() {
  throw Error(ErrorCode::kIo,
              "temporary rows cannot be written or read: allow more memory, or make room in the "
              "temporary folder");
}

}  // namespace

PartitionedRows::PartitionedRows(std::size_t words_per_row, std::uint64_t memory,
                                 std::string temp_directory)
    : words_(words_per_row),
      rows_per_block_(std::bit_floor(std::max<std::size_t>(1, kBlockBytes / (8 * words_per_row)))),
      memory_(memory),
      temp_directory_(std::move(temp_directory)),
      partitions_(kPartitions) {}

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
    if (p.free == 0) extend(p);
    const std::size_t count = std::min(p.free, rows.size());
    std::copy_n(rows.begin(), count, p.blocks.back().get() + (block_words() - p.free));
    p.free -= count;
    rows = rows.subspan(count);
  }
}

/// All blocks of the partition are full.
void PartitionedRows::extend(Partition& p) {
  const std::lock_guard lock(mutex_);
  if (spare_.empty() && held_ >= memory_) spill(p);
  if (spare_.empty()) {
    spare_.push_back(new_block());
    held_ += block_bytes();
  }
  p.blocks.push_back(std::move(spare_.back()));
  spare_.pop_back();
  p.free = block_words();
}

void PartitionedRows::spill(Partition& p) {
  if (file_ < 0) {
    file_ = open_nameless(temp_directory_.empty() ? std::filesystem::temp_directory_path().string()
                                                  : temp_directory_);
    if (file_ < 0) no_room();
  }
  for (Block& block : p.blocks) {
    const char* bytes = reinterpret_cast<const char*>(block.get());
    for (std::size_t done = 0; done < block_bytes();) {
      const ssize_t n = ::pwrite(file_, bytes + done, block_bytes() - done,
                                 static_cast<off_t>(file_size_ + done));
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) no_room();
      done += static_cast<std::size_t>(n);
    }
    p.in_file.push_back(file_size_);
    file_size_ += block_bytes();
    spare_.push_back(std::move(block));
  }
  p.blocks.clear();
}

PartitionedRows::Block PartitionedRows::read(std::uint64_t offset) const {
  Block block = new_block();
  char* bytes = reinterpret_cast<char*>(block.get());
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
  {
    const std::lock_guard lock(mutex_);
    std::move(blocks.begin() + static_cast<std::ptrdiff_t>(needed), blocks.end(),
              std::back_inserter(spare_));
  }
  blocks.resize(needed);
  Partition& p = partitions_[partition];
  p.free = (needed * rows_per_block_ - rows) * words_;
  p.blocks = std::move(blocks);
}

}  // namespace gauze::internal
