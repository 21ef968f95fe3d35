#include "gauze/mechanism/key_selection.h"

#include <boost/math/distributions/normal.hpp>
#include <cmath>
#include <numeric>
#include <string>

#include "gauze/accounting/accountant.h"
#include "gauze/mechanism/key_selection_internal.h"
#include "gauze/testing/audit.h"
#include "gauze/testing/contract.h"
#include "gauze/testing/statistics.h"

namespace gauze {
namespace {

using internal::ThresholdPlan;
using internal::TruncatedGeometric;
using testing::hockey_stick;
using testing::release_once;
using testing::SeededBits;

constexpr KeySelectionMethod kMethods[] = {KeySelectionMethod::kTruncatedGeometric,
                                           KeySelectionMethod::kGaussian,
                                           KeySelectionMethod::kSips};

KeySelection selection(const char* epsilon, const char* delta, std::uint64_t keys_per_unit,
                       KeySelectionMethod method) {
  return KeySelection({.epsilon = parse_ratio(epsilon),
                       .delta = parse_ratio(delta),
                       .keys_per_unit = keys_per_unit,
                       .method = method});
}

/// Key i has units[i] units, each of which has no other key.
UnitKeys one_key_each(const std::vector<std::uint32_t>& units) {
  UnitKeys result;
  result.key_count = static_cast<std::uint32_t>(units.size());
  for (std::uint32_t key = 0; key < result.key_count; ++key) {
    result.keys.insert(result.keys.end(), units[key], key);
  }
  result.offsets.resize(result.keys.size() + 1);
  std::iota(result.offsets.begin(), result.offsets.end(), std::uint64_t{0});
  return result;
}

/// One unit with keys 0 .. keys - 1 and nobody else.
UnitKeys lone_unit(std::uint32_t keys) {
  UnitKeys result{{0, keys}, std::vector<std::uint32_t>(keys), keys};
  std::iota(result.keys.begin(), result.keys.end(), 0u);
  return result;
}

double middle(const Interval& x) {
  return static_cast<double>(std::min(1.0L, x.middle()));
}

/// P(X >= a) for discrete Gaussian noise, by summing all terms.
double tail(double sigma, double a) {
  long double all = 0;
  long double above = 0;
  const double reach = std::ceil(45 * sigma) + std::abs(a);
  for (double x = -reach; x <= reach; ++x) {
    const long double term = std::exp(-static_cast<long double>(x) * x / (2.0L * sigma * sigma));
    all += term;
    if (x >= a) above += term;
  }
  return static_cast<double>(above / all);
}

// The published values for epsilon 1, delta 1e-5.
TEST(KeySelection, TruncatedGeometricHasThePublishedProbabilities) {
  const TruncatedGeometric rule(1, parse_ratio("1e-5"));
  EXPECT_EQ(rule.turn(), 11u);
  const std::vector<std::pair<std::uint64_t, double>> published = {
      {1, 1e-5}, {5, 8.57910e-4}, {10, .128183}, {12, .760311}, {15, .988072}, {25, 1}};
  for (const auto& [units, expected] : published) {
    EXPECT_NEAR(middle(rule.probability(units, 128)), expected, expected * 1e-5) << units;
  }
  EXPECT_EQ(rule.probability(0, 128).upper(), 0);
}

// The largest probabilities that (epsilon, delta)-DP allows, one unit at a time: naming may become
// more likely by e^epsilon and delta, staying silent less likely by the same.
TEST(KeySelection, TruncatedGeometricTakesAllThatPrivacyAllows) {
  for (const auto& [epsilon, delta] :
       std::vector<std::pair<const char*, const char*>>{{"1", "1e-5"},
                                                        {"0.1", "1e-6"},
                                                        {"1/3", "1/100"},
                                                        {"3", "1e-9"},
                                                        {"2", "1/2"},
                                                        {"0.001", "0.3"},
                                                        {"20", "1e-12"}}) {
    const TruncatedGeometric rule(parse_ratio(epsilon), parse_ratio(delta));
    const long double growth = std::exp(parse_ratio(epsilon).convert_to<long double>());
    const long double d = parse_ratio(delta).convert_to<long double>();
    long double probability = 0;
    for (std::uint64_t units = 1; units < 400; ++units) {
      probability = std::min({growth * probability + d, 1 - (1 - probability - d) / growth, 1.0L});
      EXPECT_NEAR(middle(rule.probability(units, 128)), static_cast<double>(probability),
                  static_cast<double>(probability) * 1e-12)
          << epsilon << " " << delta << " " << units;
    }
  }
}

// 12 cells of 20,000 draws each; a right rule fails once in 10^7 seeds (five standard deviations).
TEST(KeySelection, TruncatedGeometricNamesWithItsProbability) {
  SeededBits bits(7);
  for (const auto& [epsilon, delta] : std::vector<std::pair<const char*, const char*>>{
           {"1", "0.01"}, {"1/7", "0.1"}, {"2000", "0.25"}, {"1e-301", "0.2"}}) {
    const TruncatedGeometric rule(parse_ratio(epsilon), parse_ratio(delta));
    for (const std::uint64_t units : {1, 3, 6}) {
      const double p = middle(rule.probability(units, 256));
      constexpr int kDraws = 20'000;
      int named = 0;
      for (int i = 0; i < kDraws; ++i) named += rule.names(units, bits);
      EXPECT_NEAR(named, p * kDraws, 5.4 * std::sqrt(kDraws * p * (1 - p)) + 1e-9)
          << epsilon << " " << units;
    }
  }
}

/// The largest delta at `epsilon` over all ways in which a unit with `keys` keys shares them with up
/// to `most` others, when a key with n units is named with probability names(n).
template <class Names>
double exact_delta(Names names, std::uint64_t keys, std::uint64_t most, double epsilon) {
  double worst = 0;
  std::vector<std::uint64_t> with(keys, 1);
  while (true) {
    std::vector<double> p = {1};
    std::vector<double> q = {1};
    for (const std::uint64_t n : with) {
      const std::size_t outcomes = p.size();
      for (std::size_t i = 0; i < outcomes; ++i) {
        p.push_back(p[i] * names(n));
        q.push_back(q[i] * names(n - 1));
        p[i] *= 1 - names(n);
        q[i] *= 1 - names(n - 1);
      }
    }
    worst = std::max(worst, hockey_stick(p, q, epsilon));
    std::size_t next = 0;
    while (next < keys && with[next] == most) ++next;
    if (next == keys) return worst;
    ++with[next];
    for (std::size_t i = 0; i < next; ++i) with[i] = with[next];  // non-increasing: no repetitions
  }
}

TEST(KeySelection, TruncatedGeometricIsPrivateForSeveralKeysAndExactlySoForOne) {
  for (const std::uint64_t keys : {1, 2, 3}) {
    const Ratio k{Integer(keys)};
    const TruncatedGeometric rule(1 / k, parse_ratio("0.001") / k);
    std::vector<double> probability;
    for (std::uint64_t n = 0; n < 60; ++n) probability.push_back(middle(rule.probability(n, 128)));
    const auto names = [&](std::uint64_t n) { return probability[n]; };
    const double delta = exact_delta(names, keys, keys == 3 ? 40 : 59, 1);
    EXPECT_LE(delta, 0.001 * (1 + 1e-9)) << keys;
    EXPECT_GE(delta, 0.001 * (1 - 0.001 * static_cast<double>(keys))) << keys;
    // Not dividing among the keys is caught.
    if (keys == 1) {
      EXPECT_GT(exact_delta(names, 2, 59, 1), 0.0019);
    }
  }
}

TEST(KeySelection, GaussianThresholdsArePrivateForEveryNumberOfKeys) {
  for (const std::uint64_t keys : {1, 2, 3}) {
    const ThresholdPlan plan = ThresholdPlan::counts(1, parse_ratio("0.001"), keys);
    const double sigma = plan.rounds[0].sigma.convert_to<double>();
    const auto threshold = plan.rounds[0].threshold.convert_to<double>();
    const auto names_above = [&](double bar) {
      std::vector<double> table = {0};
      for (double n = 1; n < 60; ++n) table.push_back(tail(sigma, bar - n));
      return [table](std::uint64_t n) { return table[n]; };
    };
    const auto most = static_cast<std::uint64_t>(threshold + 4 * sigma);
    EXPECT_LE(exact_delta(names_above(threshold), keys, std::min<std::uint64_t>(most, 45), 1),
              0.001)
        << keys;
    // A threshold that was cut to a lower integer, or derived for one key only, is caught.
    EXPECT_GT(exact_delta(names_above(threshold - 2), keys, 2, 1), 0.001) << keys;
  }
}

// What a key of a single unit reveals, for one to ten keys per unit: the tail is summed term by term.
TEST(KeySelection, ThresholdsHideTheKeysOfASingleUnitForOneToTenKeys) {
  for (const char* epsilon : {"0.3", "1", "4"}) {
    for (std::uint64_t keys = 1; keys <= 10; keys += epsilon == std::string("1") ? 1 : 9) {
      const ThresholdPlan plan =
          ThresholdPlan::counts(parse_ratio(epsilon), parse_ratio("1e-6"), keys);
      const double sigma = plan.rounds[0].sigma.convert_to<double>();
      const auto threshold = plan.rounds[0].threshold.convert_to<double>();
      const auto revealed = [&](double bar, double of_keys) {
        return -std::expm1(of_keys * std::log1p(-tail(sigma, bar - 1)));
      };
      const auto k = static_cast<double>(keys);
      const double allowed = plan.rounds[0].delta.convert_to<double>();
      EXPECT_LE(revealed(threshold, k), allowed);
      // The threshold is the smallest: the next integer below is caught (a truncated one is that).
      EXPECT_GT(revealed(threshold - 1, k), allowed * (1 - 1e-5));
      // So are many more keys than were allowed for, and the noise for a single key.
      EXPECT_GT(revealed(threshold, 100 * k), allowed);
      if (keys > 1) {
        const double z = boost::math::quantile(
            boost::math::complement(boost::math::normal_distribution<double>(0, 1), allowed));
        EXPECT_GT(revealed(std::ceil(1 + sigma / std::sqrt(k) * z), k), allowed);
      }
      EXPECT_LE(epsilon_at({plan.event}, 1e-6).epsilon, parse_ratio(epsilon).convert_to<double>());
    }
  }
}

TEST(KeySelection, SipsHidesTheKeysOfASingleUnitHoweverManyItHas) {
  constexpr std::uint64_t kKeys = 100;
  const ThresholdPlan plan = ThresholdPlan::sips(1, parse_ratio("1e-6"), kKeys);
  ASSERT_EQ(plan.rounds.size(), 2u);
  double squares = 0;
  for (const internal::ThresholdRound& round : plan.rounds) {
    const double sigma = round.sigma.convert_to<double>();
    squares += std::pow(0x1p24 / sigma, 2);
    bool tight = false;
    for (std::uint64_t keys = 1; keys <= kKeys; ++keys) {
      const double weight = plan.weights[keys];
      EXPECT_LE(weight * weight * static_cast<double>(keys), 0x1p48);
      const auto passes = [&](double bar) {
        return static_cast<double>(keys) *
               cdf(complement(boost::math::normal_distribution<double>(0, sigma),
                              bar - weight - 1));
      };
      const auto threshold = round.threshold.convert_to<double>();
      EXPECT_LE(passes(threshold), round.delta.convert_to<double>() * 1.0000001);
      tight = tight || passes(threshold * 0.99) > round.delta.convert_to<double>();
    }
    EXPECT_TRUE(tight);
  }
  EXPECT_LE(epsilon_at({plan.event}, 1e-6).epsilon, 1);
  // Together the rounds are one Gaussian mechanism, which is not far from the smallest there is:
  // sigma 4.2247 for (1, 1e-6), all of delta spent on the noise.
  EXPECT_LT(1 / std::sqrt(squares), 4.2247 * 1.15);
}

// 4,000 runs of each method on a lone unit; the probability that something is named must not be
// shown to exceed delta (failure probability 1e-9 each), and it is not idle either.
TEST(KeySelection, NamesTheKeysOfALoneUnitAtMostWithProbabilityDelta) {
  for (const KeySelectionMethod method : kMethods) {
    for (const std::uint32_t keys : {1u, 3u, 10u}) {
      const KeySelection mechanism = selection("1", "0.05", keys, method);
      const UnitKeys unit = lone_unit(keys);
      SeededBits bits(11);
      std::uint64_t named = 0;
      constexpr std::uint64_t kRuns = 4'000;
      for (std::uint64_t i = 0; i < kRuns; ++i) {
        named += release_once(mechanism, unit, bits).empty() ? 0 : 1;
      }
      EXPECT_LE(testing::probability_at_least(named, kRuns, 1e-9), 0.05);
      EXPECT_GT(named, 10u);
    }
  }
}

TEST(KeySelection, CostsNoMoreThanItWasAskedFor) {
  for (const KeySelectionMethod method : kMethods) {
    for (const std::uint64_t keys : {1, 7, 64}) {
      for (const char* epsilon : {"0.1", "1", "8"}) {
        const KeySelection mechanism = selection(epsilon, "1e-6", keys, method);
        const double asked = parse_ratio(epsilon).convert_to<double>();
        const Guarantee cost = epsilon_at({mechanism.event()}, 1e-6);
        EXPECT_LE(cost.epsilon, asked);
        if (method != KeySelectionMethod::kTruncatedGeometric) {
          EXPECT_GT(cost.epsilon, asked * 0.97) << keys << " " << epsilon;
        }
      }
    }
  }
}

TEST(KeySelection, KeepsItsAccuracyPromise) {
  for (const KeySelectionMethod method : kMethods) {
    const KeySelection mechanism = selection("1", "1e-4", 1, method);
    const Accuracy promise = mechanism.accuracy(0.9);
    const auto units = static_cast<std::uint32_t>(promise.half_width);
    SeededBits bits(5);
    const auto named = [&](std::uint32_t n) {
      const UnitKeys data = one_key_each(std::vector<std::uint32_t>(5'000, n));
      return release_once(mechanism, data, bits).size();
    };
    // 5,000 keys: a right mechanism falls below 0.875 with probability 1e-8.
    EXPECT_GE(named(units), 4'375u);
    EXPECT_LT(named(units - 4), 4'500u);
  }
}

TEST(KeySelection, SipsReachesKeysThatCountsMiss) {
  // Every unit has the same nine popular keys and one of 40 rare ones.
  UnitKeys data;
  data.key_count = 49;
  data.offsets = {0};
  for (std::uint32_t unit = 0; unit < 1'600; ++unit) {
    for (std::uint32_t key = 0; key < 9; ++key) data.keys.push_back(key);
    data.keys.push_back(9 + unit % 40);
    data.offsets.push_back(data.keys.size());
  }
  SeededBits bits(3);
  const auto named = [&](KeySelectionMethod method) {
    return release_once(selection("1", "1e-6", 10, method), data, bits).size();
  };
  EXPECT_LT(named(KeySelectionMethod::kGaussian), 15u);
  EXPECT_LT(named(KeySelectionMethod::kTruncatedGeometric), 15u);
  EXPECT_GT(named(KeySelectionMethod::kSips), 40u);
}

// Weights are whole numbers, so how units are shared out makes no difference. Some keys are on the edge of being named.
TEST(KeySelection, NamesTheSameInSeveralThreads) {
  UnitKeys data;
  data.key_count = 3'000;
  data.offsets = {0};
  for (std::uint32_t unit = 0; unit < 100'000; ++unit) {
    const std::uint32_t first = unit % 977;
    for (const std::uint32_t key : {first, first + 1'000 - unit % 31, 2'000 + unit * 7 % 1'000}) {
      data.keys.push_back(key);
    }
    data.offsets.push_back(data.keys.size());
  }
  for (const KeySelectionMethod method : kMethods) {
    const KeySelection mechanism = selection("1/2", "1e-6", 3, method);
    std::vector<std::vector<std::uint32_t>> named;
    for (const unsigned threads : {1u, 2u, 3u}) {
      SeededBits bits(8);
      Meter meter(mechanism.event());
      Context context{meter, bits};
      named.push_back(mechanism.run(data, context, threads).value);
    }
    EXPECT_GT(named[0].size(), 100u);
    EXPECT_LT(named[0].size(), 2'990u);
    EXPECT_EQ(named[1], named[0]);
    EXPECT_EQ(named[2], named[0]);
  }
}

TEST(KeySelection, ChoosesTheMethodThatNeedsTheFewestUnits) {
  EXPECT_EQ(selection("1", "1e-6", 1, KeySelectionMethod::kBest).method(),
            KeySelectionMethod::kTruncatedGeometric);
  EXPECT_EQ(selection("1", "1e-6", 50, KeySelectionMethod::kBest).method(),
            KeySelectionMethod::kSips);
}

TEST(KeySelection, PassesTheContract) {
  for (const KeySelectionMethod method : kMethods) {
    testing::expect_contract(selection("1", "0.001", 4, method), one_key_each({1, 5, 30, 0, 7}),
                             lone_unit(4));
  }
}

TEST(KeySelection, NamesInIncreasingOrderAndNeverAKeyWithoutUnits) {
  for (const KeySelectionMethod method : kMethods) {
    const KeySelection mechanism = selection("1", "0.9", 1, method);
    SeededBits bits(2);
    const auto named = release_once(mechanism, one_key_each({0, 500, 0, 400, 0, 300}), bits);
    EXPECT_EQ(named, (std::vector<std::uint32_t>{1, 3, 5}));
    EXPECT_TRUE(release_once(mechanism, UnitKeys{}, bits).empty());
    EXPECT_TRUE(release_once(mechanism, UnitKeys{{0}, {}, 1000}, bits).empty());
  }
}

// Neighbours that differ in one unit with three keys which eleven others have: the guarantee holds;
// three keys under a rule that was made for one do not keep it. Failure probability 1e-6 each.
TEST(KeySelection, SurvivesTheAuditThatCatchesTooManyKeysPerUnit) {
  const auto sampler = [](const TruncatedGeometric& rule, std::uint64_t units) {
    return [&rule, units](BitSource& bits) {
      double named = 0;
      for (int key = 0; key < 3; ++key) named += rule.names(units, bits) ? 1 : 0;
      return named;
    };
  };
  const testing::AuditOptions options{.trials = 100'000, .seed = 9, .delta = 0.01};
  const TruncatedGeometric shared(parse_ratio("1/3"), parse_ratio("1/300"));
  const TruncatedGeometric alone(1, parse_ratio("1/100"));
  EXPECT_LE(testing::audited_epsilon(sampler(shared, 12), sampler(shared, 11), options), 1);
  EXPECT_GT(testing::audited_epsilon(sampler(alone, 5), sampler(alone, 4), options), 1.3);
  // And through the mechanism, which must hand each key its share.
  const KeySelection mechanism = selection("1", "0.01", 3, KeySelectionMethod::kTruncatedGeometric);
  const auto through = [&mechanism](std::uint64_t units) {
    UnitKeys all{{0}, {}, 3};
    for (std::uint64_t unit = 0; unit < units; ++unit) {
      for (const std::uint32_t key : {0u, 1u, 2u}) all.keys.push_back(key);
      all.offsets.push_back(all.keys.size());
    }
    return [&mechanism, all](BitSource& bits) {
      return static_cast<double>(release_once(mechanism, all, bits).size());
    };
  };
  const testing::AuditOptions fewer{.trials = 30'000, .seed = 9, .delta = 0.01};
  EXPECT_LE(testing::audited_epsilon(through(5), through(4), fewer), 1);
}

TEST(KeySelection, RejectsOptionsAndListsOutsideTheirRange) {
  const auto any = KeySelectionMethod::kBest;
  EXPECT_ERROR(selection("0", "1e-6", 1, any), ErrorCode::kInvalidOption);
  EXPECT_ERROR(selection("1", "0", 1, any), ErrorCode::kInvalidOption);
  EXPECT_ERROR(selection("1", "1", 1, any), ErrorCode::kInvalidOption);
  EXPECT_ERROR(selection("1", "1e-6", 0, any), ErrorCode::kInvalidOption);
  EXPECT_ERROR(selection("1", "1e-6", (1u << 20) + 1, any), ErrorCode::kInvalidOption);
  SeededBits bits(1);
  for (const KeySelectionMethod method : kMethods) {
    const KeySelection mechanism = selection("1", "1e-6", 2, method);
    EXPECT_ERROR(release_once(mechanism, lone_unit(3), bits), ErrorCode::kUnboundedData);
    EXPECT_ERROR(release_once(mechanism, UnitKeys{{0, 2}, {0, 0}, 1}, bits),
                 ErrorCode::kInvalidInput);
    EXPECT_ERROR(release_once(mechanism, UnitKeys{{0, 1}, {7}, 7}, bits), ErrorCode::kInvalidInput);
    EXPECT_ERROR(release_once(mechanism, UnitKeys{{0, 2}, {1, 0}, 2}, bits),
                 ErrorCode::kInvalidInput);
    EXPECT_ERROR(release_once(mechanism, UnitKeys{{0, 2}, {0}, 2}, bits), ErrorCode::kInvalidInput);
    EXPECT_ERROR(release_once(mechanism, UnitKeys{{1, 0}, {0}, 2}, bits), ErrorCode::kInvalidInput);
  }
}

}  // namespace
}  // namespace gauze
