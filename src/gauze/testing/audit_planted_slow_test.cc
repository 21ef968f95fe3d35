// Bugs that other libraries shipped, planted in small mechanisms, and the auditor that has to find
// them without being told where. Beside each stands the mechanism as it should be, which has to pass;
// it is accused wrongly with probability 1e-3 at most, and seeds are fixed.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "gauze/audit/pairs.h"
#include "gauze/audit/timing.h"
#include "gauze/noise/additive.h"
#include "gauze/testing/audit_options.h"

namespace gauze::testing {
namespace {

using audit::Claim;
using audit::Lines;
using audit::Neighbours;
using audit::Norm;
using audit::Report;
using audit::Side;
using audit::Subject;
using Numbers = std::vector<double>;

constexpr double kStep = 0x1p-20;

/// Exact noise on a lattice that is fine enough to count as continuous.
class LatticeNoise {
 public:
  static LatticeNoise laplace(double scale) {
    return LatticeNoise(AdditiveNoise::discrete_laplace(Ratio(scale / kStep)));
  }
  static LatticeNoise one_sided(double scale) {
    return LatticeNoise(AdditiveNoise::geometric(Ratio(scale / kStep)));
  }
  static LatticeNoise gaussian(double sigma) {
    const Ratio steps(sigma / kStep);
    return LatticeNoise(AdditiveNoise::discrete_gaussian(Ratio(steps * steps)));
  }

  double operator()(BitSource& bits) const {
    return static_cast<double>(noise_->draw(bits)) * kStep;
  }

 private:
  explicit LatticeNoise(AdditiveNoise&& noise)
      : noise_(std::make_shared<const AdditiveNoise>(std::move(noise))) {}

  std::shared_ptr<const AdditiveNoise> noise_;
};

bool refuted(const Subject& subject, std::uint64_t runs = 400'000) {
  return audit::audit(subject, audit_options(1, runs)).violation();
}

double sum(const Numbers& rows) {
  double total = 0;
  for (const double row : rows) total += std::isnan(row) ? 0 : std::clamp(row, 0.0, 1.0);
  return total;
}

Subject noisy_sum(const LatticeNoise& noise) {
  return audit::subject_of(
      "sum", Claim::approximate(1), audit::people(0, 1, Relation::kAddRemove),
      [noise](const Numbers& rows, BitSource& bits) { return sum(rows) + noise(bits); });
}

// In one dimension the Wishart mechanism adds positive noise to a sum of squares: no output is below it.
TEST(AuditPlanted, FindsThatTheWishartMechanismIsNotPrivate) {
  EXPECT_TRUE(refuted(noisy_sum(LatticeNoise::one_sided(1))));
  EXPECT_FALSE(refuted(noisy_sum(LatticeNoise::laplace(1))));
}

TEST(AuditPlanted, FindsNoiseDividedByTheNumberOfDimensions) {
  const auto subject = [](double scale) {
    return audit::subject_of("vector", Claim::approximate(1), audit::answers(4, 1, Norm::kL1),
                             [noise = LatticeNoise::laplace(scale)](Numbers x, BitSource& bits) {
                               for (double& each : x) each += noise(bits);
                               return x;
                             });
  };
  EXPECT_TRUE(refuted(subject(1.0 / 4)));
  EXPECT_FALSE(refuted(subject(1)));
}

/// To 11 binary digits, as half precision has them.
double half_precision(double x) {
  int exponent = 0;
  const double mantissa = std::frexp(x, &exponent);
  return std::ldexp(std::nearbyint(std::ldexp(mantissa, 11)), exponent - 11);
}

// From 2048 on half precision knows even numbers only, and rounds 1.0625 more to 2 more, row by row: a row of
// 2048 moves a sum by half as much again (Casacuberta, Shoemate, Vadhan and Wagaman 2022).
TEST(AuditPlanted, FindsASumThatRoundsAfterEveryRow) {
  const auto subject = [](auto round) {
    const auto sum_after = [&](double first) {
      double total = first;
      for (int row = 0; row < 1000; ++row) total = round(total + 1.0625);
      return total;
    };
    const std::vector<Neighbours<double>> pairs = {
        {"many small rows, and nothing or 2048 before them", sum_after(0), sum_after(2048)}};
    return audit::subject_of("sum", Claim::approximate(1), pairs,
                             [noise = LatticeNoise::laplace(2048)](double x, BitSource& bits) {
                               return x + noise(bits);
                             });
  };
  EXPECT_TRUE(refuted(subject(half_precision)));
  EXPECT_FALSE(refuted(subject([](double x) { return x; })));
}

/// Names keys whose noisy number of people is above tau.
Subject threshold(double delta, std::size_t keys_counted, double tau, const LatticeNoise& noise) {
  return audit::subject_of(
      "threshold", Claim::approximate(1, delta), audit::words(10),
      [keys_counted, tau, noise](const Lines& people, BitSource& bits) {
        std::map<std::string, int> counts;
        for (const std::string& person : people) {
          std::size_t from = 0;
          for (std::size_t i = 0; i < keys_counted && from < person.size(); ++i) {
            const std::size_t to = std::min(person.find(';', from), person.size());
            ++counts[person.substr(from, to - from)];
            from = to + 1;
          }
        }
        std::string named;
        for (const auto& [key, count] : counts)
          if (count + noise(bits) > tau) named.append(key).append(";");
        return named;
      });
}

TEST(AuditPlanted, FindsAThresholdWithoutALimitOnGroups) {
  const double delta = 1e-3;
  const double tau = 1 + std::log(1 / (2 * delta));  // for one key of a person
  EXPECT_TRUE(refuted(threshold(delta, 100, tau, LatticeNoise::laplace(1)), 1'000'000));
  EXPECT_FALSE(refuted(threshold(delta, 1, tau, LatticeNoise::laplace(1)), 1'000'000));
}

double upper_tail(double x) {
  return std::erfc(x / std::sqrt(2.0)) / 2;
}

/// delta of Gaussian noise, sensitivity 1, in closed form (Balle and Wang 2018).
double gaussian_delta(double sigma, double epsilon) {
  return upper_tail(epsilon * sigma - 1 / (2 * sigma)) -
         std::exp(epsilon) * upper_tail(epsilon * sigma + 1 / (2 * sigma));
}

double right_sigma(double epsilon, double delta) {
  double low = 0.01;
  double high = 100;
  for (int i = 0; i < 100; ++i) {
    const double middle = (low + high) / 2;
    (gaussian_delta(middle, epsilon) > delta ? low : high) = middle;
  }
  return high;
}

/// Ten keys of a person: half of delta for noise on a vector that moves by sqrt(10), half for names.
TEST(AuditPlanted, FindsAGaussianThresholdWithTheWrongTauOrNoise) {
  constexpr double kDelta = 0.02;
  const double sigma = right_sigma(1, kDelta / 2) * std::sqrt(10.0);
  const auto z = [](double tail) {
    double low = 0, high = 10;
    while (high - low > 1e-9) (upper_tail((low + high) / 2) > tail ? low : high) = (low + high) / 2;
    return high;
  };
  const auto named = [](double noise, double tau) {
    return refuted(threshold(kDelta, 10, tau, LatticeNoise::gaussian(noise)), 1'000'000);
  };
  EXPECT_FALSE(named(sigma, 1 + sigma * z(kDelta / 2 / 10)));
  EXPECT_TRUE(named(sigma, 1 + sigma * z(kDelta / 2)));  // as if there were one key
  EXPECT_TRUE(named(sigma, 1 + z(kDelta / 2 / 10)));     // in units of the noise
  // A multiplier of the sensitivity, and not multiplied by it.
  const double multiplier = sigma / std::sqrt(10.0);
  EXPECT_TRUE(named(multiplier, 1 + multiplier * z(kDelta / 2 / 10)));
}

double textbook_sigma(double epsilon, double delta) {
  return std::sqrt(2 * std::log(1.25 / delta)) / epsilon;
}

/// Cells of width 1/64 from 0 to 1 and beyond: what can be said about them can be said of the noise.
Subject gaussian_cells(double sigma, double epsilon, double delta) {
  return {.name = "gaussian",
          .claim = Claim::approximate(epsilon, delta),
          .pairs = {{"zero and one", "0", "1"}},
          .draw = {},
          .probabilities = [sigma](std::size_t, Side side) {
            const double mean = side == Side::kFirst ? 0 : 1;
            const auto mass = [&](double from, double to) {
              const double a = (from - mean) / sigma;
              const double b = (to - mean) / sigma;
              return a > 0 ? upper_tail(a) - upper_tail(b) : upper_tail(-b) - upper_tail(-a);
            };
            std::vector<double> cells = {mass(-1e9, -8)};
            for (int i = -512; i < 576; ++i) cells.push_back(mass(i / 64.0, (i + 1) / 64.0));
            cells.push_back(mass(9, 1e9));
            return cells;
          }};
}

TEST(AuditPlanted, FindsTheTextbookGaussianAboveEpsilonOne) {
  EXPECT_NEAR(gaussian_delta(textbook_sigma(10, 1e-5), 10), 2.265e-5, 1e-8);  // published
  EXPECT_TRUE(refuted(gaussian_cells(textbook_sigma(10, 1e-5), 10, 1e-5)));
  EXPECT_TRUE(refuted(gaussian_cells(textbook_sigma(20, 1e-5), 20, 1e-5)));
  EXPECT_FALSE(refuted(gaussian_cells(right_sigma(10, 1e-5), 10, 1e-5)));
  // By runs alone, where delta is large enough to be seen.
  const auto subject = [](double sigma) {
    return audit::subject_of("gaussian", Claim::approximate(10, 0.1),
                             std::vector<Neighbours<double>>{{"zero and one", 0, 1}},
                             [noise = LatticeNoise::gaussian(sigma)](double x, BitSource& bits) {
                               return x + noise(bits);
                             });
  };
  EXPECT_TRUE(refuted(subject(textbook_sigma(10, 0.1)), 10'000'000));
  EXPECT_FALSE(refuted(subject(right_sigma(10, 0.1)), 1'000'000));
}

// Scores 0, 0 and 1, -1: the worse of two is taken with probability e^-gap / 2, epsilon 2 in all.
TEST(AuditPlanted, FindsPermuteAndFlipPricedAsIfOfBoundedRange) {
  const auto subject = [](const Event& event) {
    return Subject{.name = "permute and flip",
                   .claim = Claim::of(event),
                   .pairs = {{"level, or two apart", "0, 0", "1, -1"}},
                   .draw = {},
                   .probabilities = [](std::size_t, Side side) {
                     const double worse = std::exp(side == Side::kFirst ? 0 : -2) / 2;
                     return Numbers{1 - worse, worse};
                   }};
  };
  const Subject wrong = subject({events::Exponential{Ratio(2)}, Relation::kAddRemove});
  EXPECT_EQ(wrong.claim.rho, 0.5);
  EXPECT_TRUE(refuted(wrong));
  EXPECT_FALSE(refuted(subject({events::PermuteAndFlip{Ratio(2)}, Relation::kAddRemove})));
  // rho alone, the curve aside: D_2 is 1.376919, above 2 * 0.5.
  Subject by_rho = wrong;
  by_rho.claim.points.clear();
  const Report report = audit::audit(by_rho);
  EXPECT_TRUE(report.violation());
  ASSERT_FALSE(report.notes.empty());
  by_rho.claim.rho = 2;
  EXPECT_FALSE(refuted(by_rho));
}

double uniform(BitSource& bits) {
  return std::ldexp(static_cast<double>(bits.next() >> 11), -53);
}

/// Of 300 answers that are (0.1, 0.001)-private each, the truth if it slipped out of one of them: that
/// alone has probability 1 - 0.999^300 = 0.2593.
int slipped(int truth, BitSource& bits) {
  return uniform(bits) < 1 - std::pow(0.999, 300) ? (truth == 1 ? 1 : -1) : 0;
}

// The formula gave epsilon 8.26 and delta 0.19256, where 0.25966 is true.
TEST(AuditPlanted, FindsACompositionThatUndercountsDelta) {
  const auto subject = [](double delta) {
    return audit::subject_of("three hundred", Claim::approximate(8.26, delta),
                             std::vector<Neighbours<int>>{{"no and yes", 0, 1}}, slipped);
  };
  EXPECT_TRUE(refuted(subject(0.19256), 10'000'000));
  EXPECT_FALSE(refuted(subject(0.25966), 1'000'000));
}

// A filter for gradients noised what was above the threshold and released the rest as it was.
TEST(AuditPlanted, FindsCoordinatesThatWereReleasedWithoutNoise) {
  const auto subject = [](bool zeroes) {
    return audit::subject_of(
        "filter", Claim::approximate(1), audit::answers(4, 1, Norm::kL1),
        [zeroes, noise = LatticeNoise::laplace(4)](Numbers x, BitSource& bits) {
          for (double& each : x) {
            const bool above = each + noise(bits) > 1;
            each = above ? each + noise(bits) : zeroes ? 0 : each;
          }
          return x;
        });
  };
  EXPECT_TRUE(refuted(subject(false)));
  EXPECT_FALSE(refuted(subject(true)));
}

/// Counts of words with noise, of those in `known` or of those that the data hold.
Subject word_counts(bool from_data, bool in_order) {
  return audit::subject_of(
      "word counts", Claim::approximate(2), audit::words(1),
      [=, noise = LatticeNoise::laplace(1)](const Lines& people, BitSource& bits) {
        Lines keys = {"k0", "rare"};
        if (from_data) keys = people;
        if (!in_order) std::sort(keys.begin(), keys.end());
        std::set<std::string> said;
        std::string text;
        for (const std::string& key : keys) {
          if (!said.insert(key).second) continue;
          const auto count = static_cast<double>(std::count(people.begin(), people.end(), key));
          text.append(key).append(" ").append(audit::shortest(count + noise(bits))).append("; ");
        }
        return text;
      });
}

TEST(AuditPlanted, FindsADomainThatWasReadFromTheData) {
  const Report report = audit::audit(word_counts(true, false), audit_options(2, 100'000));
  EXPECT_TRUE(report.violation());
  EXPECT_FALSE(refuted(word_counts(false, false), 100'000));
}

TEST(AuditPlanted, FindsTheOrderOfTheInputInTheOutput) {
  Subject subject = word_counts(true, true);
  const auto same = std::find_if(subject.pairs.begin(), subject.pairs.end(),
                                 [](const audit::PairText& pair) { return pair.same; });
  ASSERT_NE(same, subject.pairs.end());
  const auto index = static_cast<std::size_t>(same - subject.pairs.begin());
  const auto draw = subject.draw;
  subject.pairs = {*same};
  subject.draw = [draw, index](std::size_t, Side side, std::uint64_t runs, BitSource& bits) {
    return draw(index, side, runs, bits);
  };
  EXPECT_TRUE(refuted(subject, 100'000));
}

TEST(AuditPlanted, FindsTheExactNumberOfRows) {
  const auto subject = [](bool exact) {
    return audit::subject_of(
        "mean and n", Claim::approximate(2), audit::people(0, 1, Relation::kAddRemove),
        [exact, noise = LatticeNoise::laplace(1)](const Numbers& rows, BitSource& bits) {
          const auto n = static_cast<double>(rows.size());
          return Numbers{sum(rows) + noise(bits), exact ? n : n + noise(bits)};
        });
  };
  EXPECT_TRUE(refuted(subject(true)));
  EXPECT_FALSE(refuted(subject(false)));
}

/// A sum with noise, and a loop of so many steps beside it.
template <class Steps>
Subject looping(Steps steps) {
  const std::vector<Neighbours<double>> pairs = {{"zero and three", 0, 3}};
  return audit::timed(
      audit::subject_of("loops", Claim::approximate(1), pairs,
                        [steps, noise = LatticeNoise::laplace(3)](double x, BitSource& bits) {
                          const double drawn = noise(bits);
                          volatile double waste = 0;
                          for (int i = steps(drawn); i > 0; --i) waste = waste + i;
                          return x + drawn;
                        }));
}

bool refuted_by_its_time(const Subject& subject) {
  audit::Options options = audit_options(4, 60'000);
  options.threads = 1;
  options.confidence = 1 - 1e-6;
  return audit::audit(subject, options).violation();
}

/// Noise that takes as long as it is large.
TEST(AuditPlanted, FindsThatTheTimeOfADrawShowsItsSize) {
  const auto size = [](double drawn) { return static_cast<int>(2000 * std::abs(drawn)); };
  EXPECT_TRUE(refuted_by_its_time(looping(size)));
  EXPECT_FALSE(refuted_by_its_time(looping([](double) { return 6000; })));
}

}  // namespace
}  // namespace gauze::testing
