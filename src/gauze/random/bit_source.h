#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

namespace gauze {

/// Counts the forks this process descends from since start: a child never reuses what its parent
/// buffered.
const std::atomic<std::uint64_t>& fork_generation();

/// Where random bits come from. Production code has one implementation, `SystemBits`; tests have
/// seeded ones in `testing/`. Words are handed out from a buffer that each source refills in its
/// own way, so that one word costs a comparison and a load.
///
/// A source is not shared between threads: make one per thread.
class BitSource {
 public:
  BitSource(const BitSource&) = delete;
  BitSource& operator=(const BitSource&) = delete;
  virtual ~BitSource() = default;

  /// 64 independent fair bits. A word is erased from the buffer as it leaves.
  std::uint64_t next() {
    if (position_ == buffer_.size() || generation_ != forks_.load(std::memory_order_relaxed))
      fill();
    const std::uint64_t word = buffer_[position_];
    buffer_[position_++] = 0;
    return word;
  }

  /// Fills `words` with independent fair bits.
  void next(std::span<std::uint64_t> words) {
    for (std::uint64_t& word : words) word = next();
  }

 protected:
  static constexpr std::size_t kBufferWords = 512;
  using Buffer = std::array<std::uint64_t, kBufferWords>;

  BitSource() = default;

  /// Overwrites the whole buffer with fresh bits, or throws `kEntropy` and leaves nothing behind.
  virtual void refill(Buffer& buffer) = 0;

  /// True in a child process until the first refill after the fork.
  bool forked() const { return generation_ != forks_.load(std::memory_order_relaxed); }

  Buffer& buffer() { return buffer_; }

 private:
  void fill() {
    position_ = kBufferWords;
    refill(buffer_);
    generation_ = forks_.load(std::memory_order_relaxed);
    position_ = 0;
  }

  const std::atomic<std::uint64_t>& forks_ = fork_generation();
  std::uint64_t generation_ = forks_.load(std::memory_order_relaxed);
  std::size_t position_ = kBufferWords;
  Buffer buffer_{};
};

}  // namespace gauze
