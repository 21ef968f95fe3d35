#include "gauze/marginal/row_sampler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "gauze/testing/matchers.h"
#include "gauze/testing/seeded_bits.h"

namespace gauze {
namespace {

using testing::SeededBits;

double uniform_share(BitSource& bits) {
  return static_cast<double>(bits.next() >> 11) * 0x1p-53;
}

GraphicalModel model_of(const Shape& domain, const std::vector<Clique>& cliques,
                        std::uint64_t seed) {
  SeededBits bits(seed);
  GraphicalModel::Potentials potentials;
  for (const Clique& clique : cliques) {
    Factor factor(domain, clique);
    for (double& value : factor.values()) value = 5 * uniform_share(bits);
    potentials.emplace(clique, std::move(factor));
  }
  return {domain, std::move(potentials), 12345};
}

/// The sum of the distances of shares in a table.
double distance(const GraphicalModel& model, const CodedRows& rows, const Clique& clique) {
  const Factor expected = model.marginal(clique);
  const auto counts = rows.counts(clique);
  double sum = 0;
  for (std::size_t i = 0; i < counts.size(); ++i)
    sum += std::fabs(static_cast<double>(counts[i]) / static_cast<double>(rows.rows()) -
                     expected[i] / model.total());
  return sum;
}

TEST(RowSampler, SharesAreRoundedToANeighbourAndRightOnAverage) {
  SeededBits bits(1);
  const std::vector<double> weights = {0.3, 1.2, 0, 2.5, 0.05, 1.7, 0.25};
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  for (const std::uint64_t rows : {0u, 1u, 3u, 100u}) {
    std::vector<double> average(weights.size(), 0);
    constexpr int kRuns = 20000;
    for (int run = 0; run < kRuns; ++run) {
      const auto shares = rounded_shares(weights, rows, bits);
      ASSERT_EQ(std::accumulate(shares.begin(), shares.end(), std::uint64_t{0}), rows);
      for (std::size_t i = 0; i < shares.size(); ++i) {
        const double due = weights[i] / sum * static_cast<double>(rows);
        ASSERT_LT(std::fabs(static_cast<double>(shares[i]) - due), 1 + 1e-9);
        average[i] += static_cast<double>(shares[i]) / kRuns;
      }
    }
    // A rest has a standard deviation of at most 1/2: six of the average's are 0.0213.
    for (std::size_t i = 0; i < weights.size(); ++i)
      EXPECT_NEAR(average[i], weights[i] / sum * static_cast<double>(rows), 0.0213);
  }
}

TEST(RowSampler, SharesOfNothingAreAlike) {
  SeededBits bits(2);
  EXPECT_EQ(rounded_shares(std::vector<double>{0, 0, 0}, 6, bits),
            (std::vector<std::uint64_t>{2, 2, 2}));
  EXPECT_EQ(rounded_shares(std::vector<double>{0, 5}, 7, bits), (std::vector<std::uint64_t>{0, 7}));
}

TEST(RowSampler, FiveHundredThousandRowsHaveTheTablesOfTheModel) {
  const Shape domain{{5, 7, 4, 6, 3, 8}};
  const std::vector<std::vector<Clique>> graphs = {{{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 5}},
                                                   {{0, 1}, {1, 2}, {2, 3}, {0, 3}, {3, 4}, {3, 5}},
                                                   {{0, 1, 2}, {2, 3, 4}, {4, 5}}};
  std::uint64_t seed = 3;
  for (const auto& graph : graphs) {
    const GraphicalModel model = model_of(domain, graph, ++seed);
    SeededBits bits(seed);
    const CodedRows rows = sampled_rows(model, 500'000, bits);
    ASSERT_EQ(rows.rows(), 500'000u);
    EXPECT_NO_THROW(check_rows(rows));
    // Every table of up to three columns, also those that no node has.
    for (std::uint32_t set = 1; set < 64; ++set) {
      Clique clique;
      for (std::uint32_t column = 0; column < 6; ++column)
        if ((set >> column & 1) != 0) clique.push_back(column);
      if (clique.size() > 3) continue;
      EXPECT_LT(distance(model, rows, clique),
                std::sqrt(static_cast<double>(cells_of(domain, clique)) / 500'000));
    }
  }
}

TEST(RowSampler, TablesOfNodesAreCloserThanDrawnRowsWouldBe) {
  const Shape domain{{5, 7, 4, 6}};
  const GraphicalModel model = model_of(domain, {{0, 1}, {1, 2}, {2, 3}}, 8);
  SeededBits bits(8);
  const CodedRows rows = sampled_rows(model, 500'000, bits);
  for (const Clique& clique : std::vector<Clique>{{0, 1}, {1, 2}, {2, 3}})
    EXPECT_LT(distance(model, rows, clique), 42.0 * 2 / 500'000);
}

TEST(RowSampler, OneOrderOfRanksForAllColumnsWouldBeNoticed) {
  // The twin leaves out the shuffling inside of groups: rows of a group then get their codes in order, in one
  // column as in the next, and columns that have nothing to do with each other depend on each other.
  const Shape domain{{1, 4, 4}};
  const GraphicalModel model = model_of(domain, {{0, 1}, {0, 2}}, 9);
  SeededBits bits(9);
  CodedRows rows = sampled_rows(model, 100'000, bits);
  const double bar = std::sqrt(16.0 / 100'000);
  EXPECT_LT(distance(model, rows, {1, 2}), bar);
  for (const std::size_t column : {1u, 2u})
    std::sort(rows.columns[column].begin(), rows.columns[column].end());
  EXPECT_GT(distance(model, rows, {1, 2}), 3 * bar);
}

TEST(RowSampler, FewRowsAreRightOnAverage) {
  // Largest remainders would give every group of one row its likeliest value.
  const Shape domain{{50, 3}};
  GraphicalModel::Potentials potentials;
  Factor factor(domain, {0, 1});
  for (std::size_t i = 0; i < factor.cells(); ++i)
    factor.values()[i] = std::log(i % 3 == 0 ? 0.5 : i % 3 == 1 ? 0.3 : 0.2);
  potentials.emplace(Clique{0, 1}, factor);
  potentials.emplace(Clique{0}, Factor(domain, {0}));
  SeededBits bits(10);
  const GraphicalModel model(domain, potentials, 50);
  std::vector<double> shares(3, 0);
  for (int run = 0; run < 2000; ++run) {
    const auto counts = sampled_rows(model, 50, bits).counts({1});
    for (std::size_t i = 0; i < 3; ++i) shares[i] += static_cast<double>(counts[i]) / (50.0 * 2000);
  }
  EXPECT_NEAR(shares[0], 0.5, 0.01);
  EXPECT_NEAR(shares[1], 0.3, 0.01);
  EXPECT_NEAR(shares[2], 0.2, 0.01);
}

TEST(RowSampler, RowsComeInRandomOrder) {
  const GraphicalModel model(Shape{{2, 2}}, 10);
  SeededBits bits(11);
  const CodedRows rows = sampled_rows(model, 10'000, bits);
  std::size_t changes = 0;
  for (std::size_t row = 1; row < rows.rows(); ++row)
    changes += rows.columns[0][row] != rows.columns[0][row - 1];
  EXPECT_NEAR(static_cast<double>(changes), 5000, 6 * 50);
}

TEST(RowSampler, NoRowsAreNoRows) {
  SeededBits bits(12);
  const CodedRows rows = sampled_rows(GraphicalModel(Shape{{2, 3}}, 0), 0, bits);
  EXPECT_EQ(rows.rows(), 0u);
  EXPECT_EQ(rows.columns.size(), 2u);
  EXPECT_EQ(sampled_rows(GraphicalModel(Shape{{2, 3}}, 0), 5, bits).rows(), 5u);
}

TEST(CodedRows, CountsAndRefuses) {
  const CodedRows rows{{{2, 3}}, {{0, 1, 1}, {2, 0, 0}}};
  EXPECT_EQ(rows.counts({0, 1}), (std::vector<std::int64_t>{0, 0, 1, 2, 0, 0}));
  EXPECT_EQ(rows.counts({}), std::vector<std::int64_t>{3});
  EXPECT_EQ(rows.mapped({{1, 0}, {0, 0, 1}}, {{2, 2}}).counts({0, 1}),
            (std::vector<std::int64_t>{2, 0, 0, 1}));
  EXPECT_ERROR(check_rows({{{2}}, {{0, 2}}}), ErrorCode::kInvalidInput);
  EXPECT_ERROR(check_rows({{{2, 2}}, {{0}}}), ErrorCode::kInvalidInput);
  EXPECT_ERROR(check_rows({{{2, 2}}, {{0}, {0, 1}}}), ErrorCode::kInvalidInput);
}

}  // namespace
}  // namespace gauze
