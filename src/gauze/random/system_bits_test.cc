#include "gauze/random/system_bits.h"

#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <bit>
#include <cmath>
#include <set>
#include <thread>
#include <vector>

#include "gauze/testing/matchers.h"

namespace {
bool entropy_fails = false;
std::atomic<int> entropy_calls = 0;
}  // namespace

// Stands in for the system's own in this test program, so that its failure can be played (F10).
extern "C" ssize_t getrandom(void* buffer, size_t length, unsigned flags) {
  ++entropy_calls;
  if (entropy_fails) {
    errno = ENOSYS;
    return -1;
  }
  return syscall(SYS_getrandom, buffer, length, flags);
}

namespace gauze {
namespace {

TEST(SystemBits, ThrowsWhenTheSystemGivesNoEntropyAndFallsBackOnNothing) {
  entropy_fails = true;
  EXPECT_ERROR(SystemBits(), ErrorCode::kEntropy);
  entropy_fails = false;
  SystemBits bits;
  bits.next();
}

TEST(SystemBits, ThrowsWhenReseedingFails) {
  SystemBits bits;
  entropy_fails = true;
  const auto drain = [&] {
    for (int i = 0; i < 4096 * 512 + 1; ++i) bits.next();  // 16 MiB and one word
  };
  EXPECT_ERROR(drain(), ErrorCode::kEntropy);
  entropy_fails = false;
  bits.next();  // and recovers with the system
}

TEST(SystemBits, ReseedsEverySixteenMebibytes) {
  SystemBits bits;
  const int before = entropy_calls;
  for (int i = 0; i < 2 * 4096 * 512 + 1; ++i) bits.next();
  EXPECT_EQ(entropy_calls - before, 2);
}

TEST(SystemBits, TwoSourcesShareNothing) {
  SystemBits a;
  SystemBits b;
  std::set<std::uint64_t> seen;
  for (int i = 0; i < 10'000; ++i) {
    seen.insert(a.next());
    seen.insert(b.next());
  }
  EXPECT_EQ(seen.size(), 20'000u);  // a collision has probability 1e-11
}

TEST(SystemBits, AChildProcessDoesNotRepeatItsParent) {
  SystemBits bits;
  bits.next();  // the buffer is full when the process forks
  int pipe_ends[2];
  ASSERT_EQ(pipe(pipe_ends), 0);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const std::uint64_t word = bits.next();
    _exit(write(pipe_ends[1], &word, sizeof word) == sizeof word ? 0 : 1);
  }
  std::uint64_t from_child = 0;
  ASSERT_EQ(read(pipe_ends[0], &from_child, sizeof from_child),
            static_cast<ssize_t>(sizeof from_child));
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  // Neither what the parent had buffered nor what its key would have made next.
  for (int i = 0; i < 4 * 512; ++i) EXPECT_NE(bits.next(), from_child);
}

// Each bit position is a fair coin: 10^6 words, 64 positions, six standard deviations (failure
// 1e-7).
TEST(SystemBits, EveryBitIsFairAndNeighboursAreIndependent) {
  SystemBits bits;
  constexpr int kWords = 1'000'000;
  std::vector<int> ones(64, 0);
  std::int64_t agreement = 0;
  std::uint64_t last = bits.next();
  for (int i = 0; i < kWords; ++i) {
    const std::uint64_t word = bits.next();
    for (unsigned b = 0; b < 64; ++b) ones[b] += static_cast<int>((word >> b) & 1);
    agreement += std::popcount(~(word ^ last));
    last = word;
  }
  for (const int count : ones) EXPECT_LT(std::abs(count - kWords / 2), 6 * 500);
  EXPECT_LT(std::fabs(static_cast<double>(agreement) - 32.0 * kWords), 6 * 4 * std::sqrt(kWords));
}

TEST(SystemBits, OnePerThreadRunsInParallel) {
  std::vector<std::thread> threads;
  std::vector<std::uint64_t> last(4);
  for (std::size_t t = 0; t < last.size(); ++t) {
    threads.emplace_back([&last, t] {
      SystemBits bits;
      for (int i = 0; i < 100'000; ++i) last[t] = bits.next();
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(std::set<std::uint64_t>(last.begin(), last.end()).size(), last.size());
}

}  // namespace
}  // namespace gauze
