#include "gauze/mechanism/sample_and_aggregate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "gauze/accounting/loss.h"
#include "gauze/mechanism/laplace.h"
#include "gauze/mechanism/stable_value.h"
#include "gauze/mechanism/subsample_stability.h"
#include "gauze/testing/audit.h"
#include "gauze/testing/contract.h"
#include "gauze/testing/matchers.h"
#include "gauze/testing/seeded_bits.h"

namespace gauze {
namespace {

using testing::release_once;
using testing::SeededBits;
using Data = std::vector<double>;
using Positions = std::span<const std::uint64_t>;

constexpr Relation kBoth[] = {Relation::kAddRemove, Relation::kReplace};

SampleAndAggregate aggregate_with(const Ratio& epsilon, std::uint64_t blocks,
                                  BlockAggregate aggregate = BlockAggregate::kMean,
                                  Relation relation = Relation::kAddRemove) {
  return SampleAndAggregate({.lower = 0,
                             .upper = 1,
                             .blocks = blocks,
                             .epsilon = epsilon,
                             .relation = relation,
                             .aggregate = aggregate});
}

/// 1 where a block has a record, else `otherwise`.
BlockProgram any_record(std::uint64_t records, double otherwise = 0) {
  return {records, [=](Positions block) { return Data{block.empty() ? otherwise : 1.0}; }};
}

TEST(SampleAndAggregate, RejectsOptionsOutsideTheirRange) {
  EXPECT_ERROR(aggregate_with(0, 4), ErrorCode::kInvalidOption);
  EXPECT_ERROR(aggregate_with(1, 0), ErrorCode::kInvalidOption);
  EXPECT_ERROR(aggregate_with(1, 4, BlockAggregate::kMean, Relation::kNode),
               ErrorCode::kInvalidOption);
  EXPECT_ERROR(BlockKMeans({.k = 0u,
                            .dimension = 1u,
                            .lower = 0,
                            .upper = 1,
                            .blocks = 4u,
                            .epsilon = 1,
                            .relation = Relation::kReplace}),
               ErrorCode::kInvalidOption);
  EXPECT_ERROR(SubsampleStability({.epsilon = 1, .delta = Ratio(2, 3)}), ErrorCode::kInvalidOption);
  EXPECT_ERROR(SubsampleStability({.epsilon = 1, .delta = Ratio(1, 3), .gap = -1}),
               ErrorCode::kInvalidOption);
}

TEST(SampleAndAggregate, PassesTheContractBattery) {
  for (const Relation relation : kBoth) {
    for (const BlockAggregate aggregate : {BlockAggregate::kMean, BlockAggregate::kMedian}) {
      testing::expect_contract(aggregate_with(1, 4, aggregate, relation), any_record(9),
                               any_record(0));
      EXPECT_EQ(pure_epsilon(aggregate_with(1, 4, aggregate, relation).event()), 1);
    }
    const Data points = {1, 2, NAN, INFINITY, 5};
    testing::expect_contract(BlockKMeans({.k = 2u,
                                          .dimension = 2u,
                                          .lower = 0,
                                          .upper = 5,
                                          .blocks = 3u,
                                          .epsilon = 1,
                                          .relation = relation}),
                             std::span<const double>(points), std::span<const double>());
  }
  const auto first = [](Positions p) { return p.empty() ? 0 : static_cast<std::int64_t>(p[0]); };
  testing::expect_contract(SubsampleStability({.epsilon = 1, .delta = Ratio(1, 10)}),
                           RecordProgram{5, first}, RecordProgram{0, first});
}

TEST(SampleAndAggregate, IsTheAverageOfTheBlocksWithNoiseOfOneOfThem) {
  const SampleAndAggregate mechanism = aggregate_with(1, 50);
  SeededBits bits(1);
  // 1000 records in 50 blocks: no block is empty but with probability 1e-7.
  int kept = 0;
  double size = 0;
  for (int i = 0; i < 4000; ++i) {
    const double error = std::abs(release_once(mechanism, any_record(1000), bits)[0] - 1);
    kept += error <= mechanism.accuracy().half_width ? 1 : 0;
    size += error / 4000;
  }
  EXPECT_GE(kept, 4000 * 0.93);  // a promise of 95 % fails this with probability 1e-8
  EXPECT_LE(kept, 4000 * 0.97);
  EXPECT_NEAR(size, 1.0 / 50, 0.1 / 50);  // mean size of Laplace noise is its scale
}

// n^0.4 blocks and noise (width / blocks) / epsilon, where the mean itself has width / n: n^0.6 times.
TEST(SampleAndAggregate, HasAsMuchMoreNoiseThanAMeanAsPublished) {
  constexpr double kRecords = 1e5;
  const SampleAndAggregate blocks =
      aggregate_with(1, static_cast<std::uint64_t>(std::pow(kRecords, 0.4)));
  const Laplace direct({.l1_sensitivity = Ratio(1, 100'000), .scale = Ratio(1, 100'000)});
  EXPECT_NEAR(blocks.accuracy().half_width / direct.accuracy().half_width, std::pow(kRecords, 0.6),
              0.001 * std::pow(kRecords, 0.6));
}

// Equal parts of a shuffled list would never put both records into one block; they are private for
// a public number of records only.
TEST(SampleAndAggregate, GivesEveryRecordABlockOfItsOwnChance) {
  SeededBits bits(2);
  int together = 0;
  for (int i = 0; i < 4000; ++i) {
    const BlockProgram program{2, [&](Positions block) {
                                 together += block.size() == 2 ? 1 : 0;
                                 return Data{0};
                               }};
    release_once(aggregate_with(1, 2), program, bits);
  }
  EXPECT_NEAR(together, 2000, 170);  // five standard deviations
}

TEST(SampleAndAggregate, TakesWhateverAProgramDoesForTheMiddleOfTheRange) {
  SeededBits bits(3);
  const SampleAndAggregate mechanism = aggregate_with(1000, 1000);
  const auto answer = [&](const std::function<Data(Positions)>& program) {
    return release_once(mechanism, BlockProgram{100, program}, bits)[0];
  };
  EXPECT_NEAR(answer([](Positions) -> Data { throw std::runtime_error("no"); }), 0.5, 1e-3);
  EXPECT_NEAR(answer([](Positions) { return Data{}; }), 0.5, 1e-3);
  EXPECT_NEAR(answer([](Positions) { return Data{NAN, 7}; }), 0.5, 1e-3);
  EXPECT_NEAR(answer([](Positions) { return Data{1e300}; }), 1, 1e-3);
  EXPECT_NEAR(answer([](Positions) { return Data{-INFINITY}; }), 0, 1e-3);
}

TEST(SampleAndAggregate, SurvivesTheAuditThatCatchesTooLittleNoise) {
  const auto audit = [&](const Ratio& epsilon, BlockAggregate aggregate, double otherwise) {
    const SampleAndAggregate mechanism = aggregate_with(epsilon, 3, aggregate);
    const auto at = [&mechanism, otherwise](std::uint64_t records) {
      return [&mechanism, otherwise, records](BitSource& bits) {
        return release_once(mechanism, any_record(records, otherwise), bits)[0];
      };
    };
    return testing::audited_epsilon(at(0), at(1), {.trials = 20'000});
  };
  EXPECT_LE(audit(1, BlockAggregate::kMean, 0), 1);
  EXPECT_GT(audit(2, BlockAggregate::kMean, 0), 1);
  // Three blocks at the middle, or one of them at the upper end.
  EXPECT_LE(audit(1, BlockAggregate::kMedian, 0.5), 1);
  EXPECT_GT(audit(6, BlockAggregate::kMedian, 0.5), 1);
}

// One record may move all k centres in all d coordinates: noise of k d width / (blocks epsilon).
TEST(BlockKMeans, HasNoiseForAllCoordinatesOfAllCentres) {
  const BlockKMeans mechanism({.k = 3u,
                               .dimension = 2u,
                               .lower = 0,
                               .upper = 12,
                               .blocks = 10u,
                               .epsilon = 1,
                               .relation = Relation::kReplace});
  SeededBits bits(4);
  // With no points every block answers with the middle.
  double size = 0;
  for (int i = 0; i < 2000; ++i) {
    const Data centres = release_once(mechanism, std::span<const double>(), bits);
    for (std::size_t j = 0; j < 6; ++j) size += std::abs(centres[j] - 6) / 12'000;
  }
  EXPECT_NEAR(size, 3 * 2 * 12 / 10.0, 0.4);  // 6 standard deviations
}

TEST(BlockKMeans, FindsGroupsInTheSameOrderInEveryBlock) {
  SeededBits bits(5);
  Data points;
  for (int i = 0; i < 3000; ++i) {  // about (9, 1) and (1, 9), in turns
    const double wobble = 0.001 * (i % 500);
    points.push_back((i % 2 == 0 ? 9 : 1) + wobble);
    points.push_back((i % 2 == 0 ? 1 : 9) + wobble);
  }
  const BlockKMeans mechanism({.k = 2u,
                               .dimension = 2u,
                               .lower = 0,
                               .upper = 10,
                               .blocks = 30u,
                               .epsilon = 100,
                               .relation = Relation::kReplace});
  const Data centres = release_once(mechanism, std::span<const double>(points), bits);
  const Data expected = {1.25, 9.25, 9.25, 1.25};
  for (std::size_t j = 0; j < 4; ++j) EXPECT_NEAR(centres[j], expected[j], 0.5);
}

/// The largest value among those taken, 0 for none: as unstable as can be.
RecordProgram largest_of(const std::vector<std::int64_t>& values) {
  return {values.size(), [&values](Positions positions) {
            std::int64_t largest = 0;
            for (const std::uint64_t p : positions) largest = std::max(largest, values[p]);
            return largest;
          }};
}

TEST(SubsampleStability, ReleasesAStableAnswer) {
  const SubsampleStability mechanism({.epsilon = 1, .delta = Ratio(1, 1000)});
  // 64 ln 1000 = 442.1, and three gaps times ln(200,000) = 12.2.
  EXPECT_NEAR(static_cast<double>(mechanism.subsamples(200)), 3 * 443 * std::log(200'000), 1);
  const std::vector<std::int64_t> same(200, 7);
  const RecordProgram constant{200, [](Positions) { return std::int64_t{7}; }};
  SeededBits bits(6);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(release_once(mechanism, constant, bits), 7);
  // A subsample is empty more often than not: no answer has three quarters.
  const RecordProgram maximum = largest_of(same);
  int released = 0;
  for (int i = 0; i < 20; ++i) released += release_once(mechanism, maximum, bits) == 7 ? 1 : 0;
  EXPECT_EQ(released, 0);
}

TEST(SubsampleStability, TakesEveryRecordAsOftenAsTheGapSays) {
  const SubsampleStability mechanism(
      {.epsilon = 1, .delta = Ratio(1, 10), .gap = 5, .subsamples = 2000});
  std::vector<int> taken(30, 0);
  const RecordProgram program{30, [&](Positions positions) {
                                for (const std::uint64_t p : positions) ++taken[p];
                                return std::int64_t{0};
                              }};
  SeededBits bits(7);
  release_once(mechanism, program, bits);
  const double rate = 1 - std::exp(-1.0 / 5);
  for (const int count : taken) EXPECT_NEAR(count, 2000 * rate, 6 * std::sqrt(2000 * rate));
}

// Half of each subsample's answers hang on one record. Counting subsamples as if they were people
// is caught.
TEST(SubsampleStability, SurvivesTheAuditThatCatchesSubsamplesTakenForPeople) {
  const std::vector<std::int64_t> before = {1, 0, 0};
  const std::vector<std::int64_t> after = {0, 0, 0};
  const testing::AuditOptions options{.trials = 10'000, .delta = 0.01};
  const SubsampleStability mechanism(
      {.epsilon = 1, .delta = Ratio(1, 100), .gap = Ratio(1, 2), .subsamples = 40});
  const auto at = [&](const std::vector<std::int64_t>& values) {
    return [&](BitSource& bits) {
      return static_cast<double>(release_once(mechanism, largest_of(values), bits).value_or(-1));
    };
  };
  EXPECT_LE(testing::audited_epsilon(at(before), at(after), options), 1);

  const StableMode votes({.epsilon = 1, .delta = Ratio(1, 100), .relation = Relation::kReplace});
  const auto broken = [&](const std::vector<std::int64_t>& values) {
    return [&](BitSource& bits) {
      std::vector<std::int64_t> answers;
      for (int i = 0; i < 40; ++i) answers.push_back((bits.next() >> 61) != 0 ? values[0] : 0);
      return static_cast<double>(
          release_once(votes, std::span<const std::int64_t>(answers), bits).value_or(-1));
    };
  };
  EXPECT_GT(testing::audited_epsilon(broken(before), broken(after), options), 1);
}

}  // namespace
}  // namespace gauze
