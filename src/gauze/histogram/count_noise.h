#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "gauze/accounting/release.h"
#include "gauze/numeric/ratio.h"

namespace gauze {

/// What a release of counts may cost; every method's options hold these three.
struct HistogramBudget {
  Ratio epsilon;                ///< > 0
  Ratio delta;                  ///< in [0, 1); above 0 Gaussian noise is used where it is smaller
  std::uint64_t rows_per_unit;  ///< >= 1: how many rows of the table one privacy unit may hold
};

/// Throws `kInvalidOption`.
void check_budget(const HistogramBudget& budget);

/// Noise for one vector of counts in which every row is counted at most once: a level of a tree, the
/// cells of a grid. A unit moves it by at most `rows_per_unit` in the first and in the second norm,
/// under add_remove.
///
/// Privacy    Laplace: pure DP, `epsilon`. Gaussian: zCDP, (rows_per_unit / sigma)^2 / 2.
/// Numerics   integers throughout; beyond 64 bits saturated.
/// Argument   count_noise.md
class CountNoise {
 public:
  static CountNoise laplace(const Ratio& epsilon, std::uint64_t rows_per_unit);
  static CountNoise gaussian(const Ratio& sigma, std::uint64_t rows_per_unit);

  bool is_gaussian() const { return gaussian_; }
  Event event() const;
  /// Of the noise of one count, rounded up.
  double variance() const;
  /// How much a single row stands out: the inverse scale of Laplace noise, of Gaussian noise that of
  /// Laplace noise with the same variance. Rules that choose a resolution read it as epsilon.
  double rate() const;

  /// Charges the meter, then returns counts with noise.
  std::vector<std::int64_t> run(std::span<const std::int64_t> counts, Context& context) const;

 private:
  CountNoise(bool gaussian, Ratio scale, std::uint64_t rows_per_unit)
      : gaussian_(gaussian), scale_(std::move(scale)), rows_per_unit_(rows_per_unit) {}

  bool gaussian_;
  Ratio scale_;  // of Laplace noise, or sigma
  std::uint64_t rows_per_unit_;
};

/// Spends the whole budget on one vector per weight: the noise of vector i has a scale in proportion
/// to 1 / weights[i]. Laplace noise shares epsilon exactly. With delta > 0 Gaussian noise is taken if
/// its variance is smaller. Weights are positive; throws `kInvalidOption`.
std::vector<CountNoise> split_budget(const HistogramBudget& budget, std::span<const Ratio> weights);

/// About the smallest sigma for which Gaussian noise on a vector that moves by 1 is (epsilon, delta)-DP;
/// what is charged has to be checked by an accountant.
double gaussian_sigma(double epsilon, double delta);

/// The events of several vectors as one event; they are composed.
Event composed(std::span<const CountNoise> noises);

/// Charges `price` as a whole, so that nothing is drawn when it cannot be paid, and gives the steps of
/// a run a meter of their own that is filled with just that.
class StepMeter {
 public:
  StepMeter(const Event& price, Context& context)
      : meter_(paid(price, context)), context_{meter_, context.bits} {}
  StepMeter(const StepMeter&) = delete;
  StepMeter& operator=(const StepMeter&) = delete;

  Context& context() { return context_; }

 private:
  static Meter paid(const Event& price, Context& context) {
    context.meter.charge(price);
    return Meter(price);
  }

  Meter meter_;
  Context context_;
};

/// How many standard deviations hold the noise of a sum of counts with probability `confidence`:
/// the larger of what a single Laplace variable needs and what a normal one needs; only the latter for
/// Gaussian noise.
double deviations(double confidence, bool gaussian);

/// The noise of a sum of counts, each times a weight of at most `largest_weight`, is within this with
/// probability `confidence`. Argument: count_noise.md
double noise_half_width(double variance, double confidence, bool gaussian,
                        double largest_weight = 1);

}  // namespace gauze
