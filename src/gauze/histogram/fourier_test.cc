#include "gauze/histogram/fourier.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <complex>
#include <numbers>

#include "gauze/accounting/loss.h"
#include "gauze/mechanism/laplace.h"
#include "gauze/testing/audit.h"
#include "gauze/testing/contract.h"

namespace gauze {
namespace {

using testing::release_once;
using testing::SeededBits;
using Counts = std::vector<std::int64_t>;

FourierHistogram fourier(std::uint32_t cells, std::uint32_t frequencies = 0, Ratio epsilon = 1,
                         std::uint64_t rows_per_unit = 1) {
  return FourierHistogram({.shape = Shape{{cells}},
                           .epsilon = epsilon,
                           .rows_per_unit = rows_per_unit,
                           .frequencies = frequencies});
}

double angle(std::size_t frequency, std::size_t cell, std::size_t length) {
  return 2 * std::numbers::pi * static_cast<double>(frequency * cell) / static_cast<double>(length);
}

TEST(Fourier, RejectsOptionsOutsideTheirRange) {
  EXPECT_ERROR(fourier(8, 5), ErrorCode::kInvalidOption);
  EXPECT_NO_THROW(fourier(8, 4));
  EXPECT_ERROR(fourier(7, 4), ErrorCode::kInvalidOption);
  EXPECT_ERROR(fourier(1, 1), ErrorCode::kInvalidOption);
  EXPECT_ERROR(fourier(8, 1, 0), ErrorCode::kInvalidOption);
  EXPECT_ERROR(fourier((1u << 20) + 1), ErrorCode::kInvalidOption);
  EXPECT_ERROR(fourier(1u << 20, 1u << 18, 1, 1u << 20), ErrorCode::kInvalidOption);
  EXPECT_ERROR(FourierHistogram({.shape = Shape{{2, 2}}, .epsilon = 1, .rows_per_unit = 1u}),
               ErrorCode::kInvalidOption);
  EXPECT_ERROR(
      FourierHistogram({.shape = Shape{{8}}, .epsilon = 1, .rows_per_unit = 1u, .choice_share = 1}),
      ErrorCode::kInvalidOption);
  SeededBits bits(1);
  EXPECT_ERROR(release_once(fourier(8), Counts(7), bits), ErrorCode::kInvalidInput);
}

TEST(Fourier, KeepsTheContractAndCostsEpsilon) {
  testing::expect_contract(fourier(8), Counts{1, 2, 3, 4, 5, 6, 7, 8}, Counts(8, 0));
  testing::expect_contract(fourier(8, 2), Counts{1, 2, 3, 4, 5, 6, 7, 8}, Counts(8, 0));
  EXPECT_EQ(pure_epsilon(fourier(100, 0, Ratio(7, 3), 3).event()), Ratio(7, 3));
  EXPECT_EQ(pure_epsilon(fourier(100, 5, Ratio(7, 3), 3).event()), Ratio(7, 3));
}

// Scores would be about 10^15, where doubles are whole numbers and a row no longer moves them by what it should.
TEST(Fourier, RefusesToChooseWhereItsScoresHaveNoDigitsLeft) {
  EXPECT_ERROR(fourier(1000, 0, Ratio(1, 1'000'000'000'000)), ErrorCode::kInvalidOption);
  EXPECT_NO_THROW(fourier(1000, 3, Ratio(1, 1'000'000'000'000)));
  EXPECT_NO_THROW(fourier(1000, 0, Ratio(1, 1'000'000)));
}

/// The orthonormal vectors of the constant and the lowest frequencies: of an even number of cells the last
/// frequency has one, whose entries are 1 and -1 in turn.
std::vector<std::vector<double>> basis_of(std::size_t cells, std::size_t frequencies) {
  std::vector<std::vector<double>> basis;
  const auto add = [&](auto entry, double squares) {
    basis.emplace_back();
    for (std::size_t i = 0; i < cells; ++i)
      basis.back().push_back(entry(i) / std::sqrt(squares * static_cast<double>(cells)));
  };
  add([](std::size_t) { return 1.0; }, 1);
  for (std::size_t f = 1; f <= frequencies; ++f) {
    const bool last = 2 * f == cells;
    add([&](std::size_t i) { return std::cos(angle(f, i, cells)); }, last ? 1 : 0.5);
    if (!last) add([&](std::size_t i) { return std::sin(angle(f, i, cells)); }, 0.5);
  }
  return basis;
}

// Noise of next to nothing: what is released are the counts' parts along the basis, by definition. All lengths up
// to 40, so that halves are taken any number of times, and all numbers of frequencies.
TEST(Fourier, ReleasesThePartOfTheCountsThatItKeeps) {
  SeededBits bits(6);
  for (std::uint32_t cells = 2; cells <= 40; ++cells) {
    Counts counts;
    for (std::uint32_t i = 0; i < cells; ++i)
      counts.push_back(static_cast<std::int64_t>(i * i * 37 % 101));
    for (std::uint32_t frequencies = 1; frequencies <= cells / 2; ++frequencies) {
      std::vector<double> expected(cells, 0.0);
      for (const auto& vector : basis_of(cells, frequencies)) {
        double part = 0;
        for (std::size_t i = 0; i < cells; ++i) part += vector[i] * static_cast<double>(counts[i]);
        for (std::size_t i = 0; i < cells; ++i) expected[i] += part * vector[i];
      }
      const auto released =
          release_once(fourier(cells, frequencies, 1'000'000), counts, bits).cells();
      for (std::size_t i = 0; i < cells; ++i)
        ASSERT_NEAR(released[i], expected[i], 1e-3) << cells << " " << frequencies;
    }
  }
}

// Even and odd lengths, all numbers of frequencies, all ranges.
TEST(Fourier, StatesTheVarianceThatItsBasisHasForEveryRange) {
  SeededBits bits(2);
  for (const std::uint32_t cells : {2u, 3u, 4u, 5u, 6u, 7u, 8u, 9u, 12u, 15u, 16u, 18u, 20u}) {
    for (std::uint32_t frequencies = 1; frequencies <= cells / 2; ++frequencies) {
      const auto basis = basis_of(cells, frequencies);
      double moved = 0;
      for (std::size_t i = 0; i < cells; ++i) {
        double sum = 0;
        for (const auto& vector : basis) sum += std::abs(vector[i]);
        moved = std::max(moved, sum);
      }
      const RangeHistogram histogram =
          release_once(fourier(cells, frequencies), Counts(cells, 9), bits);
      for (std::uint32_t begin = 0; begin < cells; ++begin) {
        for (std::uint32_t end = begin + 1; end <= cells; ++end) {
          std::vector<double> weights(cells, 0.0);
          for (std::uint32_t i = begin; i < end; ++i) weights[i] = 1;
          double squares = 0;
          for (const auto& vector : basis) {
            double sum = 0;
            for (std::uint32_t i = begin; i < end; ++i) sum += vector[i];
            squares += sum * sum;
          }
          const double variance = 2 * moved * moved * squares;
          EXPECT_NEAR(histogram.range({{begin}, {end}}).variance, variance, 1e-5 * variance);
          EXPECT_NEAR(histogram.weighted(weights).variance, variance, 1e-5 * variance);
        }
      }
    }
  }
}

// All frequencies of counts without any pattern: nothing is dropped, hence nothing is biased. 1,000 releases; means are
// within 6 standard deviations, which are 0.2 or so.
TEST(Fourier, HasNoBiasWhereItKeepsEverything) {
  for (const Counts& counts : {Counts{900, 0, 0, 17, 4}, Counts{0, 70, 3000, 1, 1, 1, 0, 500}}) {
    const auto cells = static_cast<std::uint32_t>(counts.size());
    const FourierHistogram mechanism = fourier(cells, cells / 2);
    SeededBits bits(7);
    std::vector<double> means(cells, 0.0);
    double variance = 0;
    for (int i = 0; i < 1000; ++i) {
      const RangeHistogram histogram = release_once(mechanism, counts, bits);
      for (std::uint32_t cell = 0; cell < cells; ++cell)
        means[cell] += histogram.cells()[cell] / 1000;
      variance = histogram.range({{0}, {1}}).variance;
    }
    for (std::uint32_t cell = 0; cell < cells; ++cell)
      EXPECT_NEAR(means[cell], static_cast<double>(counts[cell]), 6 * std::sqrt(variance / 1000));
  }
}

// Laplace noise beyond 30 standard deviations: e^-40.
TEST(Fourier, IsRightAboutOneCellAndAboutEvenOnes) {
  SeededBits bits(9);
  EXPECT_NEAR(release_once(fourier(1), Counts{100'000}, bits).total().value, 100'000, 45);
  for (int i = 0; i < 20; ++i) {
    const RangeHistogram five = release_once(fourier(5), Counts(5, 10'000), bits);
    EXPECT_NEAR(five.total().value, 50'000, 30 * std::sqrt(five.total().variance));
    for (std::uint32_t cell = 0; cell < 5; ++cell) {
      const RangeEstimate one = five.range({{cell}, {cell + 1}});
      EXPECT_NEAR(one.value, 10'000, 30 * std::sqrt(one.variance));
    }
  }
  // Days: no length that a transform would like, and nothing behind the last one.
  const Counts days(182, 1150);
  const auto cells = release_once(fourier(182, 0, Ratio(3, 10)), days, bits).cells();
  for (const double cell : cells) EXPECT_NEAR(cell, 1150, 60);
}

// Two frequencies make these counts, so that nothing is dropped and what is left is noise. 3,000 releases: the
// mean of error^2 is within 15 % of the stated variance (6 standard deviations), which is compared with the
// formula by brute force.
TEST(Fourier, StatesTheExactVarianceOfItsNoise) {
  constexpr std::size_t kCells = 12;
  Counts counts;
  for (std::size_t i = 0; i < kCells; ++i)
    counts.push_back(i % 6 == 0 ? 300
                                : (i % 6 == 3 ? 100 : (i % 6 == 1 || i % 6 == 5 ? 250 : 150)));
  const FourierHistogram mechanism = fourier(kCells, 2);
  const Box box{{3}, {7}};
  double moved = 0;
  double squares = 4 * 4 / 12.0;  // of the constant
  for (std::size_t i = 0; i < kCells; ++i) {
    double sum = std::sqrt(1 / 12.0);
    for (std::size_t f = 1; f <= 2; ++f)
      sum += std::sqrt(2 / 12.0) *
             (std::abs(std::cos(angle(f, i, kCells))) + std::abs(std::sin(angle(f, i, kCells))));
    moved = std::max(moved, sum);
  }
  for (std::size_t f = 1; f <= 2; ++f) {
    std::complex<double> sum = 0;
    for (std::size_t i = 3; i < 7; ++i) sum += std::polar(1.0, angle(f, i, kCells));
    squares += std::norm(sum) * 2 / 12;
  }
  const double variance = 2 * moved * moved * squares;

  const double truth = 100 + 150 + 250 + 300;
  SeededBits bits(3);
  double mean = 0;
  double error = 0;
  int kept = 0;
  for (int i = 0; i < 3000; ++i) {
    const RangeEstimate estimate = release_once(mechanism, counts, bits).range(box);
    EXPECT_NEAR(estimate.variance, variance, 1e-4 * variance);
    mean += (estimate.value - truth) / 3000;
    error += (estimate.value - truth) * (estimate.value - truth) / 3000;
    kept += std::abs(estimate.value - truth) <= estimate.half_width ? 1 : 0;
  }
  EXPECT_NEAR(error / variance, 1, 0.15);
  EXPECT_NEAR(mean, 0, 6 * std::sqrt(variance / 3000));
  EXPECT_GE(kept, 3000 * 0.93);
}

// 2,000 releases of a constant; fewer than 93 % keep the promise once in 10^5 seeds.
TEST(Fourier, KeepsItsAccuracyPromise) {
  const FourierHistogram mechanism = fourier(7, 2);
  SeededBits bits(8);
  int kept = 0;
  for (int i = 0; i < 2000; ++i) {
    const double cell = release_once(mechanism, Counts(7, 0), bits).cells()[4];
    kept += std::abs(cell) <= mechanism.accuracy().half_width ? 1 : 0;
  }
  EXPECT_GE(kept, 1860);
}

// Four cells: the constant alone, one frequency too, or all. What is dropped: frequencies 1 and 2, 2, or nothing;
// noise: z^1.5 / 2 times sqrt(2) / 0.75 for z = 1, 3 and 4 kept. The variance of the total, 2 (2 S / 0.75)^2, tells
// which was chosen: a row moves what is kept by S = 0.5, 1.21 and 1.71. 8,000 releases; within five standard
// deviations except once in 10^6.
TEST(Fourier, ChoosesWithTheProbabilitiesOfTheExponentialMechanism) {
  const Counts counts = {20, 3, 1, 4};
  const double first = ((20 - 1) * (20 - 1) + (3 - 4) * (3 - 4)) / 2.0;  // squares of frequency 1
  const double second = (20 - 3 + 1 - 4) * (20 - 3 + 1 - 4) / 4.0;
  const auto noise = [](double kept) { return std::sqrt(2 * kept) * kept / 2 / 0.75; };
  const std::array<double, 3> scores = {-std::sqrt(first + second) - noise(1),
                                        -std::sqrt(second) - noise(3), -noise(4)};
  double all = 0;
  for (const double score : scores) all += std::exp(0.25 / 2 * score);
  SeededBits bits(5);
  std::array<double, 3> chosen = {};
  for (int i = 0; i < 8000; ++i) {
    const double variance = release_once(fourier(4), counts, bits).total().variance;
    const double moved = std::sqrt(variance / 2) * 0.75 / 2;
    chosen[moved < 0.9 ? 0 : moved < 1.5 ? 1 : 2] += 1.0 / 8000;
  }
  for (std::size_t i = 0; i < 3; ++i)
    EXPECT_NEAR(chosen[i], std::exp(0.25 / 2 * scores[i]) / all, 0.028);
}

/// The phase of the first frequency of eight cells, as one of 64 sectors.
double sector(const std::vector<double>& cells) {
  std::complex<double> sum = 0;
  for (std::size_t i = 0; i < cells.size(); ++i)
    sum += cells[i] * std::polar(1.0, -angle(1, i, cells.size()));
  return std::floor(std::arg(sum) * 32 / std::numbers::pi);
}

/// What public code does: noise on the magnitude of each coefficient, its phase unchanged.
double sector_of_twin(const Counts& counts, BitSource& bits) {
  std::complex<double> first = 0;
  for (std::size_t i = 0; i < counts.size(); ++i)
    first += static_cast<double>(counts[i]) * std::polar(1.0, -angle(1, i, counts.size()));
  const Laplace noise({.l1_sensitivity = 1, .scale = 1});
  const double magnitude = std::abs(first) + release_once(noise, 0.0, bits);
  return std::floor(std::arg(std::polar(1.0, std::arg(first)) * magnitude) * 32 / std::numbers::pi);
}

TEST(Fourier, SurvivesTheAuditThatCatchesAnExactPhase) {
  const Counts x = {3, 0, 1, 0, 0, 0, 0, 0};
  const Counts y = {3, 0, 2, 0, 0, 0, 0, 0};
  const auto right = [](Counts counts) {
    return [mechanism = fourier(8, 1), counts](BitSource& bits) {
      return sector(release_once(mechanism, counts, bits).cells());
    };
  };
  const auto twin = [](Counts counts) {
    return [counts](BitSource& bits) { return sector_of_twin(counts, bits); };
  };
  const testing::AuditOptions options{.trials = 2500};
  EXPECT_LE(testing::audited_epsilon(right(x), right(y), options), 1);
  EXPECT_GT(testing::audited_epsilon(twin(x), twin(y), options), 4);
}

TEST(Fourier, ChoosesFewFrequenciesForSmoothCountsAndFindsThem) {
  constexpr std::size_t kCells = 500;
  Counts counts;
  for (std::size_t i = 0; i < kCells; ++i)
    counts.push_back(std::llround(1000 + 500 * std::cos(angle(3, i, kCells))));
  SeededBits bits(4);
  const auto cells = release_once(fourier(kCells), counts, bits).cells();
  double squares = 0;
  for (std::size_t i = 0; i < kCells; ++i) {
    const double error = cells[i] - static_cast<double>(counts[i]);
    squares += error * error / kCells;
  }
  // 354 without the third frequency. Noise of 10 would take about 100 frequencies, chosen once in e^29 times.
  EXPECT_LT(std::sqrt(squares), 10);
}

TEST(Fourier, TakesOneCellNoRowsAndTheLargestCounts) {
  SeededBits bits(6);
  EXPECT_NEAR(release_once(fourier(1), Counts{70}, bits).total().value, 70, 40);
  EXPECT_NEAR(release_once(fourier(1000), Counts(1000, 0), bits).total().value, 0, 2000);
  const Counts huge(10, std::int64_t{1} << 62);
  EXPECT_TRUE(std::isfinite(release_once(fourier(10), huge, bits).total().value));
}

}  // namespace
}  // namespace gauze
