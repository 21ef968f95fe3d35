// What a sparse vector costs: its pair, its Renyi curve, and real runs below both.
#include <gtest/gtest.h>

#include <cmath>

#include "gauze/accounting/accountant.h"
#include "gauze/accounting/loss.h"
#include "gauze/accounting/pld.h"
#include "gauze/accounting/rdp.h"
#include "gauze/testing/audit.h"
#include "gauze/testing/broken_sparse_vector.h"
#include "gauze/testing/events.h"
#include "gauze/testing/matchers.h"

namespace gauze {
namespace {

using testing::event;
using testing::kAbove;
using testing::kBelow;

Event sparse(const char* threshold, const char* positive, std::uint64_t positives = 1) {
  return event(events::SparseVector{parse_ratio(threshold), parse_ratio(positive), positives});
}

/// Renyi divergence of a waiting time, summed term by term.
double waiting_divergence(double eta, double alpha) {
  const double p = 1 / (1 + std::exp(-eta));
  double moment = 0;
  for (int k = 0; k < 2000; ++k) {
    moment += std::exp(std::log(p) + k * std::log1p(-p) + (alpha - 1) * eta * (1 - k));
  }
  return std::log(moment) / (alpha - 1);
}

TEST(SparseVectorEvent, RejectsParametersOutsideTheirRange) {
  EXPECT_ERROR(sparse("-1", "1").validate(), ErrorCode::kInvalidOption);
  EXPECT_ERROR(sparse("1", "-1").validate(), ErrorCode::kInvalidOption);
  EXPECT_ERROR(sparse("1", "1", 0).validate(), ErrorCode::kInvalidOption);
}

TEST(SparseVectorEvent, CostsItsThresholdAndEveryPositive) {
  EXPECT_EQ(pure_epsilon(sparse("0.1", "0.02", 5)), Ratio(1, 5));
  EXPECT_EQ(epsilon_at({sparse("0.1", "0.02", 5)}, 0).epsilon, 0.2);
  EXPECT_EQ(epsilon_at({sparse("0.1", "0.02", 5)}, 0, Accountant::kPure).epsilon, 0.2);
}

TEST(SparseVectorEvent, HasTheRenyiCurveOfItsWaitingTimes) {
  for (const auto& [text, eta] :
       {std::pair<const char*, double>{"0.01", 0.01}, {"0.3", 0.3}, {"2", 2}}) {
    const RenyiCurve curve = renyi_curve({sparse("0", text, 3)}, {1.01, 1.5, 2, 8, 64});
    const double rho = round_up(*zcdp_rho(sparse("0", text, 1000))) / 1000;
    for (std::size_t i = 0; i < curve.orders.size(); ++i) {
      const double alpha = curve.orders[i];
      const double one = waiting_divergence(eta, alpha);
      const double closed =
          (eta * alpha - std::log(1 + std::exp(eta) - std::exp(-eta * (alpha - 1)))) / (alpha - 1);
      EXPECT_NEAR(one / closed, 1, 1e-8);
      // As any pure loss of 3 eta it has a curve too, and takes the lower.
      EXPECT_LE(curve.epsilons[i], 3 * one * (1 + 1e-3));
      EXPECT_LE(one, alpha * rho * (1 + 1e-9));
    }
    // Where three waits are cheaper than one loss of three times the size, the curve is theirs.
    EXPECT_NEAR(curve.epsilons[1] / (3 * waiting_divergence(eta, 1.5)), 1, 1e-8);
    // rho is the limit at order 1, hence the least.
    EXPECT_NEAR(waiting_divergence(eta, 1 + 1e-5) / rho, 1, 1e-3);
  }
}

TEST(SparseVectorEvent, TakesRhoFromItsPartsOrAsAWhole) {
  const double parts = 0.1 * 0.1 / 2 + 100 * 0.01 * (1 - std::exp(-0.01));
  EXPECT_NEAR(round_up(*zcdp_rho(sparse("0.1", "0.01", 100))), parts, 1e-12);
  EXPECT_GE(round_up(*zcdp_rho(sparse("0.1", "0.01", 100))), parts * (1 - 1e-15));
  EXPECT_EQ(zcdp_rho(sparse("0.1", "1")), Ratio(121, 200));
}

// delta of c waiting times by going through all of up to 60 each; the threshold's part by its two
// losses.
TEST(SparseVectorEvent, HasTheDeltaOfItsPair) {
  const auto delta = [](double threshold, double eta, int positives, double epsilon) {
    const double p = 1 / (1 + std::exp(-eta));
    std::vector<double> below = {1};  // how many coins fell below in all, under P
    for (int c = 0; c < positives; ++c) {
      std::vector<double> next(below.size() + 60);
      for (std::size_t i = 0; i < below.size(); ++i)
        for (std::size_t k = 0; k <= 60; ++k)
          next[i + k] += below[i] * p * std::pow(1 - p, static_cast<double>(k));
      below = next;
    }
    double sum = 0;
    for (const double sign : {1.0, -1.0}) {
      const double odds = 1 / (1 + std::exp(-sign * threshold));
      for (std::size_t k = 0; k < below.size(); ++k) {
        const double loss = sign * threshold + eta * (positives - static_cast<double>(k));
        sum += odds * below[k] * std::max(0.0, -std::expm1(epsilon - loss));
      }
    }
    return sum;
  };
  for (const double epsilon : {0.0, 0.2, 0.5, 0.9}) {
    for (const auto& [text, eta, c] :
         {std::tuple<const char*, double, int>{"0.5", 0.5, 1}, {"0.25", 0.25, 3}}) {
      const auto found =
          delta_at({sparse("0.3", text, static_cast<std::uint64_t>(c))}, epsilon, Accountant::kPld);
      const double expected = delta(0.3, eta, c, epsilon);
      EXPECT_GE(found.delta, expected * (1 - 1e-9)) << c << " " << epsilon;
      EXPECT_LE(found.delta, expected * (1 + 2e-3) + 1e-12) << c << " " << epsilon;
    }
  }
}

// One coin and one waiting time: the largest loss has a large probability, the others go far down.
TEST(SparseVectorEvent, HasTheEpsilonThatBelongsToADelta) {
  for (const auto& [threshold, positive, c] :
       {std::tuple<const char*, const char*, std::uint64_t>{"0.3", "0.5", 1},
        {"0.01", "3", 1},
        {"0.1", "0.01", 30}}) {
    const Event price = sparse(threshold, positive, c);
    for (const double delta : {1e-2, 1e-6}) {
      const double epsilon = epsilon_at({price}, delta, Accountant::kPld).epsilon;
      EXPECT_LE(epsilon, round_up(*pure_epsilon(price)) * (1 + 1e-12));
      // No smaller one would do.
      const double less = epsilon * (1 - 1e-3) - 1e-6;
      if (less > 0) {
        EXPECT_GT(delta_at({price}, less, Accountant::kPld).delta, delta);
      } else {
        EXPECT_LE(delta_at({price}, 0, Accountant::kPld).delta, delta * 1.01);
      }
    }
    // A delta far below every probability is as good as none.
    EXPECT_NEAR(epsilon_at({price}, 1e-80, Accountant::kPld).epsilon,
                round_up(*pure_epsilon(price)), 1e-3);
  }
}

/// All transcripts of so many questions with at most `positives` above, none after the last.
void for_all_transcripts(std::size_t questions, std::uint64_t positives,
                         const std::function<void(const testing::Transcript&)>& visit) {
  testing::Transcript said;
  const std::function<void(std::uint64_t)> grow = [&](std::uint64_t left) {
    if (said.size() == questions || left == 0) return visit(said);
    for (const double next : {kBelow, kAbove}) {
      said.push_back(next);
      grow(next == kAbove ? left - 1 : left);
      said.pop_back();
    }
  };
  grow(positives);
}

// Exact probabilities of everything that can be said, for neighbours whose answers move in many
// ways: no divergence exceeds what the event says, and some come close.
TEST(SparseVectorEvent, DominatesWhatRealConversationsReveal) {
  const std::vector<std::vector<double>> moves = {
      {1, 1, 1, 1, -1, -1}, {1, -1, 1, -1, 1, -1}, {-1, -1, -1, 1, 1, 1}, {1, 0, 0, 1, -1, 0}};
  const std::vector<double> starts = {0, -2, 2};
  double closest = 0;
  for (const std::uint64_t c : {1u, 2u}) {
    const auto variant = testing::algorithm_18(0.5, 1, c, false);
    const Event price = event(events::SparseVector{Ratio(1, 2), Ratio(1, Integer(c)), c});
    const std::vector<double> epsilons = {0.1, 0.4, 0.8, 1.2};
    std::vector<double> deltas;
    for (const double epsilon : epsilons)
      deltas.push_back(delta_at({price}, epsilon, Accountant::kPld).delta);
    const RenyiCurve curve = renyi_curve({price}, {1.5, 2, 5, 20});
    for (const auto& move : moves) {
      for (const double start : starts) {
        const std::vector<double> one(6, start);
        std::vector<double> other = one;
        for (std::size_t i = 0; i < other.size(); ++i) other[i] += move[i];
        std::vector<double> p;
        std::vector<double> q;
        for_all_transcripts(6, c, [&](const testing::Transcript& said) {
          p.push_back(variant.probability(one, std::vector<double>{0}, said));
          q.push_back(variant.probability(other, std::vector<double>{0}, said));
        });
        for (std::size_t i = 0; i < epsilons.size(); ++i)
          EXPECT_LE(testing::hockey_stick(p, q, epsilons[i]), deltas[i] + 1e-9);
        for (std::size_t i = 0; i < curve.orders.size(); ++i) {
          for (const double real : {testing::renyi_divergence(p, q, curve.orders[i]),
                                    testing::renyi_divergence(q, p, curve.orders[i])}) {
            EXPECT_LE(real, curve.epsilons[i] + 1e-9);
            closest = std::max(closest, real / curve.epsilons[i]);
          }
        }
      }
    }
  }
  EXPECT_GT(closest, 0.3);
}

TEST(SparseVectorEvent, OfManyPositivesCostsMuchLessThanItsPureLossAtADelta) {
  const Event many = sparse("0.1", "0.02", 200);  // 4.1 in all
  EXPECT_LT(epsilon_at({many}, 1e-6).epsilon, 2);
  EXPECT_GE(epsilon_at({many}, 1e-6, Accountant::kRdp).epsilon,
            epsilon_at({many}, 1e-6, Accountant::kPld).epsilon);
  // Ten conversations compose.
  EXPECT_LT(epsilon_at({event(many.kind, 10)}, 1e-6).epsilon, 7);
}

TEST(SparseVectorEvent, IsTakenAsPureWhereItIsSampled) {
  const Event sampled = event(events::PoissonSampled{Ratio(1, 10), {sparse("0.1", "0.2", 2)}});
  const Event pure = event(events::PoissonSampled{Ratio(1, 10), {testing::pure("0.5")}});
  EXPECT_EQ(delta_at({sampled}, 0.01, Accountant::kPld).delta,
            delta_at({pure}, 0.01, Accountant::kPld).delta);
  EXPECT_EQ(pure_epsilon(sampled), pure_epsilon(pure));
}

}  // namespace
}  // namespace gauze
