#pragma once

#include <mpfr.h>

#include "gauze/numeric/ratio.h"

namespace gauze {

/// A closed interval that certainly contains a real number: both ends are MPFR numbers and every
/// operation rounds outward. The precision is that of the operands' construction; ask again with
/// more bits when an interval is too wide.
class Interval {
 public:
  Interval(const Ratio& value, unsigned bits);
  Interval(const Integer& value, unsigned bits);
  Interval(double value, unsigned bits);
  Interval(const Interval& other);
  Interval& operator=(const Interval& other);
  ~Interval();

  static Interval pi(unsigned bits);
  static Interval zero_to_one(unsigned bits);

  unsigned bits() const { return static_cast<unsigned>(mpfr_get_prec(low_)); }
  double lower() const { return mpfr_get_d(low_, MPFR_RNDD); }
  double upper() const { return mpfr_get_d(high_, MPFR_RNDU); }

  /// A number within the interval, in extended precision.
  long double middle() const { return mpfr_get_ld(low_, MPFR_RNDN); }

  /// Certainly below / above zero.
  bool negative() const { return mpfr_sgn(high_) < 0; }
  bool positive() const { return mpfr_sgn(low_) > 0; }

  friend Interval operator+(const Interval& a, const Interval& b);
  friend Interval operator-(const Interval& a, const Interval& b);
  friend Interval operator*(const Interval& a, const Interval& b);
  friend Interval operator/(const Interval& a, const Interval& b);  ///< b must not contain zero
  friend Interval operator-(const Interval& a);
  friend Interval exp(const Interval& a);
  friend Interval expm1(const Interval& a);
  friend Interval log(const Interval& a);    ///< a must be positive
  friend Interval log1p(const Interval& a);  ///< a must be above -1
  friend Interval sqrt(const Interval& a);   ///< a must not be negative
  friend Interval erfc(const Interval& a);   ///< 1 - erf, relatively exact in both tails

 private:
  explicit Interval(unsigned bits);

  mpfr_t low_;
  mpfr_t high_;
};

}  // namespace gauze
