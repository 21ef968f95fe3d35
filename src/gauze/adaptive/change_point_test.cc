#include "gauze/adaptive/change_point.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "gauze/adaptive/change_point_test_internal.h"
#include "gauze/testing/audit.h"
#include "gauze/testing/contract.h"
#include "gauze/testing/matchers.h"
#include "gauze/testing/seeded_bits.h"

namespace gauze {
namespace {

using testing::release_once;
using testing::SeededBits;
using Data = std::vector<double>;
using Values = std::span<const double>;

ChangePoint offline(const Ratio& epsilon) {
  return ChangePoint({.lower = -1, .upper = 1, .epsilon = epsilon});
}

TEST(ChangePoint, RejectsOptionsOutsideTheirRange) {
  EXPECT_ERROR(offline(0), ErrorCode::kInvalidOption);
  EXPECT_ERROR(ChangePoint({.lower = 0, .upper = 1, .epsilon = 1}), ErrorCode::kInvalidOption);
  EXPECT_ERROR(ChangePoint({.lower = -1, .upper = 0, .epsilon = 1}), ErrorCode::kInvalidOption);
  SeededBits bits(1);
  EXPECT_ERROR(release_once(offline(1), Values(), bits), ErrorCode::kInvalidInput);
}

TEST(ChangePoint, PassesTheContractBattery) {
  const Data one = {0.1, NAN, INFINITY, -INFINITY, 1e300};
  const Data other(300, -0.5);
  testing::expect_contract(offline(1), Values(one), Values(other));
}

TEST(LikelihoodSteps, NeverMoveByMoreThanTheirRangeAndKeepTheirSize) {
  for (const auto& [lower, upper] :
       std::vector<std::pair<Ratio, Ratio>>{{-1, 1}, {Ratio(-1, 3), 7}, {-1000, Ratio(1, 1000)}}) {
    const LikelihoodSteps steps(lower, upper);
    const std::int64_t least = steps(-INFINITY);
    EXPECT_EQ(steps(NAN), least);
    EXPECT_LE(steps(INFINITY) - least, LikelihoodSteps::kRange);
    EXPECT_GE(steps(INFINITY) - least, LikelihoodSteps::kRange - 2);
    const double width = Ratio(upper - lower).convert_to<double>();
    for (const double share : {0.1, 0.5, 0.93}) {
      const double ratio = lower.convert_to<double>() + share * width;
      EXPECT_NEAR(steps.size(static_cast<double>(steps(ratio))), ratio, 2e-6 * width);
    }
  }
}

/// P(each position) of report noisy max with one-sided geometric noise, straight from its
/// definition on a coarse grid: scores in units of the sensitivity, noise in steps of 1/64.
std::vector<double> pmf(const Data& ratios, double rate) {
  constexpr int kSteps = 64;
  constexpr int kReach = kSteps * 60;
  const double fail = std::exp(-rate / kSteps);
  std::vector<int> scores(ratios.size());
  int sum = 0;
  for (std::size_t i = ratios.size(); i-- > 0;) {
    scores[i] = sum += static_cast<int>(std::lround(ratios[i] / 2 * kSteps));
  }
  std::vector<double> result(ratios.size(), 0);
  for (std::size_t k = 0; k < scores.size(); ++k) {
    for (int noise = 0; noise < kReach; ++noise) {
      double mass = (1 - fail) * std::pow(fail, noise);
      for (std::size_t j = 0; j < scores.size(); ++j) {
        if (j == k) continue;
        // Others are below, or at most equal if they come later.
        const int most = scores[k] + noise - scores[j] - (j < k ? 1 : 0);
        mass *= most < 0 ? 0 : 1 - std::pow(fail, most + 1);
      }
      result[k] += mass;
    }
  }
  return result;
}

// Every record that is replaced moves all sums it is in the same way: the rate is epsilon over the
// width, not half of that; twice is caught.
TEST(ChangePoint, IsPrivateOnEveryPairOfShortStreams) {
  const auto worst = [](double rate) {
    double largest = 0;
    for (int code = 0; code < 81; ++code) {
      Data ratios;
      for (int i = 0, rest = code; i < 4; ++i, rest /= 3) ratios.push_back(rest % 3 - 1);
      const auto base = pmf(ratios, rate);
      for (std::size_t i = 0; i < 4; ++i) {
        Data other = ratios;
        other[i] = ratios[i] > 0 ? -1 : 1;
        largest = std::max(largest, testing::max_log_ratio(base, pmf(other, rate)));
      }
    }
    return largest;
  };
  EXPECT_LE(worst(1), 1 + 1e-9);
  EXPECT_GT(worst(2), 1.5);
}

TEST(ChangePoint, ChoosesAsTheDefinitionSays) {
  const Data ratios = {-1, 1, 1, -1, 1};
  const auto fit = [&](const Ratio& epsilon) {
    const ChangePoint mechanism = offline(epsilon);
    SeededBits bits(2);
    std::vector<std::uint64_t> counts(5);
    for (int i = 0; i < 20'000; ++i) ++counts[release_once(mechanism, Values(ratios), bits)];
    const auto expected = pmf(ratios, 2);
    double statistic = 0;
    for (std::size_t i = 0; i < 5; ++i) {
      const double mean = 20'000 * expected[i];
      statistic +=
          (static_cast<double>(counts[i]) - mean) * (static_cast<double>(counts[i]) - mean) / mean;
    }
    return statistic;
  };
  EXPECT_LT(fit(2), 60);  // chi square with 4 degrees of freedom: above with probability 3e-12
  EXPECT_GT(fit(Ratio(5, 2)), 60);
}

TEST(ChangePoint, SurvivesTheAuditThatCatchesThreeTimesTheRate) {
  const Data before = {-1, -1, -1};
  const Data after = {1, -1, -1};
  const auto audit = [&](const Ratio& epsilon) {
    const ChangePoint mechanism = offline(epsilon);
    const auto at = [&](const Data& ratios) {
      return [&mechanism, &ratios](BitSource& bits) {
        return static_cast<double>(release_once(mechanism, Values(ratios), bits));
      };
    };
    return testing::audited_epsilon(at(before), at(after), {.trials = 40'000});
  };
  EXPECT_LE(audit(1), 1);
  EXPECT_GT(audit(3), 1);
}

TEST(ChangePoint, KeepsItsAccuracyPromise) {
  const Data ratios = stream(300, 200);
  const ChangePoint mechanism = offline(1);
  std::vector<double> sums(ratios.size() + 1, 0);
  for (std::size_t i = ratios.size(); i-- > 0;) sums[i] = sums[i + 1] + ratios[i];
  const double best = *std::max_element(sums.begin(), sums.end());
  SeededBits bits(3);
  int kept = 0;
  for (int i = 0; i < 1000; ++i) {
    const std::size_t change = release_once(mechanism, Values(ratios), bits);
    EXPECT_NEAR(static_cast<double>(change), 300, 100);
    kept += sums[change] >= best - mechanism.accuracy(500).half_width ? 1 : 0;
  }
  EXPECT_GE(kept, 915);  // a promise of 95 % fails this with probability 1e-6
}

}  // namespace
}  // namespace gauze
