#include "gauze/marginal/graphical_model.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "gauze/random/uniform.h"
#include "gauze/testing/matchers.h"
#include "gauze/testing/seeded_bits.h"

namespace gauze {
namespace {

using testing::SeededBits;

const Shape kModelled{{2, 3, 2, 4}};

Clique all_columns(const Shape& domain) {
  Clique all(domain.axes());
  std::iota(all.begin(), all.end(), 0u);
  return all;
}

double uniform_number(BitSource& bits) {
  return static_cast<double>(bits.next() >> 11) * 0x1p-53;
}

Factor random_table(const Shape& domain, const Clique& clique, BitSource& bits) {
  Factor table(domain, clique);
  for (double& value : table.values()) value = 4 * uniform_number(bits) - 2;
  return table;
}

/// The whole distribution of a model, from its potentials.
Factor joint_of(const GraphicalModel& model) {
  Factor sum(model.domain(), all_columns(model.domain()));
  for (const auto& [clique, factor] : model.potentials()) sum += factor;
  Factor joint = sum.exp(sum.log_sum());
  joint *= model.total();
  return joint;
}

/// The nearest point with these entries' sum, all 0 or more (Held, Wolfe and Crowder 1974).
std::vector<double> onto_simplex(std::vector<double> x, double total) {
  std::vector<double> sorted = x;
  std::sort(sorted.rbegin(), sorted.rend());
  double sum = 0, shift = 0;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    sum += sorted[i];
    const double t = (sum - total) / static_cast<double>(i + 1);
    if (sorted[i] > t) shift = t;
  }
  for (double& value : x) value = std::max(0.0, value - shift);
  return x;
}

double loss_of(const Factor& joint, const std::vector<NoisyTable>& measurements) {
  double loss = 0;
  for (const NoisyTable& each : measurements) {
    const Factor table = joint.marginal(each.clique);
    for (std::size_t i = 0; i < table.cells(); ++i)
      loss += each.weights[i] * (table[i] - each.values[i]) * (table[i] - each.values[i]) / 2;
  }
  return loss;
}

/// The least squares over all distributions, by projected gradients on the whole table.
double least_loss(const Shape& domain, const std::vector<NoisyTable>& measurements, double total) {
  Factor joint(domain, all_columns(domain), total / static_cast<double>(domain.cells()));
  double curve = 0;
  for (const NoisyTable& each : measurements)
    curve += each.weights[0] * static_cast<double>(domain.cells() / each.values.size());
  for (int step = 0; step < 20000; ++step) {
    Factor slope(domain, joint.clique());
    for (const NoisyTable& each : measurements) {
      Factor off = joint.marginal(each.clique);
      for (std::size_t i = 0; i < off.cells(); ++i)
        off.values()[i] = each.weights[i] * (off[i] - each.values[i]);
      slope += off;
    }
    std::vector<double> x(joint.values().begin(), joint.values().end());
    for (std::size_t i = 0; i < x.size(); ++i) x[i] -= slope[i] / curve;
    joint = Factor(domain, joint.clique(), onto_simplex(std::move(x), total));
  }
  return loss_of(joint, measurements);
}

/// The distribution of largest entropy with these tables, by iterative proportional fitting.
Factor largest_entropy(const Shape& domain, const std::vector<Factor>& tables) {
  Factor joint(domain, all_columns(domain), 1.0);
  for (int round = 0; round < 2000; ++round) {
    for (const Factor& table : tables) {
      Factor ratio = table;
      ratio /= joint.marginal(table.clique());
      joint *= ratio;
    }
  }
  return joint;
}

const std::vector<Clique>& circle() {
  static const std::vector<Clique> cliques = {{0, 1}, {1, 2}, {2, 3}, {0, 3}};
  return cliques;
}

TEST(GraphicalModel, GivesTheMarginalsOfItsProduct) {
  SeededBits bits(1);
  const Shape domain{{2, 3, 2, 4, 2, 3}};
  const std::vector<std::vector<Clique>> graphs = {{},
                                                   {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 5}},
                                                   {{0, 1}, {1, 2}, {2, 3}, {0, 3}},
                                                   {{0, 1, 2}, {4}},
                                                   {{0, 5}, {1, 5}, {2, 5}, {3, 5}, {4, 5}}};
  for (const auto& graph : graphs) {
    GraphicalModel::Potentials potentials;
    for (const Clique& clique : graph)
      potentials.emplace(clique, random_table(domain, clique, bits));
    const GraphicalModel model(domain, potentials, 1000);
    const Factor joint = joint_of(model);
    for (std::uint32_t set = 0; set < 64; ++set) {
      Clique clique;
      for (std::uint32_t column = 0; column < 6; ++column)
        if ((set >> column & 1) != 0) clique.push_back(column);
      const Factor found = model.marginal(clique), expected = joint.marginal(clique);
      ASSERT_EQ(found.clique(), clique);
      for (std::size_t i = 0; i < found.cells(); ++i) ASSERT_NEAR(found[i], expected[i], 1e-8);
    }
  }
}

TEST(GraphicalModel, KnowsTheRowOfTheLargestSum) {
  SeededBits bits(2);
  GraphicalModel::Potentials potentials;
  for (const Clique& clique : circle())
    potentials.emplace(clique, random_table(kModelled, clique, bits));
  const GraphicalModel model(kModelled, potentials, 1);
  Factor sum(kModelled, all_columns(kModelled));
  for (const auto& [clique, factor] : potentials) sum += factor;
  EXPECT_NEAR(model.largest(potentials), sum.max_marginal({})[0], 1e-12);
  EXPECT_NEAR(model.log_partition(), sum.log_sum(), 1e-12);
}

TEST(GraphicalModel, RefusesTablesBeyondTheLimit) {
  const GraphicalModel model(kModelled, 1);
  EXPECT_ERROR(model.marginal({0, 1, 2}, 11), ErrorCode::kUnsupported);
  EXPECT_NEAR(model.marginal({0, 1, 2}, 12)[0], 1.0 / 12, 1e-12);
}

TEST(GraphicalModel, KnowsBeforehandHowLargeTheTablesOfAnAnswerAre) {
  // A chain of columns of 10: its ends are answered by tables of three columns, however long it is.
  const Shape domain{std::vector<std::uint32_t>(8, 10)};
  GraphicalModel::Potentials potentials;
  for (std::uint32_t i = 0; i < 7; ++i)
    potentials.emplace(Clique{i, i + 1}, Factor(domain, {i, i + 1}));
  const GraphicalModel model(domain, potentials, 100);
  EXPECT_EQ(model.cells_to_answer({0, 7}), 1000u);
  EXPECT_EQ(model.cells_to_answer({2, 3}), 100u);
  EXPECT_ERROR(model.marginal({0, 7}, 999), ErrorCode::kUnsupported);
  EXPECT_NEAR(model.marginal({0, 7}, 1000)[99], 1, 1e-9);
}

TEST(GraphicalModel, FitsTablesWithoutNoiseByTheLargestEntropy) {
  SeededBits bits(3);
  Factor truth = random_table(kModelled, all_columns(kModelled), bits).exp();
  truth *= 500 / truth.sum();
  std::vector<NoisyTable> measurements;
  std::vector<Factor> tables;
  for (const Clique& clique : circle()) {
    tables.push_back(truth.marginal(clique));
    const auto values = tables.back().values();
    measurements.push_back(noisy_table(clique, {values.begin(), values.end()}, 1));
  }
  const Fit found = fit(kModelled, measurements, {.tolerance = 1e-9, .most_steps = 20000});
  EXPECT_LT(found.loss, 1e-6);
  const Factor expected = largest_entropy(kModelled, tables);
  const Factor joint = joint_of(found.model);
  for (std::size_t i = 0; i < joint.cells(); ++i) EXPECT_NEAR(joint[i], expected[i], 0.01);
}

TEST(GraphicalModel, FitsNoisyTablesByLeastSquaresOverAllDistributions) {
  SeededBits bits(4);
  for (const double noise : {1.0, 30.0}) {
    for (int run = 0; run < 4; ++run) {
      Factor truth = random_table(kModelled, all_columns(kModelled), bits).exp();
      truth *= 200 / truth.sum();
      std::vector<NoisyTable> measurements;
      for (const Clique& clique : circle()) {
        const Factor table = truth.marginal(clique);
        std::vector<double> values(table.values().begin(), table.values().end());
        for (double& value : values) value += noise * 3.4 * (uniform_number(bits) - 0.5);
        measurements.push_back(noisy_table(clique, std::move(values), noise));
      }
      const double total = estimated_total(measurements).total;
      const double least = least_loss(kModelled, measurements, total);
      const Fit found = fit(kModelled, measurements, {.tolerance = 1e-4, .most_steps = 20000});
      EXPECT_NEAR(found.loss, least, 1e-3 * (1 + least));
      EXPECT_GE(found.gap + 1e-6, found.loss - least);
      EXPECT_NEAR(loss_of(joint_of(found.model), measurements), found.loss, 1e-6 * (1 + least));
      // The rule stops far earlier at its default, and keeps what it promises.
      const Fit soon = fit(kModelled, measurements);
      EXPECT_LE(soon.steps, found.steps);
      EXPECT_LE(soon.loss - least, soon.gap + 1e-6);
    }
  }
}

TEST(GraphicalModel, WeighsMeasurementsByTheirVariance) {
  const Shape domain{{2}};
  const std::vector<NoisyTable> both = {noisy_table({0}, {10, 0}, 1), noisy_table({0}, {0, 10}, 2)};
  EXPECT_NEAR(estimated_total(both).total, 10, 1e-9);
  EXPECT_NEAR(estimated_total(both).variance, 1 / (1 / 2.0 + 1 / 8.0), 1e-9);
  const Fit found = fit(domain, both, {.tolerance = 1e-12, .most_steps = 5000});
  EXPECT_NEAR(found.model.marginal({0})[0], 8, 1e-3);  // 4/5 of 10
}

TEST(GraphicalModel, TotalsBelowNothingAreNoRows) {
  const std::vector<NoisyTable> negative = {noisy_table({0}, {-5, 1}, 1)};
  EXPECT_EQ(estimated_total(negative).total, 0);
  const Fit found = fit(kModelled, negative);
  EXPECT_EQ(found.model.total(), 0);
  EXPECT_EQ(found.model.marginal({0, 2}).sum(), 0);
  EXPECT_EQ(estimated_total({}).total, 0);
  // A negative cell beside others is nothing, and the rest has the total.
  const Fit part = fit(Shape{{2}}, std::vector<NoisyTable>{noisy_table({0}, {-5, 25}, 1)});
  EXPECT_NEAR(part.model.marginal({0})[1], 20, 0.1);
}

TEST(GraphicalModel, GoesOnFromAnEarlierFit) {
  SeededBits bits(5);
  Factor truth = random_table(kModelled, all_columns(kModelled), bits).exp();
  truth *= 300 / truth.sum();
  std::vector<NoisyTable> measurements;
  for (const Clique& clique : circle()) {
    const Factor table = truth.marginal(clique);
    measurements.push_back(noisy_table(clique, {table.values().begin(), table.values().end()}, 1));
  }
  const FitOptions closely{.tolerance = 1e-4, .most_steps = 20000};
  const Fit first = fit(kModelled, std::span(measurements).first(3), closely);
  const Fit cold = fit(kModelled, measurements, closely);
  const Fit warm = fit(kModelled, measurements, closely, &cold.model);
  EXPECT_LE(warm.steps, kModelled.axes());
  const Fit further = fit(kModelled, measurements, closely, &first.model);
  EXPECT_NEAR(further.loss, cold.loss, 0.01);
}

TEST(GraphicalModel, RefusesMeasurementsThatDoNotFit) {
  const auto refused = [](const NoisyTable& each) {
    EXPECT_ERROR(fit(kModelled, std::vector<NoisyTable>{each}), ErrorCode::kInvalidInput);
  };
  refused(noisy_table({0}, {1, 2, 3}, 1));
  refused(noisy_table({4}, {1, 2}, 1));
  refused(noisy_table({0}, {1, NAN}, 1));
  refused({{0}, {1, 2}, {1, -1}});
  EXPECT_ERROR(fit_to_total(kModelled, {}, -1), ErrorCode::kInvalidInput);
}

}  // namespace
}  // namespace gauze
