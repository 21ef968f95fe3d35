#include "gauze/histogram/php.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "gauze/accounting/loss.h"
#include "gauze/mechanism/exponential.h"
#include "gauze/testing/audit.h"
#include "gauze/testing/contract.h"

namespace gauze {
namespace {

using testing::release_once;
using testing::SeededBits;
using Counts = std::vector<std::int64_t>;

PhpHistogram php(std::uint32_t cells, Ratio epsilon = 1, std::uint32_t depth = 0,
                 Ratio share = Ratio(1, 2), std::uint64_t rows_per_unit = 1) {
  return PhpHistogram({.shape = Shape{{cells}},
                       .epsilon = epsilon,
                       .rows_per_unit = rows_per_unit,
                       .depth = depth,
                       .partition_share = share});
}

/// Where buckets begin, as bits.
std::uint32_t begins(const RangeHistogram& histogram) {
  std::uint32_t bits = 0;
  for (const auto& leaf : histogram.partition()) bits |= 1u << leaf.box.begin[0];
  return bits;
}

TEST(Php, RejectsOptionsOutsideTheirRange) {
  EXPECT_ERROR(php(4, 0), ErrorCode::kInvalidOption);
  EXPECT_ERROR(php(4, 1, 25), ErrorCode::kInvalidOption);
  EXPECT_ERROR(php(4, 1, 1, 0), ErrorCode::kInvalidOption);
  EXPECT_ERROR(php(4, 1, 1, 1), ErrorCode::kInvalidOption);
  EXPECT_ERROR(php((1u << 20) + 1), ErrorCode::kInvalidOption);
  EXPECT_ERROR(PhpHistogram({.shape = Shape{{2, 2}}, .epsilon = 1, .rows_per_unit = 1u}),
               ErrorCode::kInvalidOption);
  SeededBits bits(1);
  EXPECT_ERROR(release_once(php(4), Counts(3), bits), ErrorCode::kInvalidInput);
}

TEST(Php, KeepsTheContractAndCostsEpsilon) {
  testing::expect_contract(php(5), Counts{9, 9, 0, 0, 1}, Counts(5, 0));
  testing::expect_contract(php(1), Counts{9}, Counts{0});
  EXPECT_EQ(pure_epsilon(php(100, Ratio(7, 3), 5, Ratio(1, 4), 3).event()), Ratio(7, 3));
}

/// Sum of distances from the mean, rounded down.
std::int64_t distances_from_mean(std::span<const std::int64_t> counts) {
  const auto number = static_cast<std::int64_t>(counts.size());
  std::int64_t sum = 0;
  for (const std::int64_t count : counts) sum += count;
  std::int64_t distances = 0;
  for (const std::int64_t count : counts) distances += std::abs(number * count - sum);
  return distances / number;
}

/// What is lost by each cut of all counts.
std::vector<double> cut_losses(const Counts& counts) {
  const std::span<const std::int64_t> all(counts);
  std::vector<double> losses;
  for (std::size_t cut = 1; cut < counts.size(); ++cut)
    losses.push_back(static_cast<double>(distances_from_mean(all.first(cut)) +
                                         distances_from_mean(all.subspan(cut))));
  return losses;
}

/// Of the exponential mechanism, when a row that is lost weighs `rate`.
std::vector<double> choice_probabilities(const std::vector<double>& losses, double rate) {
  std::vector<double> weights;
  double sum = 0;
  for (const double loss : losses) sum += weights.emplace_back(std::exp(-rate * loss));
  for (double& weight : weights) weight /= sum;
  return weights;
}

// One level: the probabilities by definition. A quarter of epsilon for the cut and for whether it is kept, half
// for the counts, whose noise of scale 2 each bucket costs. 8,000 releases; five standard deviations fail
// once in 10^6.
TEST(Php, CutsAndKeepsWithTheProbabilitiesOfTheExponentialMechanism) {
  const Counts counts = {20, 20, 1};
  const double rate = 1.0 / 16;  // a quarter over twice the two by which a row moves scores
  const auto whole = static_cast<double>(distances_from_mean(counts));
  const auto losses = cut_losses(counts);
  const auto cut = choice_probabilities(losses, rate);
  double uncut = 0;
  SeededBits bits(3);
  std::map<std::uint32_t, double> seen;
  for (int i = 0; i < 8000; ++i) seen[begins(release_once(php(3, 1, 1), counts, bits))] += 1;
  for (std::size_t i = 0; i < 2; ++i) {
    const auto kept = choice_probabilities({whole + 2, losses[i] + 4}, rate);
    uncut += cut[i] * kept[0];
    EXPECT_NEAR(seen[i == 0 ? 3 : 5] / 8000, cut[i] * kept[1], 0.028);
  }
  EXPECT_NEAR(seen[1] / 8000, uncut, 0.028);
}

// By definition, over all neighbours with counts up to 4 and up to 12 in one cell: a level with epsilon 1 may
// weigh a row by 1/4, as one row moves the distances from the mean by up to 2. The twin takes that for 1, as if
// they were distances from the median.
TEST(Php, CutsArePrivateAndTheRateOfDistancesFromTheMedianIsNot) {
  double right = 0;
  double broken = 0;
  for (int code = 0; code < 625; ++code) {
    for (const std::int64_t times : {1, 3}) {
      const Counts x = {times * (code % 5), code / 5 % 5, code / 25 % 5, code / 125};
      for (std::size_t cell = 0; cell < 4; ++cell) {
        Counts y = x;
        ++y[cell];
        const auto worst = [&](double rate) {
          return testing::max_log_ratio(choice_probabilities(cut_losses(x), rate),
                                        choice_probabilities(cut_losses(y), rate));
        };
        right = std::max(right, worst(0.25));
        broken = std::max(broken, worst(0.5));
      }
    }
  }
  EXPECT_LE(right, 1);
  EXPECT_GT(broken, 1.1);
}

// The twin cuts as if a row moved the losses by half: it takes them for distances from the median and forgets
// that the losses of two cuts can move apart. (3, 0, 0) against (3, 1, 0) is then cut at 2 with probability
// 0.047 against 0.269, e^1.74 as often, where epsilon is 1.
TEST(Php, SurvivesTheAuditThatCatchesAFasterRate) {
  const auto cut = [](Counts counts) {
    return [mechanism = php(3, 1, 1, Ratio(9, 10)), counts](BitSource& bits) {
      return static_cast<double>(begins(release_once(mechanism, counts, bits)));
    };
  };
  EXPECT_LE(testing::audited_epsilon(cut({3, 0, 0}), cut({3, 1, 0}), {.trials = 2000}), 1);
  // Here cuts are worth the noise of a bucket more, and kept.
  EXPECT_LE(testing::audited_epsilon(cut({30, 13, 0}), cut({30, 14, 0}), {.trials = 12000}), 1);
  const auto twin = [](Counts counts) {
    std::vector<double> scores = cut_losses(counts);
    for (double& score : scores) score = -score;
    return
        [scores, mechanism = ExponentialMechanism({.epsilon = 1, .sensitivity = Ratio(1, 2)})](
            BitSource& bits) { return static_cast<double>(release_once(mechanism, scores, bits)); };
  };
  EXPECT_GT(testing::audited_epsilon(twin({3, 0, 0}), twin({3, 1, 0}), {.trials = 12000}), 1.1);
}

// The first of two cells, by what is released of it: the share of the counts shows, so that the audit can fail from
// below.
TEST(Php, SpendsWhatItSays) {
  const auto first_cell = [](Counts counts) {
    return [mechanism = php(2, 6, 1), counts](BitSource& bits) {
      return release_once(mechanism, counts, bits).cells()[0];
    };
  };
  const double seen =
      testing::audited_epsilon(first_cell({0, 10}), first_cell({1, 10}), {.trials = 3000});
  EXPECT_LE(seen, 6);
  EXPECT_GT(seen, 0.3 * 6);
}

// 3,000 releases of even counts, so that spreading adds nothing: the mean of error^2 / variance is within
// 0.25 of one except with probability below 1e-6.
TEST(Php, StatesTheVarianceOfItsNoiseAndKeepsItsPromise) {
  const Counts counts(8, 30);
  const PhpHistogram mechanism = php(8);
  SeededBits bits(5);
  double ratio = 0;
  int kept = 0;
  for (int i = 0; i < 3000; ++i) {
    const RangeHistogram histogram = release_once(mechanism, counts, bits);
    const RangeEstimate estimate = histogram.range({{2}, {5}});
    ratio += (estimate.value - 90) * (estimate.value - 90) / estimate.variance / 3000;
    const auto leaf = histogram.partition().front();
    const double error = leaf.value - 30 * leaf.box.volume();
    kept += std::abs(error) <= mechanism.accuracy().half_width ? 1 : 0;
  }
  EXPECT_NEAR(ratio, 1, 0.25);
  EXPECT_GE(kept, 3000 * 0.93);
}

TEST(Php, FindsAStepAndTakesExtremes) {
  Counts step(256, 0);
  for (std::size_t i = 100; i < 256; ++i) step[i] = 100000;
  SeededBits bits(6);
  const RangeHistogram found = release_once(php(256), step, bits);
  EXPECT_NEAR(found.range({{0}, {100}}).value, 0, 500);
  EXPECT_EQ(release_once(php(1), Counts{7}, bits).leaves(), 1u);
  EXPECT_NEAR(release_once(php(1000), Counts(1000, 0), bits).total().value, 0, 500);
  const Counts huge(10, std::int64_t{1} << 62);
  EXPECT_TRUE(std::isfinite(release_once(php(10), huge, bits).total().value));
}

}  // namespace
}  // namespace gauze
