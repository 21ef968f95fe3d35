#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "gauze/accounting/release.h"
#include "gauze/base/required.h"
#include "gauze/numeric/ratio.h"

namespace gauze {

/// Which keys each privacy unit has: unit i has keys[offsets[i]] .. keys[offsets[i + 1] - 1], all different.
struct UnitKeys {
  std::vector<std::uint64_t> offsets;  ///< one more than there are units
  std::vector<std::uint32_t> keys;
  std::uint32_t key_count = 0;  ///< all keys are below this
};

enum class KeySelectionMethod : std::uint8_t {
  kBest,  ///< the one that keeps the most at this guarantee: truncated geometric for one key per unit, else SIPS
  kTruncatedGeometric,  ///< optimal for one key per unit; with k keys, epsilon/k and 1 - (1 - delta)^(1/k)
  kGaussian,            ///< noisy count of units above a threshold
  kSips,  ///< several rounds of weighted Gaussian thresholding, found keys leave the lists in between
};

/// Which keys have enough privacy units to be named.
class KeySelection {
 public:
  struct Options {
    Required<Ratio> epsilon;                ///< > 0
    Required<Ratio> delta;                  ///< in (0, 1)
    Required<std::uint64_t> keys_per_unit;  ///< at most so many keys of a unit count, >= 1
    KeySelectionMethod method = KeySelectionMethod::kBest;
  };

  explicit KeySelection(Options options);

  Event event() const;
  /// How many units a key needs to be kept with this probability.
  Accuracy accuracy(double confidence = 0.95) const;

  /// Charges the meter, then releases the kept keys in increasing order. Units with more keys than allowed are an error
  /// of the caller: `kUnboundedData`.
  Release<std::vector<std::uint32_t>> run(const UnitKeys& units, Context& context) const;

 private:
  struct Parts;
  std::shared_ptr<const Parts> parts_;
};

}  // namespace gauze
