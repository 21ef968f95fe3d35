// A million outputs of the mechanisms on real numbers: neither the set of outputs nor their last
// bits tell the input (Mironov 2012; Haney, Desfontaines, Hartman, Shrestha and Hay 2022). Each
// check meets a sampler that it must catch.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "gauze/mechanism/gaussian.h"
#include "gauze/mechanism/laplace.h"
#include "gauze/numeric/exact_sum.h"
#include "gauze/testing/contract.h"
#include "gauze/testing/seeded_bits.h"
#include "gauze/testing/statistics.h"

namespace gauze {
namespace {

using testing::chi_square_p;
using testing::release_once;
using testing::SeededBits;

constexpr std::size_t kBatch = 1000;
constexpr int kBatches = 1000;

/// A thousand outputs for a thousand copies of one input.
using Sampler = std::function<std::vector<double>(double, BitSource&)>;

template <class Mechanism>
Sampler sampler(Mechanism mechanism) {
  return [mechanism](double x, BitSource& bits) {
    const std::vector<double> copies(kBatch, x);
    return release_once(mechanism, std::span<const double>(copies), bits);
  };
}

// A million outputs are not one release of a thousand persons: the sensitivities only keep the
// lattice of a vector as coarse as that of a scalar.
Laplace laplace() {
  return Laplace({.l1_sensitivity = kBatch, .scale = 1, .dimension = kBatch});
}
Gaussian gaussian() {
  return Gaussian({.l2_sensitivity = 64, .sigma = 1, .dimension = kBatch});
}

/// The textbook: a uniform number of `digits` bits through the inverse distribution, in doubles.
double textbook_laplace(double x, int digits, BitSource& bits) {
  const double sign = (bits.next() & 1) == 0 ? 1 : -1;
  const double u = std::ldexp(static_cast<double>(bits.next() >> (64 - digits)) + 0.5, -digits);
  return x - sign * std::log(u);
}

/// `finish` turns each textbook output into the twin's.
Sampler textbook(int digits, const std::function<double(double)>& finish) {
  return [digits, finish](double x, BitSource& bits) {
    std::vector<double> result(kBatch);
    for (double& value : result) value = finish(textbook_laplace(x, digits, bits));
    return result;
  };
}

double unchanged(double value) {
  return value;
}

/// What a million outputs for one input show, on the lattice of this step.
struct Outputs {
  std::uint64_t off_lattice = 0;
  std::vector<std::uint64_t> low_bits = std::vector<std::uint64_t>(1024);
  std::vector<bool> reached;  // of the lattice points in (1/4, 3/4]
};

Outputs outputs(const Sampler& draw, double x, double step, std::uint64_t seed) {
  SeededBits bits(seed);
  Outputs seen;
  seen.reached.resize(static_cast<std::size_t>(0.5 / step));
  for (int batch = 0; batch < kBatches; ++batch) {
    for (const double value : draw(x, bits)) {
      const double steps = value / step;  // exact: a power of two
      if (steps != std::floor(steps)) {
        ++seen.off_lattice;
        continue;
      }
      const auto index = static_cast<std::int64_t>(steps);
      ++seen.low_bits[static_cast<std::size_t>(index & 1023)];
      if (value > 0.25 && value <= 0.75) {
        seen.reached[static_cast<std::size_t>(index - static_cast<std::int64_t>(0.25 / step) - 1)] =
            true;
      }
    }
  }
  return seen;
}

/// How many standard deviations the number of points between the inputs that both 0 and 1 reached
/// differs from what one common lattice makes it: a point of mass m is reached with probability
/// 1 - (1 - m)^n. Points are negatively correlated, so the variance is at most this sum.
double overlap_deviation(const Outputs& zero, const Outputs& one, double step,
                         const std::function<double(double)>& mass) {
  double found = 0;
  double expected = 0;
  double variance = 0;
  for (std::size_t i = 0; i < zero.reached.size(); ++i) {
    const double at = 0.25 + static_cast<double>(i + 1) * step;
    const auto reached = [&](double distance) {
      return -std::expm1(static_cast<double>(kBatch * kBatches) * std::log1p(-mass(distance)));
    };
    const double both = reached(at) * reached(1 - at);
    found += zero.reached[i] && one.reached[i] ? 1 : 0;
    expected += both;
    variance += both * (1 - both);
  }
  return (found - expected) / std::sqrt(variance);
}

double low_bits_p(const Outputs& seen) {
  return chi_square_p(seen.low_bits, std::vector<double>(1024, 1.0 / 1024));
}

/// Inputs 0 and 1 have the same outputs. Each p-value is below 1e-9 for one seed in 10^9, and a
/// deviation of seven has probability 3e-12.
void expect_one_support(const Sampler& draw, double step,
                        const std::function<double(double)>& mass) {
  const Outputs zero = outputs(draw, 0, step, 41);
  const Outputs one = outputs(draw, 1, step, 42);
  for (const Outputs* seen : {&zero, &one}) {
    EXPECT_EQ(seen->off_lattice, 0u);
    EXPECT_GT(low_bits_p(*seen), 1e-9);
  }
  EXPECT_LT(std::abs(overlap_deviation(zero, one, step, mass)), 7);
}

double laplace_mass(double distance) {
  return 0x1p-16 / 2 * std::exp(-distance);
}

// Masses of the continuous laws: the scale that pays for rounding is larger by 2^-16, which moves
// the expected overlap by less than a standard deviation.
TEST(LaplaceSlow, AMillionOutputsOfZeroAndOfOneHaveOneSupport) {
  ASSERT_EQ(laplace().lattice_step(), power_of_two(-16));
  expect_one_support(sampler(laplace()), 0x1p-16, laplace_mass);
}

TEST(GaussianSlow, AMillionOutputsOfZeroAndOfOneHaveOneSupport) {
  ASSERT_EQ(gaussian().lattice_step(), power_of_two(-20));
  expect_one_support(sampler(gaussian()), 0x1p-20, [](double distance) {
    return 0x1p-20 / std::sqrt(2 * M_PI) * std::exp(-distance * distance / 2);
  });
}

TEST(LaplaceSlow, TheSupportTestCatchesTheTextbook) {
  // As printed, nearly all outputs of 0 are impossible for 1.
  EXPECT_GT(outputs(textbook(53, unchanged), 0, 0x1p-16, 43).off_lattice, 900'000u);
  // Rounded to the lattice afterwards, a short uniform number leaves holes elsewhere for 1 than for
  // 0.
  const Sampler holes =
      textbook(14, [](double value) { return std::rint(value * 0x1p16) * 0x1p-16; });
  const Outputs zero = outputs(holes, 0, 0x1p-16, 44);
  const Outputs one = outputs(holes, 1, 0x1p-16, 45);
  EXPECT_EQ(zero.off_lattice, 0u);
  EXPECT_GT(std::abs(overlap_deviation(zero, one, 0x1p-16, laplace_mass)), 20);
}

/// The smallest p-value, over inputs of very different exponents, of a fair last bit; 0 when an
/// output leaves the lattice.
double last_bit_p(const Sampler& draw, double step) {
  double least = 1;
  std::uint64_t seed = 50;
  for (const double x : {0.0, 1.0, 0x1p-30, 1e9}) {
    const Outputs seen = outputs(draw, x, step, ++seed);
    if (seen.off_lattice > 0) return 0;
    std::vector<std::uint64_t> parity(2);
    for (std::size_t i = 0; i < seen.low_bits.size(); ++i) parity[i % 2] += seen.low_bits[i];
    least = std::min(least, chi_square_p(parity, std::vector<double>{0.5, 0.5}));
  }
  return least;
}

// Below 1e-9 for four seeds in 10^9.
TEST(LaplaceSlow, TheLastBitIsFairWhateverTheExponentOfTheInput) {
  EXPECT_GT(last_bit_p(sampler(laplace()), 0x1p-16), 1e-9);
}

TEST(GaussianSlow, TheLastBitIsFairWhateverTheExponentOfTheInput) {
  EXPECT_GT(last_bit_p(sampler(gaussian()), 0x1p-20), 1e-9);
}

TEST(LaplaceSlow, TheLastBitTestCatchesTheTextbookAndNoiseOnACoarserLattice) {
  EXPECT_EQ(last_bit_p(textbook(53, unchanged), 0x1p-16), 0);
  // The noise has steps of two, the input of one: its last bit is released.
  const Sampler coarse = [](double x, BitSource& bits) {
    std::vector<double> result(kBatch);
    for (double& value : result) {
      value = std::rint(x * 0x1p16) * 0x1p-16 +
              std::rint(textbook_laplace(0, 53, bits) * 0x1p15) * 0x1p-15;
    }
    return result;
  };
  EXPECT_LT(last_bit_p(coarse, 0x1p-16), 1e-9);
}

}  // namespace
}  // namespace gauze
