#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "gauze/adaptive/false_discovery.h"
#include "gauze/random/bit_source.h"

namespace gauze::testing {

/// PAPRIKA as published (Zhang, Kamath and Cummings 2020, with the constants of the authors' code):
/// levels depend on candidacies p < 2 lambda that are computed from private p-values and not
/// released. Not private; for tests that show it.
class PublishedPaprika {
 public:
  struct Options {
    double rate = 0.05;
    double lambda = 0.25;
    double wealth = 0.0125;
    double log_sensitivity = 0.1;
    std::uint64_t rejections = 1;
    std::uint64_t tests = 100;
    double epsilon = 1;
    double delta = 2.5e-4;
  };
  /// Noise of a scale; the floating-point Laplace noise of the published code by default.
  using Noise = std::function<double(double scale)>;

  explicit PublishedPaprika(Options options) : options_(options) {}

  double threshold_scale() const;
  double test_scale() const { return 2 * threshold_scale(); }
  double shift() const;

  struct Trace {
    std::vector<double> levels;
    std::vector<bool> rejected;
  };
  /// With `shift` in the place of the published one.
  Trace run(std::span<const double> p_values, const Noise& noise, double shift) const;
  Trace run(std::span<const double> p_values, BitSource& bits) const;

 private:
  Options options_;
  Spending spending_;
};

inline double PublishedPaprika::threshold_scale() const {
  return 2 * options_.log_sensitivity * static_cast<double>(options_.rejections) / options_.epsilon;
}

inline double PublishedPaprika::shift() const {
  const double each = 1 - std::pow((1 - options_.delta) / std::exp(options_.epsilon),
                                   1 / static_cast<double>(options_.tests));
  return threshold_scale() / 2 * std::log(2 / (3 * std::min(options_.delta, each)));
}

inline PublishedPaprika::Trace PublishedPaprika::run(std::span<const double> p_values,
                                                     const Noise& noise, double shift) const {
  Saffron levels({.rate = options_.rate,
                  .candidacy = 2 * options_.lambda,
                  .wealth = options_.wealth,
                  .cap = options_.lambda,
                  .spending = spending_});
  Trace trace;
  double threshold = noise(threshold_scale());
  std::uint64_t rejections = 0;
  for (const double p : p_values) {
    const double level = levels.level();
    const bool rejected = p < 2 * options_.lambda && rejections < options_.rejections &&
                          std::log(p) + noise(test_scale()) < std::log(level) + threshold - shift;
    levels.record(p, rejected);
    trace.levels.push_back(level);
    trace.rejected.push_back(rejected);
    if (!rejected) continue;
    ++rejections;
    threshold = noise(threshold_scale());
  }
  return trace;
}

inline PublishedPaprika::Trace PublishedPaprika::run(std::span<const double> p_values,
                                                     BitSource& bits) const {
  const auto laplace = [&bits](double scale) {
    const double u = (static_cast<double>(bits.next() >> 11) + 0.5) * 0x1p-53 - 0.5;
    return -scale * std::copysign(std::log1p(-2 * std::abs(u)), u);
  };
  return run(p_values, laplace, shift());
}

}  // namespace gauze::testing
