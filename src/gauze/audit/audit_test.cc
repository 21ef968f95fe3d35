#include "gauze/audit/audit.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>

#include "gauze/audit/divergence.h"
#include "gauze/audit/pairs.h"
#include "gauze/audit/statistic.h"
#include "gauze/numeric/infinity.h"
#include "gauze/random/uniform.h"
#include "gauze/testing/audit_options.h"
#include "gauze/testing/matchers.h"
#include "gauze/testing/seeded_bits.h"

namespace gauze::audit {
namespace {

using gauze::testing::audit_options;
using gauze::testing::SeededBits;
using ::testing::HasSubstr;

/// P(x) proportional to p^|x| on the integers: epsilon = ln(1/p) for a count.
int two_sided_geometric(BitSource& bits, const Ratio& p) {
  const auto one_sided = [&] {
    int x = 0;
    while (bernoulli(bits, p)) ++x;
    return x;
  };
  return one_sided() - one_sided();
}

const Ratio kHalf(1, 2);
const double kLn2 = std::log(2.0);

std::vector<Neighbours<int>> one_more() {
  return {{"three and four", 3, 4}};
}

Subject noisy_count(double claimed) {
  return subject_of("count", Claim::approximate(claimed), one_more(),
                    [](int n, BitSource& bits) { return n + two_sided_geometric(bits, kHalf); });
}

// An accusation of a sound mechanism has probability 1e-3 at most in each test below.
TEST(Audit, FindsNothingWhereTheClaimIsTrueAndComesClose) {
  const Report report = audit(noisy_count(kLn2), audit_options(1, 400'000));
  EXPECT_FALSE(report.violation());
  EXPECT_LE(report.finding.epsilon, kLn2);
  EXPECT_GT(report.finding.epsilon, 0.93 * kLn2);
  EXPECT_LE(report.runs, 400'000u);
}

TEST(Audit, RefutesAClaimThatIsATenthTooSmallAndStopsEarly) {
  const Report report = audit(noisy_count(0.9 * kLn2), audit_options(2, 1'000'000));
  EXPECT_TRUE(report.violation());
  EXPECT_GT(report.finding.epsilon, 0.9 * kLn2);
  EXPECT_LE(report.finding.epsilon, kLn2);
  const Report gross = audit(noisy_count(0.1), audit_options(3, 1'000'000));
  EXPECT_TRUE(gross.violation());
  EXPECT_LT(gross.runs, 50'000u);
}

// The chance of an accusation is 0.1; of 200 sound audits more than 40 accuse with probability below
// 1e-5 even if it were all used up.
TEST(Audit, AccusesTheInnocentNoMoreOftenThanItSays) {
  int accused = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Options options = audit_options(seed, 4000);
    options.confidence = 0.9;
    accused += audit(noisy_count(kLn2), options).violation() ? 1 : 0;
  }
  EXPECT_LE(accused, 40);
}

TEST(Audit, FindsTheOnePairThatTells) {
  std::vector<Neighbours<int>> pairs;
  for (int i = 0; i < 12; ++i) pairs.push_back({"pair " + std::to_string(i), i, i + 1});
  const Subject subject = subject_of(
      "forgets its noise at 7", Claim::approximate(1), pairs,
      [](int n, BitSource& bits) { return n == 7 ? 7 : n + two_sided_geometric(bits, kHalf); });
  const Report report = audit(subject, audit_options(4, 200'000));
  EXPECT_TRUE(report.violation());
  EXPECT_THAT(report.pairs[report.finding.pair].name, ::testing::AnyOf("pair 6", "pair 7"));
}

TEST(Audit, AllowsDeltaAndRefutesHalfOfIt) {
  // Says the truth with probability 1/50, else nothing.
  const auto subject = [](double delta) {
    return subject_of("leak", Claim::approximate(0, delta), one_more(),
                      [](int n, BitSource& bits) { return bernoulli(bits, Ratio(1, 50)) ? n : 0; });
  };
  EXPECT_FALSE(audit(subject(0.02), audit_options(5, 200'000)).violation());
  const Report report = audit(subject(0.01), audit_options(5, 200'000));
  EXPECT_TRUE(report.violation());
  EXPECT_EQ(report.finding.claimed.delta, 0.01);
}

TEST(Audit, HoldsAWholePrivacyCurveAgainstTheRuns) {
  const Event event{events::DiscreteLaplace{Ratio(1), Ratio(1)}, Relation::kAddRemove};
  const auto noised = [](double scale) {
    return [p = Ratio(std::exp(-1 / scale))](int n, BitSource& bits) {
      return n + two_sided_geometric(bits, p);
    };
  };
  const Claim claim = Claim::of(event);
  EXPECT_GT(claim.points.size(), 3u);
  EXPECT_FALSE(audit(subject_of("right", claim, one_more(), noised(1)), audit_options(6, 200'000))
                   .violation());
  EXPECT_TRUE(
      audit(subject_of("too little", claim, one_more(), noised(0.75)), audit_options(6, 200'000))
          .violation());
}

TEST(Audit, SeesVectorsAsAWhole) {
  // Each of eight coordinates is noised for itself alone, though one person moves them all.
  const std::vector<Neighbours<std::vector<double>>> pairs = {
      {"zeros and ones", std::vector<double>(8, 0), std::vector<double>(8, 1)}};
  const auto run = [](const std::vector<double>& x, BitSource& bits) {
    std::vector<double> noisy = x;
    for (double& each : noisy) each += two_sided_geometric(bits, Ratio(3, 4));
    return noisy;
  };
  const double each = std::log(4.0 / 3);
  EXPECT_TRUE(audit(subject_of("per coordinate", Claim::approximate(2 * each), pairs, run),
                    audit_options(7, 30'000))
                  .violation());
  EXPECT_FALSE(audit(subject_of("together", Claim::approximate(8 * each), pairs, run),
                     audit_options(7, 30'000))
                   .violation());
}

TEST(Audit, ReadsTexts) {
  const auto run = [](int n, BitSource& bits) -> std::string {
    if (bernoulli(bits, Ratio(1, 2))) return "none";
    return "keys: pear;" + std::string(n == 4 && bernoulli(bits, Ratio(1, 4)) ? "rare" : "plum");
  };
  const Report report =
      audit(subject_of("words", Claim::approximate(1), one_more(), run), audit_options(8, 100'000));
  EXPECT_TRUE(report.violation());
  EXPECT_THAT(report.finding.event, HasSubstr("rare"));
}

TEST(Audit, ComparesOutputsOfDifferentKinds) {
  const auto run = [](int n, BitSource& bits) -> std::vector<double> {
    return std::vector<double>(n == 3 ? 2 : 3, two_sided_geometric(bits, kHalf));
  };
  EXPECT_TRUE(
      audit(subject_of("length", Claim::approximate(1), one_more(), run), audit_options(9, 20'000))
          .violation());
}

// Runs that were judged by the runs beside them would not be independent.
TEST(Statistic, DependsOnItsOutputAlone) {
  SeededBits bits(4);
  const auto sample = [&] {
    Outputs outputs;
    for (int i = 0; i < 500; ++i) {
      const std::uint64_t word = bits.next();
      outputs.add(std::vector{static_cast<double>(word & 7) / 3, static_cast<double>(word >> 61)});
    }
    return outputs;
  };
  const Outputs first = sample();
  const Outputs second = sample();
  Outputs mixed = first;
  mixed.add("another kind");
  for (const Statistic& statistic : fit_statistics(first, second)) {
    const std::vector<double> alone = statistic.of(first);
    std::vector<double> beside = statistic.of(mixed);
    beside.pop_back();
    EXPECT_EQ(alone, beside) << statistic.name;
  }
}

TEST(Audit, HoldsTheSameRowsToNothingAtAll) {
  const std::vector<Neighbours<std::vector<double>>> pairs = {
      {"another order", {1, 2, 3}, {3, 2, 1}, /*same=*/true}};
  const auto first_row = [](const std::vector<double>& rows, BitSource& bits) {
    return rows[0] + two_sided_geometric(bits, Ratio(3, 4));
  };
  EXPECT_TRUE(audit(subject_of("first", Claim::approximate(5), pairs, first_row),
                    audit_options(10, 100'000))
                  .violation());
  const auto sum = [](const std::vector<double>& rows, BitSource& bits) {
    return rows[0] + rows[1] + rows[2] + two_sided_geometric(bits, Ratio(3, 4));
  };
  EXPECT_FALSE(
      audit(subject_of("sum", Claim::approximate(5), pairs, sum), audit_options(10, 100'000))
          .violation());
}

// Doubles: noise of any size is added to 0 or to 1, and the last bit tells which.
TEST(Audit, SeesTheLastBinaryDigit) {
  const std::vector<Neighbours<double>> pairs = {{"zero and one", 0.0, 1.0}};
  const auto run = [](double x, BitSource& bits) {
    const double u = std::ldexp(static_cast<double>(bits.next() >> 11) + 1, -53);
    return x + (bits.next() % 2 == 0 ? 1 : -1) * 10 * std::log(u);
  };
  const Report report =
      audit(subject_of("doubles", Claim::approximate(1), pairs, run), audit_options(11, 400'000));
  EXPECT_TRUE(report.violation());
  EXPECT_THAT(report.finding.event, HasSubstr("last binary digit"));
}

// A generator with 2^20 states: outputs are seen again, and from one input only.
TEST(Audit, SeesHolesInTheSupport) {
  const std::vector<Neighbours<double>> pairs = {{"zero and a third", 0.0, 1.0 / 3}};
  const auto run = [](double x, BitSource& bits) {
    const double u = std::ldexp(static_cast<double>(bits.next() >> 44) + 1, -20);
    const double noise = (bits.next() % 2 == 0 ? 1 : -1) * 10 * std::log(u);
    return std::ldexp(std::floor(std::ldexp(x + noise, 40)), -40);
  };
  EXPECT_TRUE(
      audit(subject_of("holes", Claim::approximate(1), pairs, run), audit_options(12, 2'000'000))
          .violation());
}

TEST(Audit, IsTheSameOnAnyNumberOfThreads) {
  Options one = audit_options(13, 100'000);
  one.threads = 1;
  Options three = one;
  three.threads = 3;
  const Report a = audit(noisy_count(kLn2), one);
  const Report b = audit(noisy_count(kLn2), three);
  EXPECT_EQ(a.finding.likely.hits, b.finding.likely.hits);
  EXPECT_EQ(a.finding.event, b.finding.event);
  EXPECT_EQ(a.finding.epsilon, b.finding.epsilon);
}

TEST(Audit, ComputesWhereProbabilitiesAreKnown) {
  // Two-coin randomised response: ln 3, computed by hand.
  Subject subject{.name = "response",
                  .claim = Claim::approximate(1.0986),
                  .pairs = {{"no and yes", "0", "1"}},
                  .draw = {},
                  .probabilities = [](std::size_t, Side side) {
                    return side == Side::kFirst ? std::vector<double>{0.75, 0.25}
                                                : std::vector<double>{0.25, 0.75};
                  }};
  const Report refuted = audit(subject);
  EXPECT_TRUE(refuted.violation());
  EXPECT_NEAR(refuted.finding.epsilon, std::log(3.0), 1e-12);
  EXPECT_EQ(refuted.runs, 0u);
  subject.claim = Claim::approximate(std::log(3.0));
  EXPECT_FALSE(audit(subject).violation());
  subject.claim = Claim::approximate(0, 0.5);
  EXPECT_FALSE(audit(subject).violation());
  subject.claim = Claim::approximate(0, 0.499);
  EXPECT_TRUE(audit(subject).violation());
}

TEST(Audit, RefusesOptionsOutsideTheirRange) {
  EXPECT_ERROR(audit(noisy_count(1), {.runs = 999}), ErrorCode::kInvalidOption);
  EXPECT_ERROR(audit(noisy_count(1), {.confidence = 1}), ErrorCode::kInvalidOption);
  EXPECT_ERROR(Claim::approximate(-1), ErrorCode::kInvalidOption);
  EXPECT_ERROR(Claim::approximate(1, 1), ErrorCode::kInvalidOption);
  Subject none = noisy_count(1);
  none.pairs.clear();
  EXPECT_ERROR(audit(none), ErrorCode::kInvalidOption);
}

TEST(Audit, PassesOnWhatTheMechanismThrows) {
  const auto run = [](int, BitSource&) -> double { throw Error(ErrorCode::kInvalidInput, "no"); };
  EXPECT_ERROR(audit(subject_of("throws", Claim::approximate(1), one_more(), run)),
               ErrorCode::kInvalidInput);
}

TEST(EpsilonOneWay, IsTheSmallestEpsilonWithThatDelta) {
  const std::vector<double> p = {0.5, 0.3, 0.2, 0};
  const std::vector<double> q = {0.1, 0.3, 0.4, 0.2};
  EXPECT_NEAR(epsilon_one_way(p, q, 0), std::log(5.0), 1e-12);
  for (const double delta : {0.05, 0.1, 0.3}) {
    const double epsilon = epsilon_one_way(p, q, delta);
    double at = 0;
    for (std::size_t i = 0; i < p.size(); ++i) at += std::max(0.0, p[i] - std::exp(epsilon) * q[i]);
    EXPECT_NEAR(at, delta, 1e-12);
  }
  EXPECT_TRUE(std::isinf(epsilon_one_way(q, p, 0.1)));
  EXPECT_EQ(epsilon_one_way(p, p, 0), 0);
}

TEST(Rule, ReadsWell) {
  const Statistic statistic{.name = "the output", .of = {}};
  EXPECT_EQ(describe(Rule{statistic, 3, 3}), "the output is 3");
  EXPECT_EQ(describe(Rule{statistic, 1.0 / 3, kInfinity}), "the output is at least 0.333333");
  EXPECT_EQ(describe(Rule{statistic, -kInfinity, 2}), "the output is at most 2");
  EXPECT_EQ(describe(Rule{statistic, std::nextafter(0.0, 1), std::nextafter(4.0, 0)}),
            "the output is above 0 and below 4");
}

// Every library holds neighbours only: people under their relation, vectors within their norm.
TEST(Pairs, AreNeighbours) {
  for (const auto& pair : people(-2, 5, Relation::kAddRemove)) {
    if (pair.same) {
      EXPECT_TRUE(std::is_permutation(pair.first.begin(), pair.first.end(), pair.second.begin()));
      continue;
    }
    EXPECT_EQ(pair.first.size() + 1, pair.second.size()) << pair.name;
    EXPECT_TRUE(std::equal(pair.first.begin(), pair.first.end(), pair.second.begin())) << pair.name;
  }
  for (const auto& pair : people(-2, 5, Relation::kReplace)) {
    ASSERT_EQ(pair.first.size(), pair.second.size()) << pair.name;
    if (pair.same) continue;
    EXPECT_TRUE(std::equal(pair.first.begin(), pair.first.end() - 1, pair.second.begin()))
        << pair.name;
  }
  for (const bool monotone : {true, false}) {
    for (const auto& pair : scores(5, 2, monotone, 10)) {
      double up = 0;
      double down = 0;
      for (std::size_t i = 0; i < 5; ++i) {
        up = std::max(up, pair.second[i] - pair.first[i]);
        down = std::max(down, pair.first[i] - pair.second[i]);
      }
      EXPECT_LE(std::max(up, down), 2) << pair.name;
      EXPECT_TRUE(!monotone || std::min(up, down) == 0) << pair.name;
    }
  }
  for (const Norm norm : {Norm::kL1, Norm::kL2}) {
    for (const auto& pair : answers(4, 3, norm)) {
      double distance = 0;
      for (std::size_t i = 0; i < 4; ++i) {
        const double by = std::abs(pair.second[i] - pair.first[i]);
        distance += norm == Norm::kL1 ? by : by * by;
      }
      EXPECT_LE(distance, (norm == Norm::kL1 ? 3 : 9) * (1 + 1e-12)) << pair.name;
    }
  }
  for (const auto& pair : counts(6, 3)) {
    double moved = 0;
    for (std::size_t i = 0; i < 6; ++i) moved += std::abs(pair.second[i] - pair.first[i]);
    EXPECT_LE(moved, 3) << pair.name;
  }
}

}  // namespace
}  // namespace gauze::audit
