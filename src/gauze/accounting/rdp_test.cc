#include "gauze/accounting/rdp.h"

#include <cmath>

#include "gauze/accounting/accountant.h"
#include "gauze/accounting/loss.h"
#include "gauze/testing/events.h"
#include "gauze/testing/matchers.h"

namespace gauze {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace): the event builders

double at(const Event& event, double order) {
  return renyi_curve({event}, {order}).epsilons[0];
}

std::vector<double> integers_to(int last) {
  std::vector<double> orders;
  for (int order = 2; order <= last; ++order) orders.push_back(order);
  return orders;
}

void expect_just_above(double ours, double truth, double tolerance) {
  EXPECT_GE(ours, truth * (1 - 1e-13));
  EXPECT_LE(ours, truth * (1 + tolerance));
}

/// Mironov, Talwar and Zhang 2019: the divergence at integer orders, sensitivity 1.
double sampled_gaussian(double q, double sigma, int order) {
  double sum = 0;
  double binomial = 1;
  const double top = std::max(0.0, (order * order - order) / (2 * sigma * sigma) - 100);
  for (int j = 0; j <= order; ++j) {
    sum += binomial * std::pow(1 - q, order - j) * std::pow(q, j) *
           std::exp((j * j - j) / (2 * sigma * sigma) - top);
    binomial = binomial * (order - j) / (j + 1);
  }
  return (std::log(sum) + top) / (order - 1);
}

TEST(Renyi, HugeLossesAreNotUnderstated) {
  // Laplace noise: ln(a/(2a-1) e^((a-1) e) + (a-1)/(2a-1) e^(-a e)) / (a-1).
  for (const double e : {1e3, 1e4, 1e5, 1e6}) {
    const Event noise = event(events::Laplace{Ratio(1), ratio_of_decimal(e)});
    for (const double a : {1.01, 1.1, 3.0}) {
      const double truth = e + std::log(a / (2 * a - 1)) / (a - 1);
      const double ours = renyi_curve({noise}, {a}).epsilons[0];
      EXPECT_GE(ours, truth);
      EXPECT_LE(ours, truth * (1 + 2e-5));
    }
  }
}

TEST(Renyi, SampledGaussianMatchesTheSumAtIntegerOrders) {
  for (const int order : {2, 3, 5, 8, 16, 33}) {
    for (const char* q : {"0.001", "0.01", "0.3"}) {
      for (const char* sigma : {"0.7", "1", "4"}) {
        const double truth = sampled_gaussian(std::stod(q), std::stod(sigma), order);
        // The sum itself rounds to a few units of 1e-16.
        EXPECT_NEAR(at(poisson(q, {gaussian(sigma)}), order), truth, 1e-9 * truth + 1e-15)
            << q << " " << sigma << " " << order;
      }
    }
  }
}

TEST(Renyi, SampledGaussianMatchesPublishedValues) {
  const auto step = [](const char* sigma) { return poisson("0.01", {gaussian(sigma)}); };
  EXPECT_NEAR(at(step("1"), 2), 1.718134e-4, 1e-10);
  EXPECT_NEAR(at(step("1"), 8), 8.936439e-4, 1e-10);
  EXPECT_NEAR(at(step("1"), 32), 11.24628, 1e-5);
  EXPECT_NEAR(at(step("4"), 2), 6.449425e-6, 1e-12);
  EXPECT_NEAR(at(step("4"), 8), 2.589912e-5, 1e-11);
  EXPECT_NEAR(at(step("4"), 32), 1.052636e-4, 1e-10);
  // Fractional orders, 30-digit quadrature in another system.
  expect_just_above(at(step("0.25"), 1.25), 0.110360317424268514, 1e-10);
  expect_just_above(at(step("1"), 2.25), 0.000194538338405460551, 1e-10);
  expect_just_above(at(step("1"), 128), 59.358568631445074, 1e-10);
  EXPECT_NEAR(50 * at(step("2.5"), 5), 0.00218075656, 1e-9);
  EXPECT_NEAR(50 * at(step("2.5"), 50), 0.0238460375, 1e-8);
  EXPECT_NEAR(50 * at(step("2.5"), 100), 167.416308, 1e-5);
}

// A published series adds terms of alternating sign as if all were positive; ours lies between the
// exact value and that.
TEST(Renyi, FractionalOrdersAreExactWhereAPublishedSeriesOvershoots) {
  const Event run = poisson("0.01", {gaussian("2.5")}, 50);
  EXPECT_NEAR(at(run, 1.5), 6.50070891e-4, 1e-11);
  EXPECT_NEAR(at(run, 2.5), 1.08541806e-3, 1e-11);
  EXPECT_LT(at(run, 1.5), 0.000670579741);
  EXPECT_LT(at(run, 2.5), 0.0010854871);
}

// q^2 (e^(1/sigma^2) - 1) / 2 is the limit for orders near 1; a naive sum rounds it to zero.
TEST(Renyi, IsPositiveAtOrdersNextToOne) {
  const double divergence = at(poisson("105/100000", {gaussian("1")}), 1 + 1e-8);
  EXPECT_GT(divergence, 0);
  EXPECT_NEAR(divergence / (0.00105 * 0.00105 / 2 * std::expm1(1.0)), 1, 1e-2);
}

TEST(Renyi, GaussianConversionsMatchPublishedValues) {
  const double classic[] = {5.29853, 2.52426, 1.23088};
  const double improved[] = {4.72839, 2.16572, 1.01229};
  const char* sigmas[] = {"1", "2", "4"};
  std::vector<double> dense;
  for (int k = 1; k < 40000; ++k) dense.push_back(1 + k / 1000.0);
  for (int i = 0; i < 3; ++i) {
    const RenyiCurve curve = renyi_curve({gaussian(sigmas[i])}, dense);
    EXPECT_NEAR(renyi_epsilon_classic(curve, 1e-5), classic[i], 6e-6);
    EXPECT_NEAR(renyi_epsilon(curve, 1e-5), improved[i], 6e-6);
    // The usual orders lose little.
    EXPECT_NEAR(renyi_epsilon(renyi_curve({gaussian(sigmas[i])}), 1e-5), improved[i], 5e-4);
  }
  // The classic conversion at its best order, 1 + sqrt(2 ln(1/delta)).
  EXPECT_NEAR(renyi_epsilon_classic(renyi_curve({gaussian("1")}, {5.798525912}), 1e-5), 5.298525912,
              1e-9);
}

TEST(Renyi, TrainingRunsMatchPublishedValues) {
  const RenyiCurve long_run =
      renyi_curve({poisson("256/60000", {gaussian("1.1")}, 14063)}, integers_to(512));
  EXPECT_NEAR(renyi_epsilon_classic(long_run, 1e-5), 3.00921, 1e-5);
  EXPECT_NEAR(renyi_epsilon(long_run, 1e-5), 2.59708, 1e-5);
  const RenyiCurve short_run =
      renyi_curve({poisson("256/60000", {gaussian("1.3")}, 3516)}, integers_to(512));
  EXPECT_NEAR(renyi_epsilon_classic(short_run, 1e-5), 1.19226, 1e-5);
  EXPECT_NEAR(renyi_epsilon(short_run, 1e-5), 0.954564, 1e-6);
  EXPECT_NEAR(
      epsilon_at({poisson("0.04", {gaussian("1.5")}, 2250)}, 1e-5, Accountant::kRdp).epsilon,
      7.32911117143, 1e-7);
  const double microbatches = epsilon_at({gaussian("0.7", "2", 1)}, 1e-5, Accountant::kRdp).epsilon;
  EXPECT_GT(microbatches, epsilon_at({gaussian("0.7")}, 1e-5, Accountant::kRdp).epsilon * 1.9);
}

TEST(Renyi, RandomizedResponseMatchesTheSumOverItsAnswers) {
  const double p = 0.9525;
  const double q = 0.0475 / 19;
  for (const double a : {1.5, 2.5, 5.0, 50.0}) {
    const double truth = std::log(std::pow(p, a) * std::pow(q, 1 - a) +
                                  std::pow(q, a) * std::pow(p, 1 - a) + 18 * q) /
                         (a - 1);
    EXPECT_NEAR(at(randomized_response("0.9525", 20), a), truth, 1e-10);
  }
}

// Scores (0,0) against (1,-1), scale 1: the exact Renyi-2 divergence of permute-and-flip. Charged
// like the exponential mechanism it would be under-priced, as once happened elsewhere.
TEST(Renyi, PermuteAndFlipIsNotOfBoundedRange) {
  const double truth = 1.376918739600336;
  EXPECT_GE(at(event(events::PermuteAndFlip{2}), 2), truth);
  EXPECT_GE(2 * round_up(*zcdp_rho(event(events::PermuteAndFlip{2}))), truth);
  EXPECT_LT(2 * round_up(*zcdp_rho(event(events::Exponential{2}))), truth);
}

TEST(Renyi, LaplaceMatchesTheClosedForm) {
  for (const double a : {1.5, 2.0, 7.0, 64.0}) {
    const double e = 0.8;
    const double truth = std::log(a / (2 * a - 1) * std::exp((a - 1) * e) +
                                  (a - 1) / (2 * a - 1) * std::exp(-a * e)) /
                         (a - 1);
    expect_just_above(at(laplace("5/4"), a), truth, 1e-10);
  }
}

TEST(Renyi, GivenCurvesAreReadBetweenTheirOrdersByConvexity) {
  const Event given = event(events::Rdp{{2, 4}, {0.1, 0.3}});
  EXPECT_DOUBLE_EQ(at(given, 2), 0.1);
  EXPECT_DOUBLE_EQ(at(given, 4), 0.3);
  EXPECT_NEAR(at(given, 3), (0.1 + 0.9) / 2 / 2, 1e-10);
  EXPECT_NEAR(at(given, 1.5), 0.1, 1e-10);
  EXPECT_TRUE(std::isinf(at(given, 5)));
  // A Gaussian's own curve bounds it at every order.
  const Event curve = event(events::Rdp{{2, 8, 32}, {1, 4, 16}});
  for (const double order : {1.2, 3.0, 7.5, 20.0}) EXPECT_GE(at(curve, order), order / 2);
}

// Sampled events that are known by their curve alone get the bound (1-q) + q E[r^a]; it must lie
// between the exact divergence and no amplification.
TEST(Renyi, CurvesAmplifyByConvexity) {
  for (const double order : {1.5, 4.0, 16.0}) {
    const double exact = at(poisson("0.1", {gaussian("2")}), order);
    const double bound = at(poisson("0.1", {zcdp("1/8")}), order);
    EXPECT_GE(bound, exact);
    EXPECT_LT(bound, order / 8);
  }
}

TEST(Renyi, ApproximateEventsHaveNoFiniteDivergence) {
  EXPECT_TRUE(std::isinf(renyi_epsilon(renyi_curve({approximate("1", "1e-9")}), 1e-6)));
}

TEST(Renyi, DeltaAndEpsilonInvertEachOther) {
  const RenyiCurve curve = renyi_curve({poisson("0.01", {gaussian("1")}, 1000)});
  const double epsilon = renyi_epsilon(curve, 1e-5);
  EXPECT_NEAR(renyi_delta(curve, epsilon), 1e-5, 1e-10);
  EXPECT_LE(renyi_delta(curve, 0), 1);
}

// Bounded range: epsilon^2/8-zCDP (Cesar and Rogers 2021) at low orders, epsilon at high ones.
TEST(Renyi, TheExponentialMechanismIsConcentrated) {
  const RenyiCurve curve = renyi_curve({exponential("0.4")}, {2, 8, 1e6});
  EXPECT_NEAR(curve.epsilons[0], 2 * 0.02, 1e-9);
  EXPECT_NEAR(curve.epsilons[1], 8 * 0.02, 1e-9);
  EXPECT_LE(curve.epsilons[2], 0.4 * (1 + 1e-12));
  EXPECT_GT(curve.epsilons[2], 0.39);
}

// The accountant reads every eighth order and those around the best; the full curve must not know better.
TEST(Renyi, TheAccountantFindsTheBestOrderOfTheWholeCurve) {
  for (const auto& events : std::vector<std::vector<Event>>{
           {poisson("0.01", {gaussian("1")}, 1000)},
           {poisson("0.04", {gaussian("1.5")}, 2250), laplace("30", "1", 20)},
           {gaussian("300")},
           {gaussian("0.05"), exponential("0.1", 10)},
           {pure("0.01")},
           {zcdp("1e-8")}}) {
    for (const double at : {1e-3, 1e-9}) {
      EXPECT_EQ(epsilon_at(events, at, Accountant::kRdp).epsilon,
                renyi_epsilon(renyi_curve(events), at));
    }
    EXPECT_EQ(delta_at(events, 0.5, Accountant::kRdp).delta, renyi_delta(renyi_curve(events), 0.5));
  }
}

// A divergence that underflows at orders next to 1 is not a proof of no loss: the true delta at epsilon 0 is
// rate times the Gaussian's, above 0.
TEST(Renyi, AnUnderflowAtOneOrderIsNoProofOfNothing) {
  for (const char* rate : {"1e-150", "1e-155", "1e-158", "1e-160"}) {
    EXPECT_GT(delta_at({poisson(rate, {gaussian("1")})}, 0, Accountant::kRdp).delta, 0) << rate;
  }
}

}  // namespace
}  // namespace gauze
