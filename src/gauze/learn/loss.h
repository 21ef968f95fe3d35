#pragma once

#include <cmath>
#include <cstdint>

#include "gauze/numeric/infinity.h"

namespace gauze {

/// What is known of the loss of one record, whatever the record: the numbers every guarantee of this
/// folder rests on. The regulariser is no part of it.
struct LossBounds {
  double lipschitz = 0;   ///< L: the gradient is never longer
  double smoothness = 0;  ///< beta: how fast the gradient may turn; infinite for a loss with a kink
  double curvature = 0;   ///< gamma: the strong convexity that each record has of its own
  double slope_error = 0;  ///< how far a computed slope may be from the true one at the same score
};

/// The loss of a linear model at a row (x, y), as a function of the score <w, x>. Rows have ‖x‖ <= 1;
/// labels lie in [-1, 1], and are -1 or 1 where classes are meant.
///
///     const Loss loss = Loss::logistic();
///     const double slope = loss.slope(score, label);  // the gradient is slope * x
///
/// Argument   loss.md
class Loss {
 public:
  enum class Kind : std::uint8_t { kLogistic, kHuber, kSquared, kHinge };

  /// ln(1 + e^(-y score)).
  static Loss logistic();
  /// The hinge with its kink rounded over 1 - half_width < y score < 1 + half_width. Throws
  /// `kInvalidOption` unless half_width lies in [2^-20, 1].
  static Loss huber(double half_width);
  /// (score - y)^2 / 2 for models in the ball of this radius, in (0, 2^20]: outside it has no bound.
  static Loss squared(double radius);
  /// max(0, 1 - y score). It has no smoothness: for minimisers, not for steps.
  static Loss hinge();

  /// The loss with public weights of the classes y < 0 and y >= 0, in (0, 2^20]; the larger one multiplies
  /// the bounds. Throws `kInvalidOption` for the squared loss.
  Loss weighted(double negative, double positive) const;

  Kind kind() const { return kind_; }
  LossBounds bounds() const;
  /// The ball in which the bounds hold; infinite where they hold everywhere.
  double radius() const { return kind_ == Kind::kSquared ? shape_ : kInfinity; }

  double value(double score, double label) const;
  /// The derivative by the score; of the hinge at its kink, 0.
  double slope(double score, double label) const {
    const double weight = label < 0 ? negative_ : positive_;
    switch (kind_) {
      case Kind::kLogistic:
        return -weight * label / (1 + std::exp(label * score));
      case Kind::kHuber:
        return -weight * label *
               std::fmin(std::fmax((1 + shape_ - label * score) * steepness_, 0), 1);
      case Kind::kSquared:
        return score - label;
      case Kind::kHinge:
        break;
    }
    return label * score < 1 ? -weight * label : 0;
  }
  /// The derivative of the slope, where there is one: for solvers, no guarantee rests on it.
  double bend(double score, double label) const;

 private:
  Loss(Kind kind, double shape) : kind_(kind), shape_(shape), steepness_(0.5 / shape) {}

  Kind kind_;
  double shape_;  // the half width of Huber's loss, the radius of the squared one
  double steepness_;
  double negative_ = 1;
  double positive_ = 1;
};

}  // namespace gauze
