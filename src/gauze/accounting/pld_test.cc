#include "gauze/accounting/pld.h"

#include <cmath>
#include <map>

#include "gauze/accounting/accountant.h"
#include "gauze/accounting/gaussian.h"
#include "gauze/random/uniform.h"
#include "gauze/testing/events.h"
#include "gauze/testing/matchers.h"
#include "gauze/testing/seeded_bits.h"

namespace gauze {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace): the event builders

double delta(const Event& event, double epsilon, Direction direction) {
  return pld_delta(dominating_pairs({event}, direction), epsilon);
}
double epsilon(const Event& event, double at) {
  return epsilon_at({event}, at, Accountant::kPld).epsilon;
}

void expect_just_above(double ours, double truth, double tolerance) {
  EXPECT_GE(ours, truth);
  EXPECT_LE(ours, truth * (1 + tolerance));
}

/// Exact hockey-stick divergence of a composition of atoms, by listing all combinations.
struct Losses {
  std::vector<LossAtom> atoms;
  double infinite = 0;

  Losses times(const Losses& other) const {
    std::map<double, double> merged;
    for (const LossAtom& a : atoms) {
      for (const LossAtom& b : other.atoms) {
        // Equal sums differ by rounding; a grain of 1e-13 merges them.
        merged[std::round((a.loss + b.loss) * 1e13) * 1e-13] += a.p * b.p;
      }
    }
    Losses result;
    for (const auto& [loss, p] : merged) result.atoms.push_back({loss, p, p * std::exp(-loss)});
    result.infinite = 1 - (1 - infinite) * (1 - other.infinite);
    return result;
  }
  double delta(double epsilon) const {
    double sum = infinite;
    for (const LossAtom& atom : atoms) {
      if (atom.loss > epsilon) sum += atom.p * -std::expm1(epsilon - atom.loss);
    }
    return sum;
  }
};

TEST(Pld, MatchesPublishedSampledGaussians) {
  const Event one = poisson("0.8", {gaussian("1")});
  expect_just_above(delta(one, 1, Direction::kRemove), 0.0816951786585355, 1e-6);
  expect_just_above(delta(one, 1, Direction::kAdd), 0.0231362104090899, 1e-6);
  expect_just_above(delta(poisson("0.7", {gaussian("1", "3")}), 1, Direction::kRemove),
                    0.5356298793262404, 1e-6);
}

/// delta of one Poisson-sampled Gaussian, remove direction, in closed form:
/// rate * delta_gaussian(ln(1 + (e^epsilon - 1) / rate)).
double sampled_gaussian_delta(double rate, double mu, double at) {
  const double e = std::log1p(std::expm1(at) / rate);
  const auto phi = [](double x) { return std::erfc(-x / std::sqrt(2.0)) / 2; };
  return rate * (phi(mu / 2 - e / mu) - std::exp(e) * phi(-mu / 2 - e / mu));
}

// Losses far below 1 have a delta far below their tail probability: the tilt must aim at delta.
TEST(Pld, ReadsSmallLossesWhereTheyAre) {
  for (const auto& [rate, sigma] : {std::pair{"0.0238", "25.944"},
                                    {"0.0035", "14.814"},
                                    {"0.5", "100"},
                                    {"0.001", "1"},
                                    {"0.0001", "300"}}) {
    const Event one = poisson(rate, {gaussian(sigma)});
    for (const double at : {1e-4, 1e-5, 1e-7, 1e-9}) {
      const double ours = epsilon(one, at);
      ASSERT_TRUE(std::isfinite(ours)) << rate << " " << sigma << " " << at;
      const double r = parse_ratio(rate).convert_to<double>();
      const double mu = 1 / parse_ratio(sigma).convert_to<double>();
      // Never below: the exact delta at our epsilon is at most the target; and not far above.
      EXPECT_LE(sampled_gaussian_delta(r, mu, ours), at * (1 + 1e-9));
      if (ours > 0) {
        EXPECT_GE(sampled_gaussian_delta(r, mu, ours * (1 - 4e-3)), at * (1 - 1e-9));
      }
    }
  }
  // Five sampled Laplace steps with losses of 0.026 each; reference: dp-accounting 0.6.0 at grid 1e-5.
  const Event steps = poisson("0.0076", {laplace("0.669")}, 5);
  EXPECT_NEAR(epsilon(steps, 1e-3), 0.0384896, 1e-6);
  EXPECT_NEAR(epsilon(steps, 1e-5), 0.0919105, 1e-6);
  EXPECT_NEAR(epsilon(steps, 1e-7), 0.1255058, 1e-6);
}

// Fine lattice noise on a vector costs what normal noise costs; the comparison may not be below it by
// more than the lattice itself differs, and not far above.
TEST(Pld, PricesFineVectorNoiseLikeNormalNoise) {
  const Event vector = event(events::DiscreteGaussian{power_of_two(20), power_of_two(19), 100}, 10);
  const Event normal = gaussian("2", "1", 10);
  const double lattice = epsilon(vector, 1e-6);
  const double real = epsilon(normal, 1e-6);
  EXPECT_NEAR(lattice, real, 1e-5 * real);
  EXPECT_GE(lattice, real);
  EXPECT_ERROR(epsilon(event(events::DiscreteGaussian{Ratio(100), Ratio(2), 100}), 1e-6),
               ErrorCode::kCannotCompose);
}

// Runs of losses raised to their largest: at most epsilon/2^19 above the same noise on a lattice coarse
// enough to list, whose losses differ by as little.
TEST(Pld, PricesDiscreteLaplaceOfAnySensitivity) {
  const Event fine = event(events::DiscreteLaplace{power_of_two(24) * 3, power_of_two(24)}, 200);
  const Event listed = event(events::DiscreteLaplace{power_of_two(14) * 3, power_of_two(14)}, 200);
  const double coarse = epsilon(listed, 1e-6);
  EXPECT_NEAR(epsilon(fine, 1e-6), coarse, 1e-4 * coarse);
  EXPECT_GE(epsilon(fine, 1e-6), epsilon(laplace("3", "1", 200), 1e-6) * (1 - 1e-6));
  EXPECT_LT(epsilon(fine, 1e-6), 40);  // pure would be 66.7
}

TEST(Pld, MatchesPublishedLaplaceAndDiscreteLaplace) {
  EXPECT_NEAR(delta(laplace("2", "4"), 0.5, Direction::kRemove), 0.52763345, 1e-8);
  expect_just_above(delta(poisson("0.6", {laplace("1")}), 0.2, Direction::kAdd), 0.1401134521354217,
                    1e-6);
  expect_just_above(delta(poisson("0.8", {laplace("2", "4")}), 0.5, Direction::kRemove),
                    0.4039564635032081, 1e-6);
  expect_just_above(delta(poisson("0.7", {discrete_laplace("2", "4")}), 0.5, Direction::kAdd),
                    0.2293628348747755, 1e-6);
  expect_just_above(delta(poisson("0.3", {discrete_laplace("2", "4")}), 0.5, Direction::kRemove),
                    0.1068168460276349, 1e-6);
}

// Sums over the integers with 30 digits in another system.
TEST(Pld, MatchesDiscreteGaussianSums) {
  const auto noise = [](const char* sigma, int l2) {
    return event(events::DiscreteGaussian{parse_ratio(sigma), l2, 1});
  };
  expect_just_above(delta(noise("1", 1), 1, Direction::kRemove), 0.1413513394056219081, 1e-6);
  expect_just_above(delta(noise("5", 3), 0.1, Direction::kRemove), 0.1992328020646639297, 1e-6);
}

TEST(Pld, LargeDiscreteGaussiansComeCloseToContinuousOnes) {
  const Event noise = event(events::DiscreteGaussian{parse_ratio("1e9"), 1000000000, 1});
  expect_just_above(epsilon(noise, 1e-5), gaussian_epsilon(1, 1e-5), 1e-6);
}

TEST(Pld, ConnectsTheDotsAsPublished) {
  const auto pairs = dominating_pairs({laplace("1")}, Direction::kRemove);
  const GridLoss grid = discretize(pairs[0].pair, 1, 0, 0, 1e-20);
  const double expected[] = {0.22898999, 0.14855068, 0.62245933};
  for (int i = 0; i < 3; ++i) {
    EXPECT_NEAR(grid.weights[static_cast<std::size_t>(i - 1 - grid.first)], expected[i], 1e-8);
  }
  EXPECT_EQ(grid.infinite, 0);
}

TEST(Pld, CompositionsMatchPublishedValues) {
  EXPECT_NEAR(delta_at({poisson("0.2", {gaussian("0.5")}, 3)}, 1, Accountant::kPld).delta, 0.15594,
              1e-3);
  // At delta = 1e-14 this is all but the largest possible loss, 3 ln(1 + 0.2 (e^2 - 1)).
  const double most = 3 * std::log1p(0.2 * std::expm1(2.0));
  const double ours = epsilon(poisson("0.2", {laplace("0.5")}, 3), 1e-14);
  EXPECT_NEAR(ours, 2.46964, 1e-4);
  EXPECT_LE(ours, most * (1 + 1e-12));
  EXPECT_GE(ours, most - 1e-11);
}

// delta = 1e-5; the published digits are the truth, rounded.
TEST(Pld, TrainingRunsMatchGoldenValues) {
  const auto run = [](const char* q, const char* sigma, std::uint64_t steps) {
    return epsilon(poisson(q, {gaussian(sigma)}, steps), 1e-5);
  };
  EXPECT_NEAR(run("256/60000", "1.1", 14063), 2.38169, 1.5e-5);
  EXPECT_NEAR(run("256/60000", "1.3", 3516), 0.86454, 1e-5);
  EXPECT_NEAR(run("0.01", "4", 10000), 0.94687, 1e-5);
  EXPECT_NEAR(run("0.01", "1", 1000), 1.82824, 1e-5);
  expect_just_above(run("0.01", "0.7", 120), 2.4612377 - 5e-8, 1e-6);
  expect_just_above(run("0.04", "1.5", 2249), 6.76705 - 5e-6, 1e-5);
  EXPECT_NEAR(pld_epsilon(dominating_pairs({poisson("256/60000", {gaussian("1.1")}, 14063)},
                                           Direction::kAdd),
                          1e-5),
              2.24365, 1.5e-5);
}

TEST(Pld, LiesInTheIntervalsOfAnotherAccountant) {
  struct Row {
    const char* sigma;
    const char* q;
    std::uint64_t steps;
    double upper;
  };
  for (const Row& row : {Row{"0.8", "0.001", 100, 0.27040336}, Row{"3", "0.2", 100, 3.38122051},
                         Row{"2", "0.001", 20000, 0.30583794}, Row{"3", "0.05", 20000, 13.9611147},
                         Row{"0.8", "0.05", 100, 6.74105194}, Row{"1.5", "0.2", 100, 8.49897786},
                         Row{"1.5", "0.05", 50000, 73.19017672}}) {
    const double ours = epsilon(poisson(row.q, {gaussian(row.sigma)}, row.steps), 1e-6);
    EXPECT_LE(ours, row.upper);
    EXPECT_GE(ours, row.upper - 0.0125);
  }
}

TEST(Pld, GaussiansMatchTheClosedForm) {
  for (const char* sigma : {"0.1", "1", "30", "1e6"}) {
    for (const double at : {1e-40, 1e-10, 1e-5, 1e-2}) {
      const Ratio mu_squared = 1 / (parse_ratio(sigma) * parse_ratio(sigma));
      expect_just_above(epsilon(gaussian(sigma), at), gaussian_epsilon(mu_squared, at), 1e-6);
    }
  }
  expect_just_above(epsilon(gaussian("100", "1", 1000000), 1e-6), gaussian_epsilon(100, 1e-6),
                    1e-6);
}

// n randomised responses: a binomial number of truths. Exact sum, up to the terms' rounding.
TEST(Pld, RandomizedResponseMatchesBinomialSums) {
  for (const int n : {1, 2, 10, 40}) {
    const Event answers = randomized_response("3/4", 2, static_cast<std::uint64_t>(n));
    for (const double e : {0.0, 0.5, 2.0, 5.0}) {
      double truth = 0;
      double binomial = 1;
      for (int k = 0; k <= n; ++k) {
        const double loss = (2 * k - n) * std::log(3.0);
        if (loss > e) {
          truth += binomial * std::pow(0.75, k) * std::pow(0.25, n - k) * -std::expm1(e - loss);
        }
        binomial = binomial * (n - k) / (k + 1);
      }
      const double ours = delta(answers, e, Direction::kRemove);
      EXPECT_GE(ours, truth * (1 - 1e-13)) << n << " " << e;
      EXPECT_LE(ours, truth * (1 + 1e-9) + 1e-300) << n << " " << e;
    }
  }
}

// Random mixtures of small discrete mechanisms against the exhaustive sum. Seeded, so the outcome
// does not vary.
TEST(Pld, IsNeverBelowExhaustiveCompositionAndCloseToIt) {
  SeededBits bits(11);
  for (int trial = 0; trial < 30; ++trial) {
    std::vector<Event> events;
    Losses exact{{{0, 1, 1}}, 0};
    const auto parts = 1 + uniform_below(bits, std::uint64_t{3});
    for (std::uint64_t i = 0; i < parts; ++i) {
      const std::string size = "0." + std::to_string(1 + uniform_below(bits, std::uint64_t{9}));
      Event event = pure(size.c_str());
      switch (uniform_below(bits, std::uint64_t{4})) {
        case 0:
          event = approximate(size.c_str(), "0.001");
          break;
        case 1:
          event = discrete_laplace(
              std::to_string(1 + uniform_below(bits, std::uint64_t{5})).c_str(), "2");
          break;
        case 2:
          event = poisson(size.c_str(), {pure("1")});
          break;
        default:
          break;
      }
      event.count = 1 + uniform_below(bits, std::uint64_t{3});
      const DominatingPair pair = dominating_pairs({event}, Direction::kRemove)[0].pair;
      for (std::uint64_t n = 0; n < event.count; ++n)
        exact = exact.times({pair.atoms, pair.p_only});
      events.push_back(event);
    }
    const auto pairs = dominating_pairs(events, Direction::kRemove);
    for (const double e : {0.0, 0.3, 1.0, 1.7}) {
      const double truth = exact.delta(e);
      const double ours = pld_delta(pairs, e);
      EXPECT_GE(ours, truth * (1 - 1e-12)) << trial << " " << e;
      EXPECT_LE(ours, truth * (1 + 1e-3) + 1e-9) << trial << " " << e;
    }
  }
}

// The broken twin rounds losses down to the grid: the comparison above must notice that.
TEST(Pld, TheExhaustiveComparisonCatchesLossesRoundedDown) {
  const DominatingPair pair = dominating_pairs({pure("0.37")}, Direction::kRemove)[0].pair;
  Losses exact{pair.atoms, 0};
  DominatingPair broken = pair;
  for (LossAtom& atom : broken.atoms) atom.loss = std::floor(atom.loss * 1e4) / 1e4 - 1e-4;
  Losses whole = exact;
  for (int i = 1; i < 8; ++i) whole = whole.times(exact);
  EXPECT_GE(pld_delta({{pair, 8}}, 1), whole.delta(1) * (1 - 1e-12));
  EXPECT_LT(pld_delta({{broken, 8}}, 1), whole.delta(1) * (1 - 1e-5));
}

// sup over t of the two-point mechanisms with losses t and t - epsilon, by search.
TEST(Pld, ExponentialMechanismCostsTheWorstOfItsBoundedRange) {
  for (const double e : {0.3, 1.0, 4.0}) {
    for (const double x : {0.0, 0.1, 0.25}) {
      double truth = 0;
      for (int i = 0; i <= 20000; ++i) {
        const double t = e * i / 20000;
        const double p = -std::expm1(t - e) / -std::expm1(-e);
        truth = std::max(truth, p * -std::expm1(x - t));
      }
      const Event event = exponential(std::to_string(e).c_str());
      const double ours = delta(event, x, Direction::kRemove);
      EXPECT_GE(ours, truth * (1 - 1e-9));
      EXPECT_LE(ours, truth * (1 + 1e-6));
      EXPECT_LE(ours, delta(pure(std::to_string(e).c_str()), x, Direction::kRemove));
    }
  }
}

// Balle, Barthe and Gaboardi 2018: delta(ln(1 + g (e^eps - 1))) = g delta(eps) for replacing.
TEST(Pld, SamplingWithoutReplacementAmplifiesAsProved) {
  const Event sampled = without_replacement(1, 10, {gaussian("1")});
  for (const double e : {0.2, 1.0, 2.0}) {
    expect_just_above(delta(sampled, std::log1p(0.1 * std::expm1(e)), Direction::kRemove),
                      0.1 * gaussian_delta(1, e) * (1 - 1e-9), 1e-5);
  }
  const Event whole = without_replacement(10, 10, {gaussian("1")});
  expect_just_above(epsilon(whole, 1e-5), gaussian_epsilon(1, 1e-5), 1e-6);
}

TEST(Pld, SeveralEventsOnOneSampleAreComposedBeforeSampling) {
  const Event two = poisson("0.1", {laplace("2"), laplace("2")});
  const auto unsampled = dominating_pairs({laplace("2", "1", 2)}, Direction::kRemove);
  for (const double e : {0.1, 0.5, 0.9}) {
    const double truth = 0.1 * pld_delta(unsampled, e);
    const double ours = delta(two, std::log1p(0.1 * std::expm1(e)), Direction::kRemove);
    EXPECT_NEAR(ours / truth, 1, 1e-4);
  }
  const Event gaussians = poisson("0.1", {gaussian("2", "1", 4)});
  const Event merged = poisson("0.1", {gaussian("1")});
  EXPECT_NEAR(epsilon(gaussians, 1e-6), epsilon(merged, 1e-6), 1e-9);
  const Event nested = poisson("0.5", {poisson("0.2", {gaussian("1")})});
  expect_just_above(epsilon(nested, 1e-4), epsilon(merged, 1e-4) * (1 - 1e-5), 1e-3);
}

TEST(Pld, RepetitionsAreCharged) {
  EXPECT_GT(epsilon(randomized_response("3/4", 2, 50), 1e-5),
            3 * epsilon(randomized_response("3/4", 2), 1e-5));
  EXPECT_NEAR(epsilon(event(events::Composed{{laplace("2")}}, 50), 1e-5),
              epsilon(laplace("2", "1", 50), 1e-5), 1e-12);
}

TEST(Pld, LiesBelowRenyiAndFallsWithDeltaAndNoise) {
  for (const char* sigma : {"0.8", "1", "2"}) {
    const Event run = poisson("0.02", {gaussian(sigma)}, 300);
    double last = 1e9;
    for (const double at : {1e-12, 1e-9, 1e-6, 1e-3}) {
      const double ours = epsilon(run, at);
      EXPECT_LT(ours, epsilon_at({run}, at, Accountant::kRdp).epsilon);
      EXPECT_LT(ours, last);
      last = ours;
    }
  }
  double last = 1e9;
  for (const char* scale : {"1", "1.001", "1.1", "3", "50"}) {
    const double ours = epsilon(laplace(scale, "1", 20), 1e-4);
    EXPECT_LT(ours, last);
    last = ours;
  }
}

TEST(Pld, ApproximateEventsComposeOptimally) {
  // 1 - (1 - delta)^k of the loss is infinite; below that no epsilon is enough.
  const Event event = approximate("0.1", "1e-3", 300);
  const double infinite = -std::expm1(300 * std::log1p(-1e-3));
  EXPECT_TRUE(std::isinf(epsilon(event, infinite * (1 - 1e-6))));
  const double ours = epsilon(event, 0.2596633);
  EXPECT_LT(ours, 8.2519);  // the closed form of the same authors
  EXPECT_GT(ours, 5);
}

TEST(Pld, SampledLeaksKeepTheirWholeProbability) {
  // Sampling g = 1/2 of a mechanism that tells all with probability d, k times, and one pure event:
  // all is told with probability 1 - (1 - g d)^k, otherwise the pure event alone speaks.
  for (const auto& [d, text] : {std::pair{0.1, "0.1"}, std::pair{1e-3, "0.001"}}) {
    Event one = pure("1");
    one.relation = Relation::kReplace;
    const Event leaks = without_replacement(1, 2, {approximate("0", text)}, 10);
    const double told = -std::expm1(10 * std::log1p(-d / 2));
    for (const double at : {0.0, 0.5, 0.9}) {
      const double alone = (std::exp(1) - std::exp(at)) / (1 + std::exp(1));
      expect_just_above(delta_at({leaks, one}, at, Accountant::kPld).delta,
                        told + (1 - told) * alone, 1e-6);
    }
  }
}

// A step that is sampled once in 10^9 times costs at most that much delta, however little noise it
// has: the rest must not be read more coarsely because of it.
TEST(Pld, ARareHugeLossDoesNotBlurSmallOnes) {
  const Event small = gaussian("10");
  const Event huge = poisson("1e-9", {gaussian("0.02")});
  const double without = gaussian_epsilon(Ratio(1, 100), 1e-5);
  const double ours = epsilon_at({small, huge}, 1e-5, Accountant::kPld).epsilon;
  EXPECT_GE(ours, without);
  EXPECT_LE(ours, gaussian_epsilon(Ratio(1, 100), 1e-5 - 1.1e-9) * (1 + 1e-6));
  const double delta_alone = gaussian_delta(Ratio(1, 100), 0.3);
  const double delta_both = delta_at({small, huge}, 0.3, Accountant::kPld).delta;
  EXPECT_GE(delta_both, delta_alone);
  EXPECT_LE(delta_both, delta_alone * (1 + 1e-6) + 1.0001e-9);
  // Where the leak is a good part of delta it is still counted.
  EXPECT_GE(delta_at({small, poisson("1e-5", {pure("50")})}, 0.6, Accountant::kPld).delta,
            1e-5 * (1 - 1e-6));
  EXPECT_EQ(epsilon_at({poisson("1e-9", {pure("50")}, 3)}, 1e-5, Accountant::kPld).epsilon, 0);
  EXPECT_GT(epsilon_at({poisson("1e-9", {pure("50")}, 3)}, 1e-9, Accountant::kPld).epsilon, 20);
}

TEST(Pld, NoiseThatHidesNothingTellsWheneverItIsSampled) {
  // Losses of 10^6: delta is the probability that the unit is in some sample.
  expect_just_above(
      delta_at({without_replacement(1, 2, {gaussian("0.001")}, 3)}, 0.01, Accountant::kPld).delta,
      0.875, 1e-6);
  expect_just_above(
      delta_at({poisson("0.5", {gaussian("0.001")}, 3)}, 0.01, Accountant::kPld).delta, 0.875,
      1e-6);
}

TEST(Pld, LatticeNoiseIsNeverPure) {
  const Event noise = event(events::DiscreteGaussian{5, 1, 1});
  EXPECT_TRUE(std::isinf(epsilon(noise, 0)));
  EXPECT_TRUE(std::isinf(epsilon_at({noise}, 0, Accountant::kBest).epsilon));
  EXPECT_TRUE(std::isinf(epsilon(poisson("0.1", {noise}), 0)));
  EXPECT_GT(delta(noise, 50, Direction::kRemove), 0);
  // The other way round a sampled unit hides behind its absence: -ln(1 - rate) at most.
  const auto adding = dominating_pairs({poisson("0.1", {noise})}, Direction::kAdd);
  expect_just_above(pld_epsilon(adding, 0), -std::log1p(-0.1), 1e-12);
}

TEST(Pld, AnswersWhereTheTiltIsSteep) {
  // One step, removing: rate * delta of the Gaussian at ln(1 + (e^epsilon - 1)/rate).
  const Event rare = poisson("0.0000000889566", {gaussian("0.358285")});
  const Ratio mu_squared = Ratio(1) / (parse_ratio("0.358285") * parse_ratio("0.358285"));
  const double rate = 8.89566e-8;
  for (const double at : {2e-8, 8e-8}) {
    const double truth = rate * gaussian_delta(mu_squared, std::log1p(std::expm1(at) / rate));
    expect_just_above(delta_at({rare}, at, Accountant::kPld).delta, truth, 0.2);
  }
  // Far beyond every loss that has a probability.
  EXPECT_LT(delta_at({poisson("0.000001", {gaussian("0.5")})}, 300, Accountant::kPld).delta,
            1e-300);
  EXPECT_LT(delta_at({poisson("0.000001", {gaussian("87405")})}, 1e-5, Accountant::kPld).delta,
            1e-300);
}

TEST(Pld, HasNoLossDistributionForCurves) {
  EXPECT_ERROR(epsilon(zcdp("1"), 1e-6), ErrorCode::kCannotCompose);
  EXPECT_ERROR(epsilon(event(events::Rdp{{2}, {1}}), 1e-6), ErrorCode::kCannotCompose);
  EXPECT_ERROR(epsilon(event(events::DiscreteGaussian{5, 2, 3}), 1e-6), ErrorCode::kCannotCompose);
}

}  // namespace
}  // namespace gauze
