#include <gtest/gtest.h>

#include <atomic>
#include <chrono>

#include "gauze/query/read_ahead_internal.h"
#include "gauze/testing/matchers.h"

namespace gauze::internal {
namespace {

/// So many batches, the i-th with i rows; then an end, an error, or nothing until it is cancelled.
class CountedStream final : public Stream {
 public:
  enum class End { kEnd, kError, kWait };
  CountedStream(std::size_t batches, End end, std::atomic<bool>* cancelled = nullptr)
      : batches_(batches), end_(end), cancelled_(cancelled) {}

  bool next(Batch& batch) override {
    if (given_ < batches_) {
      batch = {};
      batch.rows = ++given_;
      return true;
    }
    if (end_ == End::kEnd) return false;
    while (end_ == End::kWait && !*cancelled_) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    throw Error(ErrorCode::kUnavailable, "the source went away");
  }
  void cancel() override {
    if (cancelled_ != nullptr) *cancelled_ = true;
  }

 private:
  std::size_t batches_, given_ = 0;
  End end_;
  std::atomic<bool>* cancelled_;
};

using End = CountedStream::End;

TEST(ReadAhead, GivesEveryBatchOnceAndInOrder) {
  for (const std::size_t batches : {0u, 1u, 63u, 64u, 65u, 1000u}) {
    ReadAhead stream(std::make_unique<CountedStream>(batches, End::kEnd));
    Batch batch;
    for (std::size_t i = 1; i <= batches; ++i) {
      ASSERT_TRUE(stream.next(batch));
      ASSERT_EQ(batch.rows, i);
    }
    EXPECT_FALSE(stream.next(batch));
    EXPECT_FALSE(stream.next(batch));
  }
}

TEST(ReadAhead, PassesOnErrorsBehindTheBatchesBeforeThem) {
  ReadAhead stream(std::make_unique<CountedStream>(5, End::kError));
  Batch batch;
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(stream.next(batch));
  EXPECT_ERROR(stream.next(batch), ErrorCode::kUnavailable);
}

TEST(ReadAhead, CancelsWhatNobodyReads) {
  for (const std::size_t batches : {0u, 10u, 1000u}) {
    std::atomic<bool> cancelled = false;
    {
      ReadAhead stream(std::make_unique<CountedStream>(batches, End::kWait, &cancelled));
      Batch batch;
      EXPECT_EQ(batches > 0 && stream.next(batch), batches > 0);
    }
    EXPECT_TRUE(cancelled);
  }
}

}  // namespace
}  // namespace gauze::internal
