#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "gauze/accounting/release.h"
#include "gauze/adaptive/change_point.h"
#include "gauze/base/required.h"
#include "gauze/mechanism/sparse_vector.h"
#include "gauze/numeric/ratio.h"

namespace gauze {

/// What a stream was found to have done.
struct Alarm {
  std::uint64_t seen = 0;    ///< records up to the alarm
  std::uint64_t change = 0;  ///< position, from 0, of the first record after the change
};

/// Watches a stream of records for a change of their law, and says where it was when one is seen.
/// Then, or never, it ends.
///
/// Privacy    pure DP, epsilon for the whole stream, one record replaced: half for noticing, half for
///            the place.
/// Accuracy   an alarm comes when the likelihood of a change within the window is above the
///            threshold, to within about (upper - lower) 4 ln(records/beta) / epsilon.
/// Numerics   as `ChangePoint`.
/// Time       O(window) per record.
/// Argument   change_point.md
class OnlineChangePoint {
 public:
  struct Options {
    Required<Ratio> lower;           ///< of log-likelihood ratios, < 0
    Required<Ratio> upper;           ///< of log-likelihood ratios, > 0
    Required<std::uint64_t> window;  ///< how many records are looked at together, >= 1
    Required<Ratio> threshold;       ///< of the log-likelihood, > 0; the lower, the sooner an alarm
    Required<Ratio> epsilon;         ///< > 0
  };

  explicit OnlineChangePoint(Options options);

  Event event() const;
  /// How far the log-likelihood may be on the wrong side of the threshold in a stream of so many.
  Accuracy accuracy(std::uint64_t records, double confidence = 0.95) const;

  class Watch;
  /// Charges the meter for everything. The context's bits are used as long as the watch lasts.
  Watch start(Context& context) const;

  /// Watches a whole stream of log-likelihood ratios.
  Release<std::optional<Alarm>> run(std::span<const double> ratios, Context& context) const;

 private:
  Options options_;
  LikelihoodSteps steps_;
  SparseVector notice_;
  ChangePoint place_;
};

/// A stream, one record at a time.
class OnlineChangePoint::Watch {
 public:
  /// The alarm, if this record's log-likelihood ratio raises it. Throws `kBudgetExceeded` after it.
  std::optional<Alarm> see(double ratio);

 private:
  friend class OnlineChangePoint;
  Watch(const OnlineChangePoint& of, Context& context);

  LikelihoodSteps steps_;
  ChangePoint place_;
  std::uint64_t length_;
  BitSource& bits_;
  SparseVector::Conversation notice_;
  std::vector<double> window_;  // the newest ratios
  std::uint64_t seen_ = 0;
};

}  // namespace gauze
