#pragma once

#include <atomic>
#include <functional>

#include "gauze/audit/audit.h"

namespace gauze::audit {

/// Runs a subject on all threads, every part of the work with bits of its own, so that equal sources
/// give equal outputs on any number of threads.
class Drawing {
 public:
  /// Adds what was made of some outputs to the whole; called for one part at a time, in order.
  using Merge = std::function<void()>;

  Drawing(const Subject& subject, const Options& options);

  Outputs draw(std::size_t pair, Side side, std::uint64_t runs);

  /// Calls `use` on the outputs of `runs` runs in parts, from several threads, and what it returns
  /// on one.
  void each(std::size_t pair, Side side, std::uint64_t runs,
            const std::function<Merge(const Outputs&)>& use);

  std::uint64_t runs() const { return runs_; }

 private:
  const Subject& subject_;
  const Options& options_;
  std::uint32_t threads_;
  std::uint64_t streams_ = 0;
  std::uint64_t runs_ = 0;
};

}  // namespace gauze::audit
