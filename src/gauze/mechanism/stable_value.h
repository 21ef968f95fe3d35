#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "gauze/accounting/release.h"
#include "gauze/base/required.h"
#include "gauze/numeric/ratio.h"

namespace gauze {

namespace internal {
class StabilityTest;
}

/// A value of any kind, by number, and its distance to instability: how many changes of the data it
/// is certain to survive. Of neighbours with different values both have distance 0; of others the
/// distances differ by at most 1.
struct StableChoice {
  std::int64_t value = 0;
  std::uint64_t distance = 0;
};

/// Releases a value as it is if it is certain to be the same on all data nearby, else nothing.
///
/// Privacy    (epsilon, delta)-DP.
/// Accuracy   exact when released; released with probability 1 - beta when the distance is at least
///            about ln(1/delta)/epsilon + ln(1/(2 beta))/epsilon.
/// Numerics   integers throughout; the threshold is the smallest for which delta holds.
/// Time       O(1).
/// Argument   stable_value.md
class StableValue {
 public:
  struct Options {
    Required<Ratio> epsilon;      ///< > 0
    Required<Ratio> delta;        ///< in (0, 1)
    Required<Relation> relation;  ///< whose neighbours the distance counts
  };

  explicit StableValue(Options options);

  Event event() const;
  /// How large the distance must be for a release.
  Accuracy accuracy(double confidence = 0.95) const;

  /// Charges the meter, then releases the value or nothing.
  Release<std::optional<std::int64_t>> run(const StableChoice& choice, Context& context) const;

 private:
  Options options_;
  std::shared_ptr<const internal::StabilityTest> test_;
};

/// The most frequent value, of any 64 bits, if it leads clearly; nothing else. No domain is needed.
///
/// Privacy    (epsilon, delta)-DP; one record per privacy unit.
/// Accuracy   exact when released; states how far it must lead the next value for that.
/// Numerics, argument: as `StableValue`.
/// Time       O(n log n).
class StableMode {
 public:
  struct Options {
    Required<Ratio> epsilon;      ///< > 0
    Required<Ratio> delta;        ///< in (0, 1)
    Required<Relation> relation;  ///< add_remove or replace
  };

  explicit StableMode(Options options);

  Event event() const { return stable_.event(); }
  /// By how many records the mode must lead for a release.
  Accuracy accuracy(double confidence = 0.95) const;

  /// Charges the meter, then releases the mode or nothing.
  Release<std::optional<std::int64_t>> run(std::span<const std::int64_t> values,
                                           Context& context) const;

 private:
  std::uint64_t lead_per_change() const { return relation_ == Relation::kReplace ? 2 : 1; }

  Relation relation_;
  StableValue stable_;
};

}  // namespace gauze
