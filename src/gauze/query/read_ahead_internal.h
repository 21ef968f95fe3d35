#pragma once

#include <condition_variable>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>

#include "gauze/data/source.h"

namespace gauze::internal {

/// The same stream, read by a thread of its own some batches ahead: whoever calls `next` of an engine works for it, and would
/// otherwise wait with what it wants to do with the rows.
class ReadAhead final : public Stream {
 public:
  explicit ReadAhead(std::unique_ptr<Stream> stream);
  ~ReadAhead() override;

  bool next(Batch& batch) override;
  double progress() const override { return stream_->progress(); }
  void cancel() override { stream_->cancel(); }

 private:
  void read();

  std::unique_ptr<Stream> stream_;
  std::mutex mutex_;
  std::condition_variable readable_, writable_;
  std::deque<Batch> batches_;
  std::exception_ptr failure_;
  bool ended_ = false, stopped_ = false;
  std::thread reader_;
};

}  // namespace gauze::internal
