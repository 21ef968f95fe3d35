#include "gauze/mechanism/mode.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "gauze/accounting/loss.h"
#include "gauze/testing/audit.h"
#include "gauze/testing/contract.h"
#include "gauze/testing/matchers.h"
#include "gauze/testing/seeded_bits.h"
#include "gauze/testing/statistics.h"

namespace gauze {
namespace {

using testing::max_log_ratio;
using testing::release_once;
using testing::SeededBits;
using Data = std::vector<double>;

Mode mode(const Ratio& epsilon, Relation relation) {
  return Mode({.lower = std::int64_t{0},
               .upper = std::int64_t{4},
               .epsilon = epsilon,
               .relation = relation});
}

TEST(Mode, RejectsOptionsOutsideTheirRange) {
  EXPECT_ERROR(mode(0, Relation::kReplace), ErrorCode::kInvalidOption);
  EXPECT_ERROR(mode(1, Relation::kLocal), ErrorCode::kInvalidOption);
  EXPECT_ERROR(Mode({.lower = std::int64_t{4},
                     .upper = std::int64_t{4},
                     .epsilon = 1,
                     .relation = Relation::kReplace}),
               ErrorCode::kInvalidOption);
}

TEST(Mode, ChoosesWithThePublishedProbabilities) {
  const std::vector<std::int64_t> data = {1, 2, 2, 4, 77, -1};  // the last two support no value
  const std::vector<double> monotone = {.067451, .183350, .498398, .067451, .183350};
  const std::vector<double> general = {.124755, .205686, .339119, .124755, .205686};
  const auto counts = [&](Relation relation) {
    SeededBits bits(8);
    std::vector<std::uint64_t> seen(5);
    for (int i = 0; i < 30000; ++i) {
      const auto value = release_once(mode(1, relation), std::span<const std::int64_t>(data), bits);
      ++seen[static_cast<std::size_t>(value)];
    }
    return seen;
  };
  EXPECT_GT(testing::chi_square_p(counts(Relation::kAddRemove), monotone), 1e-6);
  EXPECT_GT(testing::chi_square_p(counts(Relation::kReplace), general), 1e-6);
  EXPECT_LT(testing::chi_square_p(counts(Relation::kReplace), monotone), 1e-6);
}

TEST(Mode, IsPrivateOnEveryPairOfSmallDataSets) {
  const auto probabilities = [](const Data& data, double rate) {
    std::vector<double> p(4);
    double total = 0;
    for (int x = 0; x < 4; ++x) {
      const auto n = std::count(data.begin(), data.end(), x);
      total += p[static_cast<std::size_t>(x)] = std::exp(rate * static_cast<double>(n));
    }
    for (double& mass : p) mass /= total;
    return p;
  };
  double add = 0;
  double replace = 0;
  double monotone_under_replace = 0;
  testing::for_all_data(3, 3, [&](const Data& data) {
    for (int x = 0; x < 4; ++x) {
      Data more = data;
      more.push_back(x);
      add = std::max(add, max_log_ratio(probabilities(data, 1), probabilities(more, 1)));
      for (int y = 0; y < 4; ++y) {
        Data other = data;
        other.push_back(y);
        replace =
            std::max(replace, max_log_ratio(probabilities(more, 0.5), probabilities(other, 0.5)));
        monotone_under_replace = std::max(
            monotone_under_replace, max_log_ratio(probabilities(more, 1), probabilities(other, 1)));
      }
    }
  });
  EXPECT_LE(add, 1);
  EXPECT_LE(replace, 1);
  EXPECT_GT(monotone_under_replace, 1);
}

TEST(Mode, FindsAClearModeInAnEnormousDomain) {
  const Mode mechanism(
      {.lower = INT64_MIN, .upper = INT64_MAX, .epsilon = 1, .relation = Relation::kAddRemove});
  EXPECT_NEAR(mechanism.accuracy().half_width, std::log(0x1p64 / 0.05), 1e-6);
  std::vector<std::int64_t> data(200, INT64_MAX);
  data.push_back(INT64_MIN);
  SeededBits bits(10);
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(release_once(mechanism, std::span<const std::int64_t>(data), bits), INT64_MAX);
  }
  // Without data any value comes, also ones near both ends.
  std::int64_t lowest = INT64_MAX;
  for (int i = 0; i < 100; ++i) {
    lowest = std::min(lowest, release_once(mechanism, std::span<const std::int64_t>(), bits));
  }
  EXPECT_LT(lowest, INT64_MIN / 4 * 3);
}

}  // namespace
}  // namespace gauze
