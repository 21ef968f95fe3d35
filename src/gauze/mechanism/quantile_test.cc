#include "gauze/mechanism/quantile.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "gauze/accounting/loss.h"
#include "gauze/mechanism/quantile_internal.h"
#include "gauze/testing/audit.h"
#include "gauze/testing/contract.h"
#include "gauze/testing/local_sensitivity.h"
#include "gauze/testing/matchers.h"
#include "gauze/testing/seeded_bits.h"
#include "gauze/testing/statistics.h"

namespace gauze {
namespace {

using testing::max_log_ratio;
using testing::release_once;
using testing::SeededBits;
using Data = std::vector<double>;

Quantile quantile(const Ratio& probability, const Ratio& epsilon, int upper,
                  Relation relation = Relation::kAddRemove) {
  return Quantile({.lower = 0,
                   .upper = upper,
                   .epsilon = epsilon,
                   .relation = relation,
                   .probability = probability,
                   .granularity = 1});
}

/// Straight from the definition: score minus the distance of p n from [#{< x}, #{<= x}].
std::vector<double> pmf(const Data& data, double p, int upper, double rate) {
  std::vector<double> result;
  double total = 0;
  for (int x = 0; x <= upper; ++x) {
    const auto below = std::count_if(data.begin(), data.end(), [&](double v) { return v < x; });
    const auto upto = std::count_if(data.begin(), data.end(), [&](double v) { return v <= x; });
    const double target = p * static_cast<double>(data.size());
    const double distance =
        std::max({0.0, static_cast<double>(below) - target, target - static_cast<double>(upto)});
    total += result.emplace_back(std::exp(-rate * distance));
  }
  for (double& mass : result) mass /= total;
  return result;
}

double first(double answer) {
  return answer;
}
double first(const std::vector<double>& answers) {
  return answers.front();
}

template <class Mechanism>
double fit(const Mechanism& mechanism, const Data& data, const std::vector<double>& expected) {
  SeededBits bits(3);
  std::vector<std::uint64_t> counts(expected.size());
  for (int i = 0; i < 20000; ++i) {
    ++counts[static_cast<std::size_t>(
        first(release_once(mechanism, std::span<const double>(data), bits)))];
  }
  return testing::chi_square_p(counts, expected);
}

TEST(Quantile, RejectsOptionsOutsideTheirRange) {
  EXPECT_ERROR(quantile(Ratio(1, 2), 0, 4), ErrorCode::kInvalidOption);
  EXPECT_ERROR(quantile(Ratio(3, 2), 1, 4), ErrorCode::kInvalidOption);
  EXPECT_ERROR(quantile(Ratio(-1, 2), 1, 4), ErrorCode::kInvalidOption);
  EXPECT_ERROR(quantile(Ratio(1, 2097153), 1, 4), ErrorCode::kInvalidOption);
  EXPECT_ERROR(quantile(Ratio(1, 2), 1, 0), ErrorCode::kInvalidOption);  // lower == upper
  EXPECT_ERROR(quantile(Ratio(1, 2), 1, 4, Relation::kEdge), ErrorCode::kInvalidOption);
}

TEST(Quantile, ChoosesWithThePublishedProbabilities) {
  const Data data = {1, 2, 2, 4};
  const std::vector<double> expected = {0.060445, 0.164307, 0.446633, 0.164307, 0.164307};
  for (std::size_t i = 0; i < 5; ++i) EXPECT_NEAR(pmf(data, 0.5, 4, 1)[i], expected[i], 1e-6);
  EXPECT_GT(fit(quantile(Ratio(1, 2), 1, 4), data, expected), 1e-6);
  EXPECT_LT(fit(quantile(Ratio(1, 2), 2, 4), data, expected), 1e-6);
}

TEST(Quantile, ChoosesAsTheDefinitionSaysForAnyProbabilityAndNoData) {
  for (const auto& [fraction, p] :
       std::vector<std::pair<Ratio, double>>{{Ratio(0), 0}, {Ratio(1, 4), 0.25}, {Ratio(1), 1}}) {
    const double sensitivity = std::max(p, 1 - p);
    for (const Data& data : {Data{}, Data{3}, Data{0, 0, 1, 4, 4}}) {
      EXPECT_GT(fit(quantile(fraction, 1, 4), data, pmf(data, p, 4, 1 / (2 * sensitivity))), 1e-6);
    }
  }
  EXPECT_GT(
      fit(quantile(Ratio(1, 4), 2, 4, Relation::kReplace), {0, 2, 3}, pmf({0, 2, 3}, 0.25, 4, 1)),
      1e-6);
}

TEST(Quantile, FindsRecordsInSubnormalAndInHugeRanges) {
  const Data shares = {0, 0.25, 0.5, 0.75, 1};
  for (const auto& [lower, upper] : std::vector<std::pair<double, double>>{
           {0, 1}, {0, 1e-305}, {-4e-320, 4e-320}, {-1.7e308, 1.7e308}, {1.6e308, 1.7e308}}) {
    const internal::QuantileDomain domain(ratio_of_bits(lower), ratio_of_bits(upper), 0);
    Data values = {NAN, -INFINITY, INFINITY};
    for (const double share : shares) values.push_back(lower * (1 - share) + upper * share);
    std::vector<std::uint64_t> indices;  // sorted
    for (const internal::Run& run : domain.runs(values)) {
      indices.insert(indices.end(), run.count, run.index);
    }
    ASSERT_EQ(indices.size(), 8u);
    EXPECT_EQ(domain.size(), 1048577u);
    const std::vector<double> expected = {0, 0, 0, 0.25, 0.5, 0.75, 1, 1};
    for (std::size_t i = 0; i < 8; ++i) {
      EXPECT_NEAR(static_cast<double>(indices[i]), expected[i] * 1048576, 150) << upper;
    }
  }
}

/// The largest privacy loss over all neighbours of size up to 4, the empty set included.
double worst_loss(double p, double rate, Relation relation, int upper) {
  double worst = 0;
  testing::for_all_data(3, upper, [&](const Data& data) {
    const auto base = pmf(data, p, upper, rate);
    for (int x = 0; x <= upper; ++x) {
      Data more = data;
      more.push_back(x);
      const auto added = pmf(more, p, upper, rate);
      if (relation == Relation::kAddRemove) {
        worst = std::max(worst, max_log_ratio(base, added));
        continue;
      }
      for (int y = 0; y < x; ++y) {
        Data other = data;
        other.push_back(y);
        worst = std::max(worst, max_log_ratio(pmf(other, p, upper, rate), added));
      }
    }
  });
  return worst;
}

TEST(Quantile, IsPrivateOnEveryPairOfSmallDataSets) {
  for (const int upper : {3, 4}) {
    for (const auto& fraction : {Ratio(0), Ratio(1, 4), Ratio(1, 3), Ratio(1, 2), Ratio(1)}) {
      for (const Relation relation : {Relation::kAddRemove, Relation::kReplace}) {
        const double p = fraction.convert_to<double>();
        const double sensitivity =
            internal::rank_sensitivity(fraction, relation).convert_to<double>();
        EXPECT_LE(worst_loss(p, 1 / (2 * sensitivity), relation, upper), 1 + 1e-12);
      }
    }
  }
  // Taking the median's sensitivity for the first quartile, or add_remove's for replace, is caught.
  EXPECT_GT(worst_loss(0.25, 1 / (2 * 0.25), Relation::kAddRemove, 4), 1);
  EXPECT_GT(worst_loss(0.5, 1 / (2 * 0.5), Relation::kReplace, 4), 1);
}

// 20,000 medians of 0..200: rank within the promise in at least 94.23 % except with probability
// 3e-7.
TEST(Quantile, KeepsItsAccuracyPromise) {
  Data data;
  for (int i = 0; i <= 40; ++i) data.push_back(5 * i);
  const Quantile mechanism = quantile(Ratio(1, 2), 1, 200);
  const double promised = mechanism.accuracy().half_width;
  EXPECT_LT(promised, 10);
  SeededBits bits(5);
  int kept = 0;
  for (int i = 0; i < 20000; ++i) {
    const double answer = release_once(mechanism, std::span<const double>(data), bits);
    const double below = std::ceil(answer / 5);      // values < answer
    const double upto = std::floor(answer / 5) + 1;  // values <= answer
    kept += below - promised <= 20.5 && 20.5 <= upto + promised ? 1 : 0;
  }
  EXPECT_GE(kept, 20000 * 0.9423);
}

TEST(Quantile, TreatsWhatIsNoNumberAsTheLowerBoundAndTheRestAsItsEnds) {
  const Quantile mechanism(
      {.lower = Ratio(-10), .upper = 10, .epsilon = 1, .relation = Relation::kReplace});
  const Data wild = {NAN, INFINITY, -INFINITY, -0.0, 1e300, 3};
  const Data tame = {-10, 10, -10, 0.0, 10, 3};
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    SeededBits a(seed);
    SeededBits b(seed);
    EXPECT_EQ(release_once(mechanism, std::span<const double>(wild), a),
              release_once(mechanism, std::span<const double>(tame), b));
  }
}

TEST(Quantile, SurvivesTheAuditThatCatchesNoiseFromTheLocalSensitivity) {
  // Five records, relation replace: three zeros and two tens, or four zeros and one ten.
  const Data before = {0, 0, 0, 10, 10};
  const Data after = {0, 0, 0, 0, 10};
  const testing::AuditOptions options{.trials = 20000};
  const Quantile mechanism = quantile(Ratio(1, 2), 1, 10, Relation::kReplace);
  const auto at = [&](const Data& data) {
    return [&](BitSource& bits) {
      return release_once(mechanism, std::span<const double>(data), bits);
    };
  };
  EXPECT_LE(testing::audited_epsilon(at(before), at(after), options), 1);

  const auto local = [](const Data& data) {
    return [&data](BitSource& bits) { return testing::local_sensitivity_median(data, 1, bits); };
  };
  // Zero with probability 1 in one world and 0 in the other.
  EXPECT_GT(testing::audited_epsilon(local(before), local(after), options), 5);
}

TEST(InterquartileRange, SplitsEpsilonAndFindsTheRange) {
  const InterquartileRange mechanism({.lower = 0,
                                      .upper = 1000,
                                      .epsilon = 2,
                                      .relation = Relation::kAddRemove,
                                      .granularity = 1});
  EXPECT_EQ(pure_epsilon(mechanism.event()), 2);
  Data data;
  for (int i = 0; i <= 1000; ++i) data.push_back(i);
  SeededBits bits(6);
  // Each quartile's rank is off by more than the promise with probability 1e-6 / 2.
  const double promised = 2 * mechanism.accuracy(1 - 1e-6).half_width;
  for (int i = 0; i < 50; ++i) {
    EXPECT_NEAR(release_once(mechanism, std::span<const double>(data), bits), 500, promised);
  }
  EXPECT_GE(release_once(mechanism, std::span<const double>(Data{}), bits), 0);
  EXPECT_ERROR(
      InterquartileRange({.lower = 0, .upper = 0, .epsilon = 2, .relation = Relation::kAddRemove}),
      ErrorCode::kInvalidOption);
}

Quantiles many(const std::vector<Ratio>& probabilities, const Ratio& epsilon, int upper,
               Relation relation = Relation::kAddRemove) {
  return Quantiles({.lower = 0,
                    .upper = upper,
                    .epsilon = epsilon,
                    .relation = relation,
                    .probabilities = probabilities,
                    .granularity = 1});
}

TEST(Quantiles, RejectsOptionsOutsideTheirRange) {
  EXPECT_ERROR(many({}, 1, 10), ErrorCode::kInvalidOption);
  EXPECT_ERROR(many({Ratio(1, 2), Ratio(1, 2)}, 1, 10), ErrorCode::kInvalidOption);
  EXPECT_ERROR(many({Ratio(0)}, 1, 10), ErrorCode::kInvalidOption);
  EXPECT_ERROR(many({Ratio(1)}, 1, 10), ErrorCode::kInvalidOption);
  EXPECT_ERROR(many({Ratio(1, 1009), Ratio(1, 1013)}, 1, 10), ErrorCode::kInvalidOption);
  EXPECT_ERROR(many({Ratio(1, 2)}, 0, 10), ErrorCode::kInvalidOption);
}

TEST(Quantiles, CostOnePerLevelOfTheRecursion) {
  std::vector<Ratio> probabilities;
  for (const std::uint64_t m : {1u, 2u, 3u, 4u, 7u, 8u}) {
    probabilities.clear();
    for (std::uint64_t i = 1; i <= m; ++i) probabilities.emplace_back(Integer(i), Integer(m + 1));
    const auto levels =
        static_cast<std::uint64_t>(std::ceil(std::log2(static_cast<double>(m + 1))));
    EXPECT_EQ(many(probabilities, 1, 10).event().count, levels);
    EXPECT_EQ(pure_epsilon(many(probabilities, 1, 10).event()), 1);
    const Event replace = many(probabilities, 1, 10, Relation::kReplace).event();
    EXPECT_EQ(replace.count, levels);
    EXPECT_EQ(pure_epsilon(replace), 1);
  }
}

// Old and new record on both sides of the median in one part: one choice whose loss goes either way.
TEST(Quantiles, ClaimARhoThatHoldsWhenTheReplacedRecordStaysInItsPart) {
  constexpr int kUpper = 200;
  const Quantiles mechanism = many({Ratio(1, 2)}, 1, kUpper, Relation::kReplace);
  // The split is private for add_remove with half of epsilon: rate 0.5 / (2 * 1/2).
  const auto p = pmf({0, kUpper / 2}, 0.5, kUpper, 0.5);
  const auto q = pmf({kUpper / 2, kUpper}, 0.5, kUpper, 0.5);
  EXPECT_GT(fit(mechanism, {0, kUpper / 2}, p), 1e-6);
  EXPECT_LT(fit(mechanism, {0, kUpper / 2}, q), 1e-6);
  const double rho = zcdp_rho(mechanism.event())->convert_to<double>();
  for (const double alpha : {1.001, 2.0, 8.0}) {
    EXPECT_LE(testing::renyi_divergence(p, q, alpha), alpha * rho) << alpha;
  }
  // Two events of half the range, as if the record always changed its part, are caught.
  const Event two{events::Exponential{Ratio(1, 2)}, Relation::kReplace, 2};
  EXPECT_GT(testing::renyi_divergence(p, q, 1.001), 1.001 * zcdp_rho(two)->convert_to<double>());
}

TEST(Quantiles, KeepTheirAccuracyPromiseInOrder) {
  Data data;
  for (int i = 0; i < 300; ++i) data.push_back(i);
  const Quantiles mechanism = many({Ratio(1, 10), Ratio(1, 4), Ratio(1, 2), Ratio(9, 10)}, 20, 300);
  const double promised = mechanism.accuracy().half_width;
  EXPECT_LT(promised, 30);
  SeededBits bits(7);
  int kept = 0;
  for (int i = 0; i < 2000; ++i) {
    const auto answers = release_once(mechanism, std::span<const double>(data), bits);
    EXPECT_TRUE(std::is_sorted(answers.begin(), answers.end()));
    bool all = true;
    const std::vector<double> targets = {30, 75, 150, 270};
    for (std::size_t j = 0; j < 4; ++j)
      all = all && std::abs(answers[j] - targets[j]) <= promised + 1;
    kept += all ? 1 : 0;
  }
  EXPECT_GE(kept, 2000 * 0.925);  // a promise of 95 % fails this with probability 4e-7
}

TEST(Quantiles, SurviveTheAuditThatCatchesWholeEpsilonOnEveryLevel) {
  const std::vector<Ratio> quartiles = {Ratio(1, 4), Ratio(1, 2), Ratio(3, 4)};
  const testing::AuditOptions options{.trials = 20000, .seed = 9};
  const auto audit = [&](const Ratio& epsilon) {
    const Quantiles mechanism = many(quartiles, epsilon, 2);
    const auto at = [&mechanism](const Data& data) {
      return [&mechanism, data](BitSource& bits) {
        const auto a = release_once(mechanism, std::span<const double>(data), bits);
        return a[0] + 3 * a[1] + 9 * a[2];
      };
    };
    return testing::audited_epsilon(at({}), at({0}), options);
  };
  EXPECT_LE(audit(1), 1);
  EXPECT_GT(audit(6), 1);
}

TEST(Quantile, CountedRecordsAreTheSameAsListedOnes) {
  const Data values = {1, 1, 1, 4, 2, 4, 9};
  const std::vector<GridCount> counts = {{4, 1}, {1, 3}, {2, 1}, {4, 1}, {7, 0}, {99, 1}};
  const Quantile one({.lower = 0,
                      .upper = 9,
                      .epsilon = 2,
                      .relation = Relation::kAddRemove,
                      .probability = Ratio(1, 3),
                      .granularity = 1});
  const Quantiles many({.lower = 0,
                        .upper = 9,
                        .epsilon = 2,
                        .relation = Relation::kReplace,
                        .probabilities = std::vector<Ratio>{Ratio(1, 4), Ratio(1, 2), Ratio(3, 4)},
                        .granularity = 1});
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    testing::SeededBits a(seed);
    testing::SeededBits b(seed);
    EXPECT_EQ(testing::release_once(one, std::span<const double>(values), a),
              testing::release_once(one, std::span<const GridCount>(counts), b));
    EXPECT_EQ(testing::release_once(many, std::span<const double>(values), a),
              testing::release_once(many, std::span<const GridCount>(counts), b));
  }
}

// A unit with eight records at 0 beside eight others at 4: with it every candidate is a median,
// without it 4 alone. Failure probability 1e-6; forgetting the records per unit is caught.
TEST(Quantile, SurvivesTheAuditThatCatchesForgottenRecordsPerUnit) {
  const auto sampler = [](std::uint64_t records, const Data& data) {
    return [records, data](BitSource& bits) {
      static constexpr auto kRelation = Relation::kAddRemove;
      const Quantile median({.lower = 0,
                             .upper = 4,
                             .epsilon = 1,
                             .relation = kRelation,
                             .granularity = 1,
                             .records_per_unit = records});
      return testing::release_once(median, std::span<const double>(data), bits);
    };
  };
  const Data without(8, 4);
  Data with = without;
  with.insert(with.begin(), 8, 0);
  const testing::AuditOptions options{.trials = 20'000, .seed = 2};
  EXPECT_LE(testing::audited_epsilon(sampler(8, with), sampler(8, without), options), 1);
  EXPECT_GT(testing::audited_epsilon(sampler(1, with), sampler(1, without), options), 1);
}

}  // namespace
}  // namespace gauze
