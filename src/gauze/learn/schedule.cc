#include "gauze/learn/schedule.h"

#include "gauze/base/error.h"

namespace gauze {

namespace {

void check(double smoothness, double exponent) {
  require(smoothness > 0 && std::isfinite(smoothness),
          "smoothness must be positive and finite: the hinge has none, take huber");
  require(exponent >= 0 && exponent < 1, "exponent must lie in [0, 1)");
}

double power(std::uint64_t records, double exponent) {
  require(records >= 1, "records must be at least 1");
  return std::pow(static_cast<double>(records), exponent);
}

}  // namespace

Schedule Schedule::constant(double rate) {
  require(rate > 0 && std::isfinite(rate), "rate must be positive and finite");
  return {Kind::kConstant, rate, 0};
}

Schedule Schedule::decreasing(double smoothness, std::uint64_t records, double exponent) {
  check(smoothness, exponent);
  return {Kind::kDecreasing, 2 / smoothness, power(records, exponent)};
}

Schedule Schedule::square_root(double smoothness, std::uint64_t records, double exponent) {
  check(smoothness, exponent);
  return {Kind::kSquareRoot, 2 / smoothness, power(records, exponent)};
}

Schedule Schedule::strongly_convex(double smoothness, double strong_convexity) {
  check(smoothness, 0);
  require(strong_convexity > 0 && std::isfinite(strong_convexity),
          "strong_convexity must be positive: the schedule 1/(gamma t) needs lambda > 0");
  return {Kind::kStronglyConvex, 1 / smoothness, strong_convexity};
}

}  // namespace gauze
