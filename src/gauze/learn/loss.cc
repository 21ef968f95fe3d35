#include "gauze/learn/loss.h"

#include <algorithm>

#include "gauze/base/error.h"

namespace gauze {

namespace {

constexpr double kUnit = 0x1p-53;  // half a unit in the last place of 1

}  // namespace

Loss Loss::logistic() {
  return {Kind::kLogistic, 1};
}

Loss Loss::huber(double half_width) {
  require(half_width >= 0x1p-20 && half_width <= 1,
          "huber must lie in [2^-20, 1], for example 0.1");
  return {Kind::kHuber, half_width};
}

Loss Loss::squared(double radius) {
  require(radius > 0 && radius <= 0x1p20,
          "radius must lie in (0, 2^20]: the squared loss has bounds in a ball only");
  return {Kind::kSquared, radius};
}

Loss Loss::hinge() {
  return {Kind::kHinge, 1};
}

Loss Loss::weighted(double negative, double positive) const {
  require(negative > 0 && negative <= 0x1p20 && positive > 0 && positive <= 0x1p20,
          "class weights must lie in (0, 2^20]");
  require(kind_ != Kind::kSquared, "class weights are for classes; the squared loss has none");
  Loss result = *this;
  result.negative_ = negative;
  result.positive_ = positive;
  return result;
}

LossBounds Loss::bounds() const {
  const double weight = std::max(negative_, positive_);
  switch (kind_) {
    case Kind::kLogistic:
      return {.lipschitz = weight, .smoothness = weight / 4, .slope_error = 16 * weight * kUnit};
    case Kind::kHuber:
      return {.lipschitz = weight,
              .smoothness = weight * steepness_,
              .slope_error = (10 + 2 / shape_) * weight * kUnit};
    case Kind::kSquared:
      return {.lipschitz = shape_ + 1, .smoothness = 1, .slope_error = 2 * (shape_ + 1) * kUnit};
    case Kind::kHinge:
      break;
  }
  return {.lipschitz = weight, .smoothness = kInfinity, .slope_error = 2 * weight * kUnit};
}

double Loss::value(double score, double label) const {
  const double weight = label < 0 ? negative_ : positive_;
  const double margin = label * score;
  switch (kind_) {
    case Kind::kLogistic:
      return weight * (std::fmax(-margin, 0) + std::log1p(std::exp(-std::fabs(margin))));
    case Kind::kHuber: {
      const double below = std::fmax(1 + shape_ - margin, 0);  // how far below the flat part
      return weight * (below >= 2 * shape_ ? 1 - margin : below * below * (steepness_ / 2));
    }
    case Kind::kSquared:
      return (score - label) * (score - label) / 2;
    case Kind::kHinge:
      break;
  }
  return weight * std::fmax(1 - margin, 0);
}

double Loss::bend(double score, double label) const {
  const double weight = (label < 0 ? negative_ : positive_) * label * label;
  switch (kind_) {
    case Kind::kLogistic: {
      const double share = 1 / (1 + std::exp(-std::fabs(label * score)));
      return weight * share * (1 - share);
    }
    case Kind::kHuber:
      return std::fabs(1 - label * score) <= shape_ ? weight * steepness_ : 0;
    case Kind::kSquared:
      return 1;
    case Kind::kHinge:
      break;
  }
  return 0;
}

}  // namespace gauze
