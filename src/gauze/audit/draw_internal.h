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

  BothOutputs draw(std::size_t pair, std::uint64_t runs);

  /// Calls `use` on the outputs of `runs` runs of each input in parts, from several threads, and
  /// what it returns on one. The input `earlier` is run first.
  void each(std::size_t pair, Side earlier, std::uint64_t runs,
            const std::function<Merge(const BothOutputs&)>& use);

  std::uint64_t runs() const { return runs_; }

 private:
  std::unique_ptr<BitSource> bits(std::uint64_t stream) const;

  const Subject& subject_;
  const Options& options_;
  std::uint32_t threads_;
  std::uint64_t streams_ = 0;
  std::uint64_t runs_ = 0;
};

}  // namespace gauze::audit
