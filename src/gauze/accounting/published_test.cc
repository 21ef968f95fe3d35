// Values published by other libraries that need more than one call of ours.
#include <algorithm>
#include <boost/math/distributions/normal.hpp>
#include <cmath>
#include <nlohmann/json.hpp>

#include "gauze/accounting/accountant.h"
#include "gauze/accounting/gaussian.h"
#include "gauze/accounting/pld.h"
#include "gauze/accounting/rdp.h"
#include "gauze/testing/events.h"
#include "gauze/testing/matchers.h"

namespace gauze {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace): the event builders

/// Discrete Gaussian noise cut off beyond +-reach on data that differ by `shift`; each unit takes
/// part with probability `rate`. What only one of the two worlds can produce has infinite loss.
DominatingPair truncated_pair(double sigma, int reach, int shift, double rate) {
  const auto mass = [&](int x) {
    return std::abs(x) > reach ? 0.0 : std::exp(-x * x / (2 * sigma * sigma));
  };
  double total = 0;
  for (int x = -reach; x <= reach; ++x) total += mass(x);
  DominatingPair pair;
  for (int x = -reach; x <= reach + shift; ++x) {
    const double q = mass(x) / total;
    const double p = (1 - rate) * q + rate * mass(x - shift) / total;
    if (q == 0) {
      pair.p_only += p;
    } else if (p == 0) {
      pair.q_only += q;
    } else {
      pair.atoms.push_back({std::log(p / q), p, q});
    }
  }
  return pair;
}

TEST(Published, TruncatedDiscreteGaussianNoise) {
  struct Row {
    double sigma;
    int reach;
    int shift;
    double rate;
    double epsilon;
    double delta;
  };
  for (const Row& row : {Row{1, 2, 1, 1, 1, 0.150574425}, Row{10, 5, 3, 1, 1, 0.263672394},
                         Row{1, 2, 1, 0.8, 1, 0.101734157}, Row{5, 5, 3, 0.4, 0.1, 0.104486937}}) {
    const DominatingPair pair = truncated_pair(row.sigma, row.reach, row.shift, row.rate);
    EXPECT_NEAR(pld_delta({{pair, 1}}, row.epsilon), row.delta, 2e-7) << row.sigma;
  }
}

// The published relation lets a record become "none", whose answer is uniform: a mixture of the
// answers of all records, so a bound for any two records covers it.
TEST(Published, RandomizedResponseAgainstNoRecordIsCoveredByOurRelation) {
  const std::vector<double> orders = {1.5, 2.5, 5, 50};
  const std::vector<double> published = {2.8985312, 2.9615415, 2.9829089, 2.9946855};
  const RenyiCurve curve = renyi_curve({randomized_response("0.9525", 20)}, orders);
  for (std::size_t i = 0; i < orders.size(); ++i) {
    EXPECT_GE(curve.epsilons[i], published[i]);
    // The published numbers from their definition: D(uniform || answers to one record).
    const double a = orders[i];
    const double sum =
        0.05 * std::pow(0.05 / 0.9525, a - 1) + 0.95 * std::pow(0.05 / 0.0025, a - 1);
    EXPECT_NEAR(std::log(sum) / (a - 1), published[i], 3e-4 * published[i]);
  }
}

// Read off the profile: no test with 10 % false alarms finds a person more
// often than this, and the nearest normal pair is mu apart.
TEST(Published, PowerOfTheBestTestAgainstTwoPureLosses) {
  const std::vector<Event> both = {pure("1"), pure("2")};
  std::vector<std::pair<double, double>> profile;
  for (const double epsilon : {0.0, 1.0, 3.0}) {  // between its kinks delta is linear in e^epsilon
    profile.emplace_back(epsilon, delta_at(both, epsilon, Accountant::kPld).delta);
  }
  const auto power = [&](double false_positive) {
    double least = 1;
    for (const auto& [epsilon, delta] : profile) {
      least = std::min({least, delta + std::exp(epsilon) * false_positive,
                        1 - std::exp(-epsilon) * (1 - delta - false_positive)});
    }
    return least;
  };
  EXPECT_NEAR(power(0.1), 0.8286, 1e-4);
  const boost::math::normal_distribution<double> normal;
  double mu = 0;
  for (double x = 2e-4; x < 0.5; x += 2e-4) {  // the largest is at a kink, x = 0.1192
    mu = std::max(mu, quantile(normal, power(x)) - quantile(normal, x));
  }
  EXPECT_NEAR(mu, 2.358, 2e-4);
}

// Microbatches of several people double what one of them moves: two epochs of noise 0.7 without
// sampling.
TEST(Published, MicrobatchesDoubleTheSensitivity) {
  const Event epochs = gaussian("0.7", "2", 2);
  EXPECT_NEAR(epsilon_at({epochs}, 1e-5).epsilon, 24.7160779, 1e-6);
  const double renyi = epsilon_at({epochs}, 1e-5, Accountant::kRdp).epsilon;
  EXPECT_LE(renyi, 26.2880374);
  EXPECT_GT(renyi, 24.7160779);
  EXPECT_LT(epsilon_at({gaussian("0.7", "1", 2)}, 1e-5).epsilon, 10.860);
}

// Losses rounded up to whole numbers: the masses of Laplace noise on -1, (-1, 0], (0, 1].
TEST(Published, LossesOfLaplaceNoiseOnACoarseGrid) {
  const auto parts = dominating_pairs({laplace("1")}, Direction::kRemove);
  double one = 0;
  double zero = 0;
  double minus_one = 0;
  for (const LossNode& node : loss_nodes(parts[0].pair, 1)) {
    (node.loss > 0 ? one : node.loss > -1 ? zero : minus_one) += std::exp(node.log_weight);
  }
  EXPECT_NEAR(one, 0.69673467, 1e-8);
  EXPECT_NEAR(zero, 0.11932561, 1e-8);
  EXPECT_NEAR(minus_one, 0.18393972, 1e-8);
}

// Poisson sampling under replace needs to know where the answer without either record lies, which an
// event under replace does not say; it is refused. The way out the message names, no sampling, is a
// bound: the published deltas are for sampled noise on answers that lie 2 * 2 and 2 * 1 apart.
TEST(Published, PoissonSamplingUnderReplaceIsRefusedAndTheWayOutIsABound) {
  const Event noise = event(events::Gaussian{3, 4}, 1, Relation::kReplace);
  const Event sampled =
      event(events::PoissonSampled{parse_ratio("0.8"), {noise}}, 1, Relation::kReplace);
  EXPECT_ERROR(sampled.validate(), ErrorCode::kCannotCompose);
  EXPECT_ERROR(delta_at({sampled}, 1), ErrorCode::kCannotCompose);
  EXPECT_GE(delta_at({noise}, 1).delta, 0.13711260900644096);
  const Event other = event(events::Gaussian{2, 2}, 1, Relation::kReplace);
  EXPECT_GE(delta_at({other}, 2).delta, 2.4770380148941894e-09);
}

// Poisson batches that are cut to a fixed size: whoever joins may push somebody else out, and how often
// depends on the number of the others, which is private under add_remove. There is no such event; reading
// one is an error. Selections coupled but for one unit and the one it pushes out differ by at most two
// clipped contributions, so noise without sampling at twice the sensitivity is a bound.
TEST(Published, BatchesCutToASizeAreRefusedAndTheWayOutIsABound) {
  const nlohmann::json noise = {{"type", "gaussian"}, {"sigma", 1}, {"l2_sensitivity", 1}};
  const nlohmann::json cut = {
      {"type", "truncated_poisson_sampled"}, {"rate", 0.5}, {"batch", 2}, {"event", noise}};
  EXPECT_ERROR(event_from_json(cut), ErrorCode::kUnknownName);
  EXPECT_GE(epsilon_at({gaussian("1", "2", 5)}, 1e-6).epsilon, 17.90433);
}

/// Both pairs, of which public coins take the first with this probability.
DominatingPair mixture(double probability, const DominatingPair& first,
                       const DominatingPair& second) {
  DominatingPair mixed;
  for (const auto& [weight, pair] : {std::pair(probability, &first), {1 - probability, &second}}) {
    for (const LossAtom& atom : pair->atoms)
      mixed.atoms.push_back({atom.loss, weight * atom.p, weight * atom.q});
    mixed.p_only += weight * pair->p_only;
    mixed.q_only += weight * pair->q_only;
  }
  return mixed;
}

// When it is known how many there are, such batches have a loss distribution. Let k of the n - 1 others
// be drawn. If k < batch, a unit takes part with the rate and moves the sum by 1. Else `batch` of the
// others fill the batch, each such set equally likely whatever k is, and the unit takes the place of one
// of them with the probability that it is in a cut batch, given k >= batch: it moves the sum by 2.
// Telling which of the two happened only adds to the loss. The published 17.90433 prices the second
// case by replacing a unit that may be in or out, which is more than happens.
TEST(Published, BatchesCutToASizeOfAKnownNumberOfPeople) {
  const auto step = [](double cut, const char* taken, Direction direction) {
    const auto sampled = [&](const char* rate, const char* sensitivity) {
      return composed_pair(
          dominating_pairs({poisson(rate, {gaussian("1", sensitivity)})}, direction));
    };
    return mixture(cut, sampled(taken, "2"), sampled("0.5", "1"));
  };
  double epsilon = 0;
  for (const Direction direction : {Direction::kRemove, Direction::kAdd}) {
    // Rate 1/2, batches of at most 2. Of 4 people: P(2 or 3 of 3 others) = 1/2, and the unit is in a
    // cut batch in 3/8 * 1/2 * 2/3 + 1/8 * 1/2 * 1/2 = 5/32. Of 3 people: 1/4 and 1/4 * 1/2 * 2/3.
    const DominatingPair four = step(0.5, "5/16", direction);
    const DominatingPair three = step(0.25, "1/3", direction);
    epsilon = std::max(epsilon, pld_epsilon({{four, 3}, {three, 2}}, 1e-6));
  }
  // The same mixture by another library's distributions of sampled normal noise.
  EXPECT_NEAR(epsilon, 16.4565088, 2e-4);
  EXPECT_LE(epsilon, 17.90433);
  // As if nobody were ever pushed out: less than it costs.
  EXPECT_LT(epsilon_at({poisson("0.5", {gaussian("1")}, 5)}, 1e-6).epsilon, epsilon);
}

}  // namespace
}  // namespace gauze
