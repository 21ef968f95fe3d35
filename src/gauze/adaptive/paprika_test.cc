#include "gauze/adaptive/paprika.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "gauze/accounting/loss.h"
#include "gauze/testing/audit.h"
#include "gauze/testing/contract.h"
#include "gauze/testing/matchers.h"
#include "gauze/testing/published_paprika.h"
#include "gauze/testing/seeded_bits.h"

namespace gauze {
namespace {

using testing::PublishedPaprika;
using testing::release_once;
using testing::SeededBits;
using Data = std::vector<double>;
using Values = std::span<const double>;

Paprika paprika(const Ratio& epsilon, std::uint64_t rejections = 1, std::uint64_t tests = 300) {
  return Paprika({.rate = 0.2,
                  .log_sensitivity = Ratio(1, 10),
                  .floor = ratio_of_decimal(1e-12),
                  .rejections = rejections,
                  .tests = tests,
                  .epsilon = epsilon});
}

TEST(Paprika, RejectsOptionsOutsideTheirRange) {
  EXPECT_ERROR(paprika(0), ErrorCode::kInvalidOption);
  EXPECT_ERROR(paprika(1, 0), ErrorCode::kInvalidOption);
  EXPECT_ERROR(paprika(1, 1, 0), ErrorCode::kInvalidOption);
  for (const double rate : {0.0, 1.0}) {
    EXPECT_ERROR(Paprika({.rate = rate,
                          .log_sensitivity = 1,
                          .floor = Ratio(1, 2),
                          .rejections = 1u,
                          .tests = 1u,
                          .epsilon = 1}),
                 ErrorCode::kInvalidOption);
  }
  EXPECT_ERROR(Paprika({.rate = 0.1,
                        .log_sensitivity = 1,
                        .floor = 0,
                        .rejections = 1u,
                        .tests = 1u,
                        .epsilon = 1}),
               ErrorCode::kInvalidOption);
  const Data too_many(301, 0.5);
  SeededBits bits(1);
  EXPECT_ERROR(release_once(paprika(1), Values(too_many), bits), ErrorCode::kInvalidInput);
}

TEST(Paprika, PassesTheContractBattery) {
  const Data one = {0.1, 1e-300, NAN, -1, 2};
  const Data other(300, 0);
  testing::expect_contract(paprika(1), Values(one), Values(other));
  EXPECT_EQ(pure_epsilon(paprika(3).event()), 3);
}

// With no noise and no shift the published rule is SAFFRON with twice the lambda: the cap of 1/4 is
// not reached.
TEST(PublishedPaprika, HasThePublishedLevelsWithoutNoiseAndShift) {
  const PublishedPaprika published({.rejections = 8});
  const Data p = {1e-4, 0.6, 5e-5, 0.02, 0.9, 0.001, 0.3, 5e-4};
  const Data levels = {0.00548455, 0.01096910, 0.00361845, 0.01458755,
                       0.01458755, 0.00550982, 0.01647892, 0.01647892};
  const auto trace = published.run(
      p, [](double) { return 0.0; }, 0);
  for (std::size_t t = 0; t < 8; ++t) EXPECT_NEAR(trace.levels[t], levels[t], 5e-9) << t;
  EXPECT_EQ(trace.rejected, (std::vector<bool>{1, 0, 1, 0, 0, 1, 0, 1}));
}

TEST(PublishedPaprika, HasThePublishedShiftAndScales) {
  const PublishedPaprika published({.log_sensitivity = std::sqrt(std::log(1000) / 1000),
                                    .rejections = 40,
                                    .tests = 800,
                                    .epsilon = 5,
                                    .delta = 2.5e-4});
  EXPECT_NEAR(published.shift(), 5.24515, 5e-6);
  EXPECT_NEAR(published.threshold_scale(), 1.32981, 5e-6);
  EXPECT_NEAR(published.test_scale(), 2.65961, 5e-6);
}

/// Fifty p-values at the edge of candidacy, which one record moves to either side by half of the log
/// sensitivity, and then one that is rejected if the fifty were candidates.
Data at_the_edge(double side, double last) {
  Data p(50, 0.5 * std::exp(side * 0.05));
  p.push_back(last);
  return p;
}

// Claimed: epsilon 1 at delta 2.5e-4. Shown: many times that. The levels of the two worlds are 0.0055
// and 1/540 of it, though no p-value differs by more than a factor of e^0.1.
TEST(Paprika, SurvivesTheAuditThatCatchesPublishedCandidacy) {
  const testing::AuditOptions options{.trials = 20'000, .delta = 2.5e-4};
  const PublishedPaprika published({.log_sensitivity = 0.1, .tests = 51});
  const double last = 0.0055 * std::exp(-published.shift() - 2);
  const auto broken = [&](double side) {
    return [&published, data = at_the_edge(side, last)](BitSource& bits) {
      return published.run(data, bits).rejected.back() ? 1.0 : 0.0;
    };
  };
  EXPECT_GT(testing::audited_epsilon(broken(-1), broken(1), options), 5);

  const Paprika ours = paprika(1);
  for (const double p : {last, 0.5 * std::exp(-ours.shift()) * 1e-3}) {
    const auto sound = [&](double side) {
      return [&ours, data = at_the_edge(side, p * std::exp(side * 0.05))](BitSource& bits) {
        const auto decisions = release_once(ours, Values(data), bits);
        return static_cast<double>(std::find(decisions.begin(), decisions.end(), true) -
                                   decisions.begin());
      };
    };
    EXPECT_LE(testing::audited_epsilon(sound(-1), sound(1), options), 1);
  }
}

// All tests on the threshold at once is where noise matters most; a sensitivity of a fifth is caught.
TEST(Paprika, SurvivesTheAuditThatCatchesTooSmallASensitivity) {
  const auto audit = [](const Ratio& sensitivity) {
    const Paprika mechanism({.rate = 0.2,
                             .log_sensitivity = sensitivity,
                             .floor = ratio_of_decimal(1e-30),
                             .rejections = 1u,
                             .tests = 20u,
                             .epsilon = 1});
    const auto at = [&mechanism](double side) {
      Data p;
      LordPlusPlus levels({.rate = 0.18, .spending = Spending(1.6, 20)});
      for (int t = 0; t < 20; ++t) {
        p.push_back(levels.level() * std::exp(-mechanism.shift() + (t == 19 ? -side : side) * 0.5));
        levels.record(false);
      }
      return [&mechanism, p](BitSource& bits) {
        const auto decisions = release_once(mechanism, Values(p), bits);
        return static_cast<double>(std::find(decisions.begin(), decisions.end(), true) -
                                   decisions.begin());
      };
    };
    return testing::audited_epsilon(at(-1), at(1), {.trials = 60'000});
  };
  EXPECT_LE(audit(1), 1);
  EXPECT_GT(audit(Ratio(1, 5)), 1);
}

TEST(Paprika, FindsWhatIsClearAndFewFalseDiscoveries) {
  const Paprika mechanism = paprika(2, 10, 300);
  SeededBits bits(2);
  const auto uniform = [&] { return (static_cast<double>(bits.next() >> 11) + 0.5) * 0x1p-53; };
  double share = 0;
  int found = 0;
  constexpr int kRuns = 200;
  for (int run = 0; run < kRuns; ++run) {
    Data p;
    for (int t = 0; t < 300; ++t) p.push_back(t % 30 == 29 ? 1e-15 : uniform());
    const auto decisions = release_once(mechanism, Values(p), bits);
    int wrong = 0;
    int right = 0;
    for (std::size_t t = 0; t < decisions.size(); ++t) {
      if (decisions[t]) ++(t % 30 == 29 ? right : wrong);
    }
    found += right;
    share += static_cast<double>(wrong) / std::max(1, right + wrong) / kRuns;
    EXPECT_LE(right + wrong, 10);
  }
  EXPECT_LE(share, 0.2);        // the promise; the mean of 200 shares is below 0.01
  EXPECT_GE(found, kRuns * 8);  // of ten
}

TEST(Paprika, CountsWhatIsNoNumberAsOneAndTinyOnesAsTheFloor) {
  const Paprika mechanism = paprika(1000, 3, 300);
  SeededBits bits(3);
  const auto decisions =
      release_once(mechanism, Values(Data{NAN, INFINITY, 0, -INFINITY, 1e-300, 1e-300}), bits);
  EXPECT_EQ(decisions, (std::vector<bool>{0, 0, 1, 1, 1, 0}));
}

}  // namespace
}  // namespace gauze
