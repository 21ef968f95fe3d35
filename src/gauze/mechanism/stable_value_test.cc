#include "gauze/mechanism/stable_value.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "gauze/mechanism/propose_test_release.h"
#include "gauze/mechanism/ranked_records_internal.h"
#include "gauze/mechanism/scale_estimate.h"
#include "gauze/mechanism/scale_estimate_internal.h"
#include "gauze/mechanism/stability_test_internal.h"
#include "gauze/testing/audit.h"
#include "gauze/testing/contract.h"
#include "gauze/testing/matchers.h"
#include "gauze/testing/seeded_bits.h"

namespace gauze {
namespace {

using internal::RankedRecords;
using testing::release_once;
using testing::SeededBits;
using Data = std::vector<double>;
using Values = std::span<const double>;
using Words = std::vector<std::int64_t>;

constexpr Relation kReplace = Relation::kReplace;
const Ratio kDelta(1, 1000);

StableMode mode_with(const Ratio& epsilon, const Ratio& delta, Relation relation) {
  return StableMode({.epsilon = epsilon, .delta = delta, .relation = relation});
}

TEST(StableValue, RejectsOptionsOutsideTheirRange) {
  EXPECT_ERROR(mode_with(0, kDelta, kReplace), ErrorCode::kInvalidOption);
  EXPECT_ERROR(mode_with(1, 0, kReplace), ErrorCode::kInvalidOption);
  EXPECT_ERROR(mode_with(1, 1, kReplace), ErrorCode::kInvalidOption);
  EXPECT_ERROR(mode_with(1, kDelta, Relation::kEdge), ErrorCode::kInvalidOption);
  EXPECT_ERROR(
      ProposeTestRelease({.bound = 0, .epsilon = 1, .delta = kDelta, .relation = kReplace}),
      ErrorCode::kInvalidOption);
  EXPECT_ERROR(ProposedMedian({.lower = 0, .upper = 1, .bound = 2, .epsilon = 1, .delta = kDelta}),
               ErrorCode::kInvalidOption);
  EXPECT_ERROR(ScaleEstimate({.lower = 1, .upper = 1, .epsilon = 1, .delta = kDelta}),
               ErrorCode::kInvalidOption);
}

TEST(StableValue, PassesTheContractBattery) {
  testing::expect_contract(
      StableValue({.epsilon = 1, .delta = kDelta, .relation = Relation::kEdge}), StableChoice{7, 0},
      StableChoice{-1, 1000});
  const Words words = {4, 4, 4, INT64_MIN};
  const Words none = {};
  for (const Relation relation : {Relation::kAddRemove, kReplace}) {
    testing::expect_contract(mode_with(1, kDelta, relation), std::span<const std::int64_t>(words),
                             std::span<const std::int64_t>(none));
  }
  testing::expect_contract(
      ProposeTestRelease({.bound = 1, .epsilon = 1, .delta = kDelta, .relation = kReplace}),
      ProposedAnswer{1, 100}, ProposedAnswer{-1e9, 0});
  const Data data = {1, 2, NAN, -1e300};
  testing::expect_contract(
      ProposedMedian({.lower = 0, .upper = 5, .bound = 1, .epsilon = 1, .delta = kDelta}),
      Values(data), Values());
  testing::expect_contract(ScaleEstimate({.lower = 0, .upper = 5, .epsilon = 1, .delta = kDelta}),
                           Values(data), Values());
}

// P(X >= k) = e^(-k/scale) / (1 + e^(-1/scale)); Li, Lyu, Su and Yang 2016 print a threshold without
// delta for the scale estimate.
TEST(StableValue, HasTheSmallestThresholdForWhichDeltaHolds) {
  for (const double epsilon : {0.1, 1.0, 3.0}) {
    for (const double delta : {0.3, 1e-3, 1e-9}) {
      for (const int unit : {1, 12}) {
        const internal::StabilityTest test(ratio_of_bits(epsilon), ratio_of_bits(delta), unit);
        const double rate = epsilon / unit;
        const auto tail = [&](double k) { return std::exp(-k * rate) / (1 + std::exp(-rate)); };
        const auto threshold = test.threshold().convert_to<double>();
        EXPECT_LE(tail(threshold), delta * (1 + 1e-12));
        EXPECT_GT(tail(threshold - 1), delta);
        EXPECT_LE(threshold, std::ceil(std::log(1 / delta) / rate));
      }
    }
  }
}

TEST(StableValue, IsReleasedAsOftenAsPromised) {
  const StableValue mechanism({.epsilon = 1, .delta = kDelta, .relation = kReplace});
  SeededBits bits(1);
  const auto enough = static_cast<std::uint64_t>(std::ceil(mechanism.accuracy(0.9).half_width));
  int far = 0;
  int near = 0;
  for (int i = 0; i < 20'000; ++i) {
    far += release_once(mechanism, StableChoice{5, enough}, bits) == 5 ? 1 : 0;
    near += release_once(mechanism, StableChoice{5, 0}, bits).has_value() ? 1 : 0;
  }
  EXPECT_GE(far, 20'000 * 0.888);  // each fails with probability below 1e-6 where it holds
  EXPECT_LE(near, 45);             // expected at most 20
}

/// Data sets of the same size as `data` with one record replaced, or with one more.
std::vector<Data> neighbours(const Data& data, int upper, Relation relation) {
  std::vector<Data> result;
  for (int x = 0; x <= upper; ++x) {
    for (std::size_t i = 0; i < data.size() && relation == kReplace; ++i) {
      Data other = data;
      other[i] = x;
      std::sort(other.begin(), other.end());
      result.push_back(std::move(other));
    }
    if (relation != kReplace) {
      result.push_back(data);
      result.back().push_back(x);
    }
  }
  return result;
}

/// What the argument needs, on all pairs of small neighbours: different values have distance 0, and
/// distances differ by at most 1.
template <class Choose>
bool is_a_distance(int size, int upper, Relation relation, Choose choose) {
  bool holds = true;
  testing::for_all_data(size, upper, [&](const Data& data) {
    const StableChoice here = choose(data);
    for (const Data& other : neighbours(data, upper, relation)) {
      const StableChoice there = choose(other);
      const bool same = here.value == there.value;
      if (!same && (here.distance > 0 || there.distance > 0)) holds = false;
      if (here.distance > there.distance + 1 || there.distance > here.distance + 1) holds = false;
    }
  });
  return holds;
}

TEST(StableMode, CountsTheChangesThatItsModeSurvives) {
  const auto with = [](std::uint64_t lead_per_change) {
    return [lead_per_change](const Data& data) {
      return internal::stable_mode(Words(data.begin(), data.end()), lead_per_change);
    };
  };
  EXPECT_TRUE(is_a_distance(7, 2, Relation::kAddRemove, with(1)));
  EXPECT_TRUE(is_a_distance(7, 2, kReplace, with(2)));
  EXPECT_FALSE(is_a_distance(7, 2, kReplace, with(1)));
}

TEST(StableMode, OfNoRecordsIsNothing) {
  const StableMode mechanism = mode_with(1, Ratio(1, 2), Relation::kAddRemove);
  SeededBits bits(9);
  for (int i = 0; i < 100; ++i) {
    EXPECT_FALSE(release_once(mechanism, std::span<const std::int64_t>(), bits).has_value());
  }
}

// Five of one kind and three of another, or four of each: a lead of two that is taken for one change
// is caught at delta 1/20.
TEST(StableMode, SurvivesTheAuditThatCatchesTheLeadAsDistance) {
  const Words before = {1, 1, 1, 2, 2, 2, 2, 2};
  const Words after = {1, 1, 1, 1, 2, 2, 2, 2};
  const testing::AuditOptions options{.trials = 40'000, .delta = 0.05};
  const StableMode mechanism = mode_with(1, Ratio(1, 20), kReplace);
  const auto at = [&](const Words& words) {
    return [&](BitSource& bits) {
      return static_cast<double>(
          release_once(mechanism, std::span<const std::int64_t>(words), bits).value_or(0));
    };
  };
  EXPECT_LE(testing::audited_epsilon(at(before), at(after), options), 1);
  const StableValue stable({.epsilon = 1, .delta = Ratio(1, 20), .relation = kReplace});
  const auto broken = [&](const StableChoice& choice) {
    return [&stable, choice](BitSource& bits) {
      return static_cast<double>(release_once(stable, choice, bits).value_or(0));
    };
  };
  EXPECT_GT(testing::audited_epsilon(broken({2, 1}), broken({1, 0}), options), 1);
}

double local_sensitivity(const Data& data, int upper) {
  const auto median = [](const Data& sorted) { return sorted[(sorted.size() - 1) / 2]; };
  double largest = 0;
  for (const Data& other : neighbours(data, upper, kReplace)) {
    largest = std::max(largest, std::abs(median(data) - median(other)));
  }
  return largest;
}

TEST(ProposedMedian, IsAsFarFromTroubleAsBruteForceFinds) {
  constexpr int kUpper = 5;
  const internal::QuantileDomain domain = internal::fine_domain(0, kUpper);
  const std::int64_t bound = saturate(floor(Ratio(2 / domain.granularity())));
  testing::for_all_data(4, kUpper, [&](const Data& data) {
    if (data.empty()) return;
    const RankedRecords records(domain, data);
    const std::uint64_t distance =
        records.first_change([&](std::int64_t k) { return records.median_move(k) > bound; });
    std::vector<Data> within = {data};
    std::uint64_t expected = 0;
    const auto trouble = [&](const Data& each) { return local_sensitivity(each, kUpper) > 2; };
    while (std::none_of(within.begin(), within.end(), trouble) && expected < data.size()) {
      std::vector<Data> farther;
      for (const Data& each : within) {
        for (Data& other : neighbours(each, kUpper, kReplace)) farther.push_back(std::move(other));
      }
      std::sort(farther.begin(), farther.end());
      farther.erase(std::unique(farther.begin(), farther.end()), farther.end());
      within = std::move(farther);
      ++expected;
    }
    EXPECT_EQ(distance, expected);
  });
}

TEST(ProposedMedian, IsReleasedWithNoiseOfTheBoundWhereRecordsAreDense) {
  Data data;
  for (int i = 0; i <= 1000; ++i) data.push_back(i);
  const ProposedMedian mechanism(
      {.lower = -1000, .upper = 2000, .bound = 60, .epsilon = 2, .delta = kDelta});
  SeededBits bits(2);
  int kept = 0;
  for (int i = 0; i < 2000; ++i) {
    const auto value = release_once(mechanism, Values(data), bits);
    kept += value && std::abs(*value - 500) <= mechanism.accuracy().half_width ? 1 : 0;
  }
  EXPECT_GE(kept, 2000 * 0.925);  // a promise of 95 % fails this with probability 4e-7
  EXPECT_LE(kept, 2000 * 0.975);
  // One gap at the median: nothing, but with probability delta.
  Data gap(500, 0);
  gap.resize(1001, 1000);
  int released = 0;
  for (int i = 0; i < 2000; ++i) {
    released += release_once(mechanism, Values(gap), bits).has_value() ? 1 : 0;
  }
  EXPECT_LE(released, 15);  // expected 2
}

// Three zeros and two tens, or four zeros and one ten: without the test noise for bound 1 tells them
// apart.
TEST(ProposedMedian, SurvivesTheAuditThatCatchesAMissingTest) {
  const Data before = {0, 0, 10, 10, 10};
  const Data after = {0, 0, 0, 10, 10};
  const testing::AuditOptions options{.trials = 20'000, .delta = 0.02};
  const ProposedMedian mechanism(
      {.lower = 0, .upper = 10, .bound = 1, .epsilon = 1, .delta = Ratio(1, 50)});
  const auto at = [&](const Data& data) {
    return
        [&](BitSource& bits) { return release_once(mechanism, Values(data), bits).value_or(-1e6); };
  };
  EXPECT_LE(testing::audited_epsilon(at(before), at(after), options), 1);
  const ProposeTestRelease release(
      {.bound = 1, .epsilon = 1, .delta = Ratio(1, 50), .relation = kReplace});
  const auto broken = [&](double value) {
    return [&release, value](BitSource& bits) {
      return release_once(release, ProposedAnswer{value, 1'000'000}, bits).value_or(-1e6);
    };
  };
  EXPECT_GT(testing::audited_epsilon(broken(10), broken(0), options), 1);
}

TEST(ScaleEstimate, PutsWidthsIntoBucketsOfAFactorOfTwo) {
  for (const std::int64_t width : {1, 2, 3, 5, 6, 11, 12, 1000, 1448, 1449}) {
    for (const bool shifted : {false, true}) {
      const internal::ScaleBucket bucket = internal::bucket_of(width, shifted);
      EXPECT_LE(bucket.begin, width);
      EXPECT_LT(width, bucket.end);
      const double log2_centre = 0.5 * static_cast<double>(bucket.twice_log2_centre);
      EXPECT_LE(std::abs(std::log2(static_cast<double>(width)) - log2_centre), 0.5 + 1e-12);
      EXPECT_EQ(static_cast<double>(bucket.end), std::ceil(std::exp2(log2_centre + 0.5)));
      EXPECT_EQ(static_cast<double>(bucket.begin), std::ceil(std::exp2(log2_centre - 0.5)));
    }
  }
  EXPECT_EQ(internal::bucket_of(0, true).end, 1);
}

double quartile_distance(const Data& sorted) {
  const std::size_t rank = (sorted.size() + 3) / 4;
  return sorted[sorted.size() - rank] - sorted[rank - 1];
}

TEST(ScaleEstimate, FindsWhatReplacementsMakeOfTheQuartilesAsBruteForceDoes) {
  constexpr int kUpper = 4;
  const internal::QuantileDomain domain = internal::fine_domain(0, kUpper);
  const double step = domain.granularity().convert_to<double>();
  testing::for_all_data(6, kUpper, [&](const Data& data) {
    if (data.size() < 2) return;
    const RankedRecords records(domain, data);
    std::vector<Data> within = {data};
    for (std::int64_t k = 0; k < 3; ++k) {
      double largest = 0;
      double smallest = kUpper;
      for (const Data& each : within) {
        largest = std::max(largest, quartile_distance(each));
        smallest = std::min(smallest, quartile_distance(each));
      }
      ASSERT_EQ(static_cast<double>(records.largest_quartile_distance(k)) * step, largest);
      ASSERT_EQ(static_cast<double>(records.smallest_quartile_distance(k)) * step, smallest);
      std::vector<Data> farther;
      for (const Data& each : within) {
        for (Data& other : neighbours(each, kUpper, kReplace)) farther.push_back(std::move(other));
      }
      std::sort(farther.begin(), farther.end());
      farther.erase(std::unique(farther.begin(), farther.end()), farther.end());
      within = std::move(farther);
    }
  });
}

TEST(ScaleEstimate, CountsTheChangesThatItsBucketSurvives) {
  const internal::QuantileDomain domain = internal::fine_domain(0, 6);
  for (const bool shifted : {false, true}) {
    const auto choose = [&](const Data& data) {
      return internal::stable_bucket(RankedRecords(domain, data), shifted);
    };
    EXPECT_TRUE(is_a_distance(6, 6, kReplace, choose));
    // The printed test allows the bucket to be left by the change that is being hidden.
    EXPECT_FALSE(is_a_distance(6, 6, kReplace, [&](const Data& data) {
      StableChoice choice = choose(data);
      ++choice.distance;
      return choice;
    }));
  }
}

TEST(ScaleEstimate, IsWithinTheSquareRootOfTwoWhereThereAreEnoughRecords) {
  const ScaleEstimate mechanism(
      {.lower = -10'000, .upper = 10'000, .epsilon = 1, .delta = ratio_of_decimal(1e-6)});
  EXPECT_EQ(mechanism.event(),
            (Event{events::Approximate{1, ratio_of_decimal(1e-6)}, Relation::kReplace}));
  SeededBits bits(3);
  for (const double spread : {0.003, 1.0, 1.4, 2.0, 77.0}) {
    Data data;
    for (int i = 0; i < 1000; ++i) data.push_back(spread * i / 500);
    for (int i = 0; i < 20; ++i) {
      const auto scale = release_once(mechanism, Values(data), bits);
      ASSERT_TRUE(scale.has_value());  // distances are 80 and more: not once in 10^10
      EXPECT_LE(std::abs(std::log2(*scale / spread)), 0.5 + 0.01);
    }
  }
  EXPECT_EQ(release_once(mechanism, Values(Data(500, 7)), bits), 0);
}

}  // namespace
}  // namespace gauze
