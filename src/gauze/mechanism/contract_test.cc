// Every mechanism passes the same battery.
#include "gauze/testing/contract.h"

#include <gtest/gtest.h>

#include <vector>

#include "gauze/mechanism/count.h"
#include "gauze/mechanism/discrete_gaussian.h"
#include "gauze/mechanism/discrete_laplace.h"
#include "gauze/mechanism/enhanced_exponential.h"
#include "gauze/mechanism/exponential.h"
#include "gauze/mechanism/gaussian.h"
#include "gauze/mechanism/laplace.h"
#include "gauze/mechanism/mean.h"
#include "gauze/mechanism/mode.h"
#include "gauze/mechanism/noisy_max.h"
#include "gauze/mechanism/permute_and_flip.h"
#include "gauze/mechanism/quantile.h"
#include "gauze/mechanism/randomized_response.h"
#include "gauze/mechanism/relaxed_exponential.h"
#include "gauze/mechanism/retraversal.h"
#include "gauze/mechanism/sparse_vector.h"
#include "gauze/mechanism/sum.h"
#include "gauze/mechanism/top_k.h"
#include "gauze/mechanism/variance.h"

namespace gauze {
namespace {

using testing::expect_contract;
using Reals = std::span<const double>;
using Integers = std::span<const std::int64_t>;

constexpr Relation kBoth[] = {Relation::kAddRemove, Relation::kReplace};

const std::vector<double> kReals = {1, 2, 3};
const std::vector<double> kOtherReals = {-1e9, 0, 1e-300};
const std::vector<double> kNoReals = {};
const std::vector<std::int64_t> kIntegers = {1, 2, 2};
const std::vector<std::int64_t> kOtherIntegers = {INT64_MIN, 0, INT64_MAX};

TEST(Contract, HoldsForAdditiveNoise) {
  expect_contract(Laplace({.l1_sensitivity = 1, .scale = Ratio(7, 3)}), 0.0, 1e300);
  expect_contract(Laplace({.l1_sensitivity = 1, .scale = 2, .dimension = 3}), Reals(kReals),
                  Reals(kOtherReals));
  expect_contract(Gaussian({.l2_sensitivity = 1, .sigma = Ratio(7, 3)}), 0.0, -1e300);
  expect_contract(Gaussian({.l2_sensitivity = 1, .sigma = 2, .dimension = 3}), Reals(kReals),
                  Reals(kOtherReals));
  expect_contract(DiscreteLaplace({.l1_sensitivity = 1u, .scale = 2}), std::int64_t{0}, INT64_MAX);
  expect_contract(DiscreteLaplace({.l1_sensitivity = 1u, .scale = 2}), Integers(kIntegers),
                  Integers(kOtherIntegers));
  expect_contract(DiscreteGaussian({.l2_sensitivity = 1, .sigma = 2}), std::int64_t{0}, INT64_MIN);
  expect_contract(DiscreteGaussian({.l2_sensitivity = 1, .sigma = 2}), Integers(kIntegers),
                  Integers(kOtherIntegers));
}

TEST(Contract, HoldsForSelection) {
  expect_contract(ExponentialMechanism({.epsilon = 1, .sensitivity = 2}), Reals(kReals),
                  Reals(kOtherReals));
  expect_contract(PermuteAndFlip({.epsilon = 1, .sensitivity = 2}), Reals(kReals),
                  Reals(kOtherReals));
  for (const MaxNoise noise : {MaxNoise::kGeometric, MaxNoise::kLaplace}) {
    expect_contract(ReportNoisyMax({.epsilon = 1, .sensitivity = 2, .noise = noise}), Reals(kReals),
                    Reals(kOtherReals));
  }
  for (const TopKMethod method : {TopKMethod::kOneShot, TopKMethod::kPeeling}) {
    expect_contract(TopK({.k = 2u, .epsilon = 1, .sensitivity = 2, .method = method}),
                    Reals(kReals), Reals(kOtherReals));
  }
  for (const Relation relation : kBoth) {
    expect_contract(
        EnhancedExponential({.epsilon = 1, .candidate_spread = 2, .relation = relation}),
        Reals(kReals), Reals(kOtherReals));
  }
  expect_contract(
      RelaxedExponential(
          {.temperature = 1, .bound = 2, .delta = Ratio(1, 1000), .relation = Relation::kReplace}),
      Reals(kReals), Reals(kOtherReals));
}

TEST(Contract, HoldsForThresholds) {
  for (const Ratio& share : {Ratio(0), Ratio(1, 2)}) {
    expect_contract(
        SparseVector({.epsilon = 1, .sensitivity = 2, .positives = 2u, .value_share = share}),
        Reals(kReals), Reals(kOtherReals));
  }
  expect_contract(
      Retraversal(
          {.epsilon = 1, .sensitivity = 2, .positives = 2u, .threshold = 1, .monotone = true}),
      Reals(kReals), Reals(kOtherReals));
}

TEST(Contract, HoldsForRandomisedResponse) {
  expect_contract(RandomizedResponse({.p = Ratio(3, 4), .options = 5}), std::uint64_t{0},
                  std::uint64_t{4});
  expect_contract(RandomizedBits({.p = Ratio(3, 4), .length = 3u}), std::vector<bool>{0, 1, 0},
                  std::vector<bool>{1, 1, 1});
}

TEST(Contract, HoldsForStatisticsOfAColumn) {
  for (const Relation relation : kBoth) {
    expect_contract(Count({.epsilon = 1, .relation = relation}), std::int64_t{0}, INT64_MAX);
    expect_contract(Sum({.lower = 0, .upper = 5, .epsilon = 1, .relation = relation}),
                    Reals(kReals), Reals(kNoReals));
    expect_contract(IntegerSum({.lower = std::int64_t{-1},
                                .upper = std::int64_t{5},
                                .epsilon = 1,
                                .relation = relation}),
                    Integers(kIntegers), Integers(kOtherIntegers));
    expect_contract(Mode({.lower = std::int64_t{0},
                          .upper = std::int64_t{5},
                          .epsilon = 1,
                          .relation = relation}),
                    Integers(kIntegers), Integers(kOtherIntegers));
    expect_contract(Quantile({.lower = 0, .upper = 5, .epsilon = 1, .relation = relation}),
                    Reals(kReals), Reals(kNoReals));
    expect_contract(
        InterquartileRange({.lower = 0, .upper = 5, .epsilon = 1, .relation = relation}),
        Reals(kReals), Reals(kNoReals));
    expect_contract(Quantiles({.lower = 0,
                               .upper = 5,
                               .epsilon = 1,
                               .relation = relation,
                               .probabilities = std::vector<Ratio>{Ratio(1, 4), Ratio(1, 2)}}),
                    Reals(kReals), Reals(kNoReals));
    expect_contract(Variance({.lower = 0, .upper = 5, .epsilon = 1, .relation = relation}),
                    Reals(kReals), Reals(kNoReals));
    for (const MeanMethod method :
         {MeanMethod::kNormalised, MeanMethod::kDirect, MeanMethod::kExponential}) {
      expect_contract(
          Mean({.lower = 0, .upper = 5, .epsilon = 1, .relation = relation, .method = method}),
          Reals(kReals), Reals(kOtherReals));
    }
  }
  expect_contract(Mean({.lower = 0,
                        .upper = 5,
                        .epsilon = 1,
                        .relation = Relation::kAddRemove,
                        .method = MeanMethod::kSumOverCount}),
                  Reals(kReals), Reals(kNoReals));
}

/// A mechanism that draws before it pays: what the battery is there to catch.
struct DrawsFirst {
  Event event() const { return {events::Pure{1}, Relation::kAddRemove}; }
  Release<double> run(double, Context& context) const {
    const auto word = static_cast<double>(context.bits.next());
    context.meter.charge(event());
    return {word, {1, 0.95, "each value"}, event()};
  }
};

TEST(Contract, CatchesAMechanismThatDrawsBeforeItPays) {
  const DrawsFirst mechanism;
  testing::SeededBits bits(1);
  Meter meter(mechanism.event());
  meter.charge(mechanism.event());
  Context context{meter, bits};
  EXPECT_ERROR(mechanism.run(0, context), ErrorCode::kBudgetExceeded);
  EXPECT_GT(bits.refills(), 0u);
}

}  // namespace
}  // namespace gauze
