#include <gmock/gmock.h>

#include <algorithm>

#include "gauze/query/bounded_aggregate_rows_internal.h"
#include "gauze/random/uniform.h"
#include "gauze/testing/seeded_bits.h"

namespace gauze::internal {
namespace {

using gauze::testing::SeededBits;

constexpr std::size_t kWords = 3;

/// Writes so many rows, each with its number in all words, as a thread would; of which partition is told by the number.
void write(PartitionedRows& store, std::uint64_t rows) {
  RowWriter writer(store);
  const auto move = [&](std::size_t partition) {
    if (writer.has_block(partition)) {
      writer.move_block(partition, store);
    } else {
      store.append(partition, writer.take(partition));
    }
  };
  const auto move_all = [&] {
    for (std::size_t p = 0; p < PartitionedRows::kPartitions; ++p) move(p);
  };
  for (std::uint64_t i = 0; i < rows; ++i) {
    // half of them lie in one partition
    const std::size_t partition = i % 2 == 0 ? 7 : i / 2 % PartitionedRows::kPartitions;
    std::fill_n(writer.append(partition), kWords, i);
    if (writer.is_full(partition)) move(partition);
    if (writer.is_small()) {
      move_all();
      writer.enlarge(store);
    }
  }
  move_all();
}

/// The numbers of all rows, which come in waves of so many blocks.
std::vector<std::uint64_t> taken(PartitionedRows& store, std::size_t blocks) {
  std::vector<std::uint64_t> numbers;
  for (std::size_t p = 0; p < PartitionedRows::kPartitions; ++p) {
    for (bool last = false; !last;) {
      const PartitionedRows::Wave wave = store.take(p, blocks);
      last = wave.last;
      EXPECT_LE(wave.blocks.size(), blocks);
      for (std::uint64_t i = 0; i < wave.rows; ++i) {
        const std::uint64_t* row =
            wave.blocks[i / store.rows_per_block()] + i % store.rows_per_block() * kWords;
        EXPECT_EQ(row[0], row[kWords - 1]);
        numbers.push_back(row[0]);
      }
      store.give_back(wave.blocks);
    }
  }
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

TEST(PartitionedRows, HoldNoMoreThanTheirMemoryAndLoseNone) {
  constexpr std::uint64_t kRows = 2'000'000, kBytes = kRows * kWords * 8;
  for (const std::uint64_t memory : {0u, 10'000'000u, 30'000'000u, 100'000'000u}) {
    PartitionedRows store(kWords, memory, "");
    write(store, kRows);
    // One block of each partition stays in any case.
    const std::uint64_t block = store.rows_per_block() * kWords * 8;
    const std::uint64_t most = memory + (PartitionedRows::kPartitions + 1) * block;
    EXPECT_GE(store.spilled_bytes() + most, kBytes) << memory;
    EXPECT_EQ(store.spilled_bytes() > 0, memory < kBytes) << memory;
    EXPECT_EQ(store.rows_held(7) > 0, memory > kBytes);
    const std::vector<std::uint64_t> numbers = taken(store, 3);
    ASSERT_EQ(numbers.size(), kRows);
    for (std::uint64_t i = 0; i < kRows; ++i) ASSERT_EQ(numbers[i], i);
  }
}

TEST(PartitionedRows, ComeBackAsTheyWereLeft) {
  SeededBits bits(4);
  PartitionedRows store(kWords, 1 << 30, "");
  std::vector<std::uint64_t> expected;
  for (int round = 0; round < 40; ++round) {
    std::vector<std::uint64_t> rows;
    for (std::uint64_t n = uniform_below(bits, 4000); n > 0; --n) {
      expected.push_back(bits.next());
      rows.insert(rows.end(), kWords, expected.back());
    }
    store.append(3, rows);
    ASSERT_EQ(store.rows_held(3), expected.size());
    std::vector<PartitionedRows::Block> blocks = store.lend(3);
    const std::uint64_t left = uniform_below(bits, expected.size() + 1);
    store.give_back(3, blocks, left);
    expected.resize(left);
    ASSERT_EQ(store.rows_held(3), left);
  }
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(taken(store, 100), expected);
}

}  // namespace
}  // namespace gauze::internal
