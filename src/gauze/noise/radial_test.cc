#include "gauze/noise/radial.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "gauze/noise/additive.h"
#include "gauze/testing/matchers.h"
#include "gauze/testing/seeded_bits.h"
#include "gauze/testing/statistics.h"

namespace gauze {
namespace {

using testing::chi_square_p;
using testing::kSignificance;
using testing::SeededBits;

TEST(RadialNoise, RejectsWhatItCannotDraw) {
  EXPECT_ERROR(RadialNoise(0, 1), ErrorCode::kInvalidOption);
  EXPECT_ERROR(RadialNoise(2, Ratio(1, 2)), ErrorCode::kInvalidOption);
  EXPECT_ERROR(RadialNoise(2, power_of_two(41)), ErrorCode::kInvalidOption);
}

TEST(RadialNoise, InOneDimensionIsTheDiscreteLaplaceLaw) {
  const RadialNoise noise(1, Ratio(5, 2));
  SeededBits bits(1);
  const double s = 2.5;
  const auto mass = [&](std::int64_t x) {
    return std::tanh(1 / (2 * s)) * std::exp(-std::fabs(static_cast<double>(x)) / s);
  };
  EXPECT_GT(chi_square_p([&] { return noise.draw(bits)[0]; }, 60'000, -20, 20, mass,
                         mass(21) / -std::expm1(-1 / s)),
            kSignificance);
}

/// Cells of the plane: the points within 4 of the origin one by one, the rest by rounded radius.
struct Cells {
  explicit Cells(double scale) {
    double total = 0;
    for (int x = -150; x <= 150; ++x) {
      for (int y = -150; y <= 150; ++y) {
        const double p = std::exp(-std::hypot(x, y) / scale);
        mass[cell(x, y)] += p;
        total += p;
      }
    }
    for (auto& [key, p] : mass) p /= total;
  }
  static std::pair<std::int64_t, std::int64_t> cell(std::int64_t x, std::int64_t y) {
    if (x * x + y * y <= 16) return {x, y};
    const double r = std::hypot(static_cast<double>(x), static_cast<double>(y));
    return {1000 + std::min<std::int64_t>(static_cast<std::int64_t>(r), 60), 0};
  }
  std::map<std::pair<std::int64_t, std::int64_t>, double> mass;
};

double plane_p(double scale, const std::function<std::pair<std::int64_t, std::int64_t>()>& draw) {
  const Cells cells(scale);
  std::map<std::pair<std::int64_t, std::int64_t>, std::uint64_t> seen;
  for (int i = 0; i < 60'000; ++i) {
    const auto [x, y] = draw();
    ++seen[Cells::cell(x, y)];
  }
  std::vector<std::uint64_t> observed;
  std::vector<double> expected;
  for (const auto& [key, p] : cells.mass) {
    observed.push_back(seen[key]);
    expected.push_back(p);
  }
  return chi_square_p(observed, expected);
}

TEST(RadialNoise, HasItsProbabilitiesInThePlane) {
  const RadialNoise noise(2, Ratio(3));
  SeededBits bits(2);
  EXPECT_GT(plane_p(3,
                    [&] {
                      const auto z = noise.draw(bits);
                      return std::pair{z[0], z[1]};
                    }),
            kSignificance);
  // Independent Laplace coordinates, the usual mistake, are caught.
  const auto laplace = AdditiveNoise::discrete_laplace(3);
  EXPECT_LT(plane_p(3,
                    [&] {
                      return std::pair{laplace.draw(bits), laplace.draw(bits)};
                    }),
            kSignificance);
}

// cummings.md A23 and song.md AC-10: the radius is Gamma(d, scale): E|z| = d scale, E|z|^2 = d
// (d+1) scale^2, no direction preferred. 20,000 draws; bands of six standard errors (failure below
// 1e-8).
TEST(RadialNoise, HasTheMomentsOfTheGammaRadius) {
  for (const std::uint32_t d : {1u, 5u, 40u}) {
    const RadialNoise noise(d, power_of_two(20));
    SeededBits bits(3 + d);
    constexpr int kDraws = 20'000;
    double radius = 0;
    double square = 0;
    std::vector<double> mean(d, 0);
    std::vector<double> second(d, 0);
    for (int i = 0; i < kDraws; ++i) {
      double n = 0;
      const auto z = noise.draw(bits);
      for (std::size_t j = 0; j < d; ++j) {
        const double x = std::ldexp(static_cast<double>(z[j]), -20);
        n += x * x;
        mean[j] += x / kDraws;
        second[j] += x * x / kDraws;
      }
      radius += std::sqrt(n) / kDraws;
      square += n / kDraws;
    }
    const double root = std::sqrt(static_cast<double>(kDraws));
    EXPECT_NEAR(radius, d, 6 * std::sqrt(d) / root);
    // Var(r^2) = d(d+1)(4d+6).
    EXPECT_NEAR(square, d * (d + 1.0), 6 * std::sqrt(d * (d + 1.0) * (4.0 * d + 6)) / root);
    for (std::size_t j = 0; j < d; ++j) {
      EXPECT_NEAR(mean[j], 0, 6 * std::sqrt(d + 1.0) / root);
      EXPECT_NEAR(second[j], d + 1.0, 6 * 5 * (d + 1.0) / root);
    }
  }
}

TEST(RadialNoise, AcceptsInHighDimensions) {
  const RadialNoise noise(500, power_of_two(30));
  SeededBits bits(9);
  double radius = 0;
  for (int i = 0; i < 200; ++i) {
    double n = 0;
    for (const std::int64_t x : noise.draw(bits))
      n += std::ldexp(static_cast<double>(x), -30) * std::ldexp(static_cast<double>(x), -30);
    radius += std::sqrt(n) / 200;
  }
  EXPECT_NEAR(radius, 500, 6 * std::sqrt(500.0 / 200));
}

}  // namespace
}  // namespace gauze
