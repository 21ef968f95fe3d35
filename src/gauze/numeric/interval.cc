#include "gauze/numeric/interval.h"

#include <algorithm>

#include "gauze/base/error.h"

namespace gauze {
namespace {

void check(bool holds) {
  if (!holds) throw Error(ErrorCode::kInternal, "interval arithmetic outside its domain");
}

}  // namespace

Interval::Interval(unsigned bits) {
  mpfr_init2(low_, bits);
  mpfr_init2(high_, bits);
}

Interval::Interval(const Ratio& value, unsigned bits) : Interval(bits) {
  mpfr_set_q(low_, value.backend().data(), MPFR_RNDD);
  mpfr_set_q(high_, value.backend().data(), MPFR_RNDU);
}

Interval::Interval(const Integer& value, unsigned bits) : Interval(bits) {
  mpfr_set_z(low_, value.backend().data(), MPFR_RNDD);
  mpfr_set_z(high_, value.backend().data(), MPFR_RNDU);
}

Interval::Interval(double value, unsigned bits) : Interval(bits) {
  mpfr_set_d(low_, value, MPFR_RNDD);
  mpfr_set_d(high_, value, MPFR_RNDU);
}

Interval::Interval(const Interval& other) : Interval(other.bits()) {
  *this = other;
}

Interval& Interval::operator=(const Interval& other) {
  if (this == &other) return *this;
  mpfr_set_prec(low_, mpfr_get_prec(other.low_));
  mpfr_set_prec(high_, mpfr_get_prec(other.high_));
  mpfr_set(low_, other.low_, MPFR_RNDD);
  mpfr_set(high_, other.high_, MPFR_RNDU);
  return *this;
}

Interval::~Interval() {
  mpfr_clear(low_);
  mpfr_clear(high_);
}

Interval Interval::pi(unsigned bits) {
  Interval result(bits);
  mpfr_const_pi(result.low_, MPFR_RNDD);
  mpfr_const_pi(result.high_, MPFR_RNDU);
  return result;
}

Interval Interval::zero_to_one(unsigned bits) {
  Interval result(bits);
  mpfr_set_ui(result.low_, 0, MPFR_RNDD);
  mpfr_set_ui(result.high_, 1, MPFR_RNDU);
  return result;
}

Interval operator+(const Interval& a, const Interval& b) {
  Interval result(std::max(a.bits(), b.bits()));
  mpfr_add(result.low_, a.low_, b.low_, MPFR_RNDD);
  mpfr_add(result.high_, a.high_, b.high_, MPFR_RNDU);
  return result;
}

Interval operator-(const Interval& a, const Interval& b) {
  Interval result(std::max(a.bits(), b.bits()));
  mpfr_sub(result.low_, a.low_, b.high_, MPFR_RNDD);
  mpfr_sub(result.high_, a.high_, b.low_, MPFR_RNDU);
  return result;
}

Interval operator-(const Interval& a) {
  Interval result(a.bits());
  mpfr_neg(result.low_, a.high_, MPFR_RNDD);
  mpfr_neg(result.high_, a.low_, MPFR_RNDU);
  return result;
}

Interval operator*(const Interval& a, const Interval& b) {
  Interval result(std::max(a.bits(), b.bits()));
  Interval corner(result.bits());
  mpfr_mul(result.low_, a.low_, b.low_, MPFR_RNDD);
  mpfr_mul(result.high_, a.low_, b.low_, MPFR_RNDU);
  const auto widen = [&](mpfr_srcptr x, mpfr_srcptr y) {
    mpfr_mul(corner.low_, x, y, MPFR_RNDD);
    mpfr_mul(corner.high_, x, y, MPFR_RNDU);
    mpfr_min(result.low_, result.low_, corner.low_, MPFR_RNDD);
    mpfr_max(result.high_, result.high_, corner.high_, MPFR_RNDU);
  };
  widen(a.low_, b.high_);
  widen(a.high_, b.low_);
  widen(a.high_, b.high_);
  return result;
}

Interval operator/(const Interval& a, const Interval& b) {
  check(b.positive() || b.negative());
  Interval inverse(std::max(a.bits(), b.bits()));
  mpfr_ui_div(inverse.low_, 1, b.high_, MPFR_RNDD);
  mpfr_ui_div(inverse.high_, 1, b.low_, MPFR_RNDU);
  return a * inverse;
}

Interval exp(const Interval& a) {
  Interval result(a.bits());
  mpfr_exp(result.low_, a.low_, MPFR_RNDD);
  mpfr_exp(result.high_, a.high_, MPFR_RNDU);
  return result;
}

Interval expm1(const Interval& a) {
  Interval result(a.bits());
  mpfr_expm1(result.low_, a.low_, MPFR_RNDD);
  mpfr_expm1(result.high_, a.high_, MPFR_RNDU);
  return result;
}

Interval log(const Interval& a) {
  check(a.positive());
  Interval result(a.bits());
  mpfr_log(result.low_, a.low_, MPFR_RNDD);
  mpfr_log(result.high_, a.high_, MPFR_RNDU);
  return result;
}

Interval log1p(const Interval& a) {
  check(mpfr_cmp_si(a.low_, -1) > 0);
  Interval result(a.bits());
  mpfr_log1p(result.low_, a.low_, MPFR_RNDD);
  mpfr_log1p(result.high_, a.high_, MPFR_RNDU);
  return result;
}

Interval sqrt(const Interval& a) {
  check(mpfr_sgn(a.low_) >= 0);
  Interval result(a.bits());
  mpfr_sqrt(result.low_, a.low_, MPFR_RNDD);
  mpfr_sqrt(result.high_, a.high_, MPFR_RNDU);
  return result;
}

Interval erfc(const Interval& a) {
  Interval result(a.bits());
  mpfr_erfc(result.low_, a.high_, MPFR_RNDD);
  mpfr_erfc(result.high_, a.low_, MPFR_RNDU);
  return result;
}

}  // namespace gauze
