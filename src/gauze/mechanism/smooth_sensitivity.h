#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "gauze/accounting/release.h"
#include "gauze/base/required.h"
#include "gauze/numeric/ratio.h"

namespace gauze {

namespace internal {
class ScaleLadder;
}

/// The noise of `SmoothSensitivity` and `SmoothMedian`.
enum class SmoothNoise : std::uint8_t {
  kCauchy,   ///< pure DP; no mean
  kStudent,  ///< three degrees of freedom: pure DP, finite variance
  kLaplace,  ///< (epsilon, delta)-DP; light tails
};

/// An answer, and how far the neighbours of data sets about it can move it.
struct MovableAnswer {
  double value = 0;
  /// moves[k]: at least |f(D1) - f(D2)| for all neighbours D1, D2 with D1 within k changes of the
  /// data. For neighbouring data D, D': moves[k] of D is at most moves[k + 1] of D'. What is not
  /// listed is the global sensitivity.
  std::vector<double> moves;
};

/// Noise for an answer that moves little on this data and on all data near it, though it may move
/// far elsewhere.
///
/// Privacy    pure DP, epsilon, with Cauchy and Student noise; (epsilon, delta)-DP with Laplace.
/// Accuracy   within noise of scale c S / epsilon, S = max over k of moves[k] e^(-beta k); c and beta
///            are in the argument. S is private: what is promised beforehand is the worst case.
/// Numerics   answers are rounded to a public lattice, scales to a public ladder of equal ratios;
///            the noise is exact there. Neither costs privacy.
/// Time       O(distances()).
/// Argument   smooth_sensitivity.md
class SmoothSensitivity {
 public:
  struct Options {
    Required<Ratio> epsilon;             ///< > 0
    Required<Ratio> global_sensitivity;  ///< no neighbours' answers are farther apart, > 0
    Required<Relation> relation;         ///< under which `moves` is meant
    SmoothNoise noise = SmoothNoise::kCauchy;
    Ratio delta = 0;  ///< of Laplace noise, in (0, 1/3]; 0 for the others
  };

  explicit SmoothSensitivity(Options options);

  Event event() const;
  /// For data on which the answer is as movable as anywhere.
  Accuracy accuracy(double confidence = 0.95) const;
  /// The promise for data whose smooth sensitivity is at most `smooth`.
  Accuracy accuracy_if(double smooth, double confidence = 0.95) const;

  /// S shrinks by e^-beta for every record of distance.
  double beta() const;
  /// How many entries of `moves` can matter.
  std::uint64_t distances() const;

  /// Charges the meter, then releases value plus noise. The value must be finite: throws
  /// `kInvalidInput`.
  Release<double> run(const MovableAnswer& answer, Context& context) const;

 private:
  Accuracy accuracy_at(double scale, double confidence) const;

  Options options_;
  std::shared_ptr<const internal::ScaleLadder> ladder_;
};

}  // namespace gauze
