#include "gauze/query/read_ahead_internal.h"

namespace gauze::internal {
namespace {

constexpr std::size_t kMostAhead = 64;

}  // namespace

ReadAhead::ReadAhead(std::unique_ptr<Stream> stream)
    : stream_(std::move(stream)), reader_([this] { read(); }) {}

ReadAhead::~ReadAhead() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    if (!ended_) stream_->cancel();
  }
  writable_.notify_one();
  reader_.join();
}

void ReadAhead::read() {
  std::exception_ptr failure;
  try {
    for (Batch batch; stream_->next(batch); batch = {}) {
      std::unique_lock lock(mutex_);
      if (batches_.size() >= kMostAhead) {
        // Not for one batch: waking costs as much as reading some.
        writable_.wait(lock, [&] { return stopped_ || batches_.size() <= kMostAhead / 2; });
      }
      if (stopped_) break;
      batches_.push_back(std::move(batch));
      if (batches_.size() == 1) readable_.notify_all();
    }
  } catch (...) {
    failure = std::current_exception();
  }
  const std::lock_guard lock(mutex_);
  failure_ = failure;
  ended_ = true;
  readable_.notify_all();
}

bool ReadAhead::next(Batch& batch) {
  std::unique_lock lock(mutex_);
  readable_.wait(lock, [&] { return ended_ || !batches_.empty(); });
  if (batches_.empty()) {
    batch = {};
    if (failure_) std::rethrow_exception(failure_);
    return false;
  }
  batch = std::move(batches_.front());
  batches_.pop_front();
  if (batches_.size() == kMostAhead / 2) writable_.notify_one();
  return true;
}

}  // namespace gauze::internal
