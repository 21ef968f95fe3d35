#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "gauze/base/required.h"

namespace gauze {

/// How wealth is spent over time: spending(1) >= spending(2) >= ..., proportional to t^-exponent up
/// to `horizon`, summing to 1; 0 from then on.
class Spending {
 public:
  /// 1 < exponent, 1 <= horizon <= 2^24. Throws `kInvalidOption`.
  explicit Spending(double exponent = 1.6, std::uint64_t horizon = 9999);

  double operator()(std::uint64_t time) const {
    return time >= 1 && time <= shares_->size() ? (*shares_)[time - 1] : 0;
  }

 private:
  std::shared_ptr<const std::vector<double>> shares_;
};

/// Levels for testing hypotheses one after the other, such that of the rejected ones at most a share
/// `rate` are true, on average (LORD++). The level of the next test depends on which were rejected,
/// and on nothing else. Not private by itself: `Paprika` is.
///
/// Guarantee  the false discovery rate is at most `rate` at any time, for independent p-values.
/// Time       O(rejections) per level.
/// Argument   false_discovery.md
class LordPlusPlus {
 public:
  struct Options {
    Required<double> rate;  ///< of false discoveries, in (0, 1)
    double wealth = 0;      ///< at the start, in (0, rate); 0 is half of the rate
    Spending spending = Spending();
  };

  explicit LordPlusPlus(Options options);

  /// Of the next test: reject if p is below it.
  double level() const;
  /// What came of it.
  void record(bool rejected);

 private:
  Options options_;
  std::uint64_t tests_ = 0;
  std::vector<std::uint64_t> rejections_;  // when
};

/// The same with more power where many hypotheses are false (SAFFRON): candidates, p below
/// `candidacy`, cost nothing. Levels depend on p-values of tests that were not rejected, so nothing
/// that was not released may be known of them: for p-values that are public, never for private ones.
///
/// Guarantee  the false discovery rate is at most `rate` at any time, for independent p-values.
/// Time       O(rejections) per level.
/// Argument   false_discovery.md
class Saffron {
 public:
  struct Options {
    Required<double> rate;   ///< of false discoveries, in (0, 1)
    double candidacy = 0.5;  ///< p-values below it are candidates, in (0, 1)
    double wealth = 0;       ///< at the start, in (0, (1 - candidacy) rate); 0 is half of that
    double cap = 0;          ///< no level is above it; 0 is the candidacy
    Spending spending = Spending();
  };

  explicit Saffron(Options options);

  double level() const;
  void record(double p, bool rejected);
  /// Tests p at the next level and records what comes of it.
  bool test(double p);

 private:
  Options options_;
  std::uint64_t tests_ = 0;
  std::uint64_t candidates_ = 0;
  struct Rejection {
    std::uint64_t time;
    std::uint64_t candidates;  // up to it
  };
  std::vector<Rejection> rejections_;
};

}  // namespace gauze
