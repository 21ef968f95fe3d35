#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include "gauze/accounting/release.h"
#include "gauze/base/required.h"
#include "gauze/numeric/ratio.h"

namespace gauze {

/// A program whose answer, a whole number, may be computed from any part of the records. It is given
/// the positions of some of them, in order; it must return for every such list, or may throw, which
/// counts as an answer of its own.
struct RecordProgram {
  std::uint64_t records = 0;
  std::function<std::int64_t(std::span<const std::uint64_t> positions)> answer;
};

/// The answer of any program, if it comes out the same on most random subsamples of the records
/// (A_samp); nothing else. Nothing need be known of the program.
///
/// Privacy    (epsilon, delta)-DP, one record replaced; for any rate and number of subsamples.
/// Accuracy   exact when released. With the published rate, released with probability 1 - 3 delta if
///            at least three of four subsamples give the answer of the whole.
/// Numerics   integers throughout.
/// Time       subsamples * rate * records, and the program on every subsample.
/// Argument   subsample_stability.md
class SubsampleStability {
 public:
  struct Options {
    Required<Ratio> epsilon;       ///< > 0
    Required<Ratio> delta;         ///< in (0, 1/2]
    Ratio gap = 0;                 ///< records per record taken, > 0; 0 is 64 ln(1/delta) / epsilon
    std::uint64_t subsamples = 0;  ///< how many; 0 is 3 gap ln(records/delta)
  };

  explicit SubsampleStability(Options options);

  Event event() const;
  /// By which share of the subsamples an answer must lead to be released, provided that no record is
  /// in more than twice as many as expected.
  Accuracy accuracy(double confidence = 0.95) const;
  std::uint64_t subsamples(std::uint64_t records) const;

  /// Charges the meter, then releases the program's usual answer or nothing.
  Release<std::optional<std::int64_t>> run(const RecordProgram& program, Context& context) const;

 private:
  Options options_;
};

}  // namespace gauze
