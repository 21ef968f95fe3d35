#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "gauze/accounting/release.h"
#include "gauze/base/required.h"
#include "gauze/numeric/ratio.h"

namespace gauze {

/// Which keys each privacy unit has: unit i has keys[offsets[i]] .. keys[offsets[i + 1] - 1], all
/// different and in ascending order.
struct UnitKeys {
  std::vector<std::uint64_t> offsets;  ///< one more than there are units; none means no units
  std::vector<std::uint32_t> keys;
  std::uint32_t key_count = 0;  ///< all keys are below this
};

enum class KeySelectionMethod : std::uint8_t {
  kBest,  ///< truncated geometric where it needs the fewest units per key, as for one key per unit;
          ///< else SIPS
  kTruncatedGeometric,  ///< optimal for one key per unit; with k keys, epsilon/k and delta/k for each
  kGaussian,            ///< noisy count of units above a threshold
  kSips,  ///< two rounds of weighted Gaussian thresholding; found keys leave the lists in between
};

/// Which keys have enough privacy units to be named.
///
/// Privacy    (epsilon, delta) for one privacy unit more or less, whatever keys it has. The event
///            says more: k times (epsilon/k, delta/k), or discrete Gaussian noise beside (0, delta').
/// Accuracy   how many units a key needs to be named with the stated probability; a key that no
///            unit has is never named.
/// Numerics   the probability of naming a key is the stated one, exactly; weights, noise and
///            thresholds are integers.
/// Time       O(keys + entries of all lists); up to two passes over the lists for SIPS.
/// Argument   key_selection.md
class KeySelection {
 public:
  struct Options {
    Required<Ratio> epsilon;                ///< > 0
    Required<Ratio> delta;                  ///< in (0, 1)
    Required<std::uint64_t> keys_per_unit;  ///< at most so many keys of a unit count, 1 to 2^20
    KeySelectionMethod method = KeySelectionMethod::kBest;
  };

  explicit KeySelection(Options options);

  /// The one that is used: never `kBest`.
  KeySelectionMethod method() const;

  Event event() const;
  /// How many units a key needs to be named with this probability, were all lists full.
  Accuracy accuracy(double confidence = 0.95) const;

  /// Charges the meter, then releases the named keys in increasing order. `threads`: 0 for all cores. Lists that are longer than
  /// allowed are an error of the caller, `kUnboundedData`; keys that are repeated or out of order too, `kInvalidInput`.
  Release<std::vector<std::uint32_t>> run(const UnitKeys& units, Context& context,
                                          unsigned threads = 0) const;

 private:
  struct Parts;
  std::shared_ptr<const Parts> parts_;
};

}  // namespace gauze
