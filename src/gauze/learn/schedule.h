#pragma once

#include <cmath>
#include <cstdint>

namespace gauze {

/// How long the t-th update's step is, t = 1, 2, ...: never longer than the one before. It depends on
/// public numbers alone, and t counts updates, not rows, over all passes.
///
///     const Schedule steps = Schedule::strongly_convex(0.25 + lambda, lambda);
///     const double first = steps.step(1);
///
/// `smoothness` and `strong_convexity` are those of the whole objective, regulariser included.
/// Argument   sensitivity.md
class Schedule {
 public:
  enum class Kind : std::uint8_t { kConstant, kDecreasing, kSquareRoot, kStronglyConvex };

  /// The same step always; rate > 0.
  static Schedule constant(double rate);
  /// 2 / (smoothness (t + records^exponent)), 0 <= exponent < 1.
  static Schedule decreasing(double smoothness, std::uint64_t records, double exponent);
  /// 2 / (smoothness (sqrt(t) + records^exponent)), 0 <= exponent < 1.
  static Schedule square_root(double smoothness, std::uint64_t records, double exponent);
  /// min(1 / smoothness, 1 / (strong_convexity t)).
  static Schedule strongly_convex(double smoothness, double strong_convexity);

  Kind kind() const { return kind_; }

  double step(std::uint64_t t) const {
    const auto time = static_cast<double>(t);
    switch (kind_) {
      case Kind::kConstant:
        return rate_;
      case Kind::kDecreasing:
        return rate_ / (time + offset_);
      case Kind::kSquareRoot:
        return rate_ / (std::sqrt(time) + offset_);
      case Kind::kStronglyConvex:
        break;
    }
    return std::fmin(rate_, 1 / (offset_ * time));
  }

 private:
  Schedule(Kind kind, double rate, double offset) : kind_(kind), rate_(rate), offset_(offset) {}

  Kind kind_;
  double rate_;
  double offset_;  // records^exponent, or the strong convexity
};

}  // namespace gauze
