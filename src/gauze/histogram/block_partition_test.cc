#include "gauze/histogram/block_partition.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include "gauze/testing/audit.h"
#include "gauze/testing/contract.h"
#include "gauze/testing/statistics.h"

namespace gauze {
namespace {

using testing::release_once;
using testing::SeededBits;
using Counts = std::vector<std::int64_t>;

BlockPartition partition(Shape shape, Ratio epsilon = 1, std::uint64_t rows_per_unit = 1) {
  return BlockPartition(
      {.shape = std::move(shape), .epsilon = epsilon, .rows_per_unit = rows_per_unit});
}

/// Where blocks begin, as bits.
std::uint32_t begins(const BlockTree& tree) {
  std::uint32_t bits = 0;
  for (std::size_t i = 0; i < tree.nodes.size(); ++i)
    if (tree.nodes[i].children == 0) bits |= 1u << tree.bounds[2 * i];
  return bits;
}

/// Sum of distances from the best centre, by trying all.
std::int64_t deviation(const Counts& counts) {
  std::int64_t best = INT64_MAX;
  for (const std::int64_t centre : counts) {
    std::int64_t sum = 0;
    for (const std::int64_t count : counts) sum += std::abs(count - centre);
    best = std::min(best, sum);
  }
  return best;
}

/// The probabilities of all partitions of one axis by their definition: list every partition, weigh it,
/// divide by the sum. `rate` is the loss per deviating row.
std::map<std::uint32_t, double> probabilities(const Counts& counts, double rate) {
  using Weights = std::map<std::uint32_t, double>;
  const double all = static_cast<double>(counts.size());
  const std::function<Weights(std::size_t, std::size_t)> weigh = [&](std::size_t begin,
                                                                     std::size_t end) {
    const std::uint32_t here = 1u << begin;
    if (end - begin == 1) return Weights{{here, 1.0}};
    const double cells = static_cast<double>(end - begin);
    const double odds = std::exp(-0.5 + 0.25 * std::log2(cells / std::sqrt(all)));
    const Counts inside(counts.begin() + static_cast<std::ptrdiff_t>(begin),
                        counts.begin() + static_cast<std::ptrdiff_t>(end));
    Weights weights{{here, std::exp(-rate * static_cast<double>(deviation(inside))) / (1 + odds)}};
    const std::size_t middle = begin + (end - begin + 1) / 2;
    for (const auto& [a, wa] : weigh(begin, middle))
      for (const auto& [b, wb] : weigh(middle, end)) weights[a | b] = wa * wb * odds / (1 + odds);
    return weights;
  };
  Weights weights = weigh(0, counts.size());
  double sum = 0;
  for (const auto& [key, weight] : weights) sum += weight;
  for (auto& [key, weight] : weights) weight /= sum;
  return weights;
}

double largest_log_ratio(const Counts& x, const Counts& y, double rate) {
  std::vector<double> p;
  std::vector<double> q;
  for (const auto& [key, value] : probabilities(x, rate)) p.push_back(value);
  for (const auto& [key, value] : probabilities(y, rate)) q.push_back(value);
  return testing::max_log_ratio(p, q);
}

TEST(BlockPartition, RejectsOptionsOutsideTheirRange) {
  EXPECT_ERROR(partition(Shape{{4}}, 0), ErrorCode::kInvalidOption);
  EXPECT_ERROR(partition(Shape{{4}}, 1, 0), ErrorCode::kInvalidOption);
  EXPECT_ERROR(partition(Shape{{(1u << 24) + 1}}), ErrorCode::kInvalidOption);
  EXPECT_ERROR(partition(Shape{{1u << 24}}, parse_ratio("1e-12")), ErrorCode::kInvalidOption);
  EXPECT_NO_THROW(partition(Shape{{1u << 24}}, parse_ratio("0.001"), 1u << 31));
  SeededBits bits(1);
  EXPECT_ERROR(release_once(partition(Shape{{4}}), Counts(5, 0), bits), ErrorCode::kInvalidInput);
}

// 20,000 draws each; chi-square p below 1e-6 once in a million seeds.
TEST(BlockPartition, DrawsEveryPartitionWithTheProbabilityOfTheExponentialMechanism) {
  for (const Counts& counts : {Counts{3, 3, 4, 0}, Counts{0, 0, 0, 0, 9}, Counts{2, 7}}) {
    const auto expected = probabilities(counts, 0.5);
    std::map<std::uint32_t, std::uint64_t> seen;
    SeededBits bits(7);
    const BlockPartition mechanism = partition(Shape{{static_cast<std::uint32_t>(counts.size())}});
    for (int i = 0; i < 20000; ++i) ++seen[begins(release_once(mechanism, counts, bits))];
    std::vector<std::uint64_t> observed;
    std::vector<double> masses;
    for (const auto& [key, mass] : expected) {
      observed.push_back(seen[key]);
      masses.push_back(mass);
    }
    EXPECT_LE(seen.size(), expected.size());
    EXPECT_GT(testing::chi_square_p(observed, masses), 1e-6);
  }
}

// Probabilities by definition, over all neighbours with counts up to 5: half of epsilon per row is right,
// and all of it, the rate for scores that move one way only, is caught.
TEST(BlockPartition, IsPrivateAndAFasterRateIsNot) {
  double right = 0;
  double broken = 0;
  for (int code = 0; code < 6 * 6 * 6 * 6; ++code) {
    const Counts x = {code % 6, code / 6 % 6, code / 36 % 6, code / 216};
    for (std::size_t cell = 0; cell < 4; ++cell) {
      Counts y = x;
      ++y[cell];
      right = std::max(right, largest_log_ratio(x, y, 0.5));
      broken = std::max(broken, largest_log_ratio(x, y, 1.0));
    }
  }
  EXPECT_LE(right, 1);
  EXPECT_GT(right, 0.5);
  EXPECT_GT(broken, 1.2);
}

TEST(BlockPartition, SurvivesTheAudit) {
  const BlockPartition mechanism = partition(Shape{{3}}, 2);
  const auto sampler = [&](Counts counts) {
    return [&mechanism, counts](BitSource& bits) {
      return static_cast<double>(begins(release_once(mechanism, counts, bits)));
    };
  };
  const testing::AuditOptions options{.trials = 8000};
  EXPECT_LE(testing::audited_epsilon(sampler({4, 0, 4}), sampler({4, 1, 4}), options), 2);
  // Two equal cells are kept together with probability 0.59, with one row more in one of them 0.35; with four times the
  // rate that would be 0.026.
  const BlockPartition of_two = partition(Shape{{2}}, 2);
  const auto two = [&](Counts counts) {
    return [&of_two, counts](BitSource& bits) {
      return static_cast<double>(begins(release_once(of_two, counts, bits)));
    };
  };
  EXPECT_LE(testing::audited_epsilon(two({5, 5}), two({5, 6}), options), 2);
  // Deterministic choice of the best, the broken twin, is caught.
  const auto best = [](Counts counts) {
    return [counts](BitSource&) {
      const auto all = probabilities(counts, 50);
      return static_cast<double>(std::max_element(all.begin(), all.end(), [](auto a, auto b) {
                                   return a.second < b.second;
                                 })->first);
    };
  };
  EXPECT_GT(testing::audited_epsilon(best({0, 0, 0}), best({0, 1, 0}), options), 2);
}

// The bound fails with probability 0.05: of 2,000 at most 150 (4.4 standard deviations) may.
TEST(BlockPartition, KeepsItsAccuracyPromise) {
  const Counts counts = {0, 0, 50, 0, 9, 9, 0, 0};
  const BlockPartition mechanism = partition(Shape{{8}}, Ratio(1, 2));
  const double rate = 0.25;
  const auto cost = [&](std::uint32_t key) {
    double sum = 0;
    Counts block;
    for (std::size_t cell = 0; cell < 8; ++cell) {
      block.push_back(counts[cell]);
      if (cell == 7 || (key >> (cell + 1) & 1) != 0) {
        sum += static_cast<double>(deviation(block));
        block.clear();
      }
    }
    return sum;
  };
  double best = INFINITY;
  for (const auto& [key, prior] : probabilities(Counts(8, 0), rate))
    best = std::min(best, cost(key) - std::log(prior) / rate);
  SeededBits bits(3);
  int failures = 0;
  for (int i = 0; i < 2000; ++i) {
    const double chosen = cost(begins(release_once(mechanism, counts, bits)));
    failures += chosen > best + mechanism.accuracy().half_width ? 1 : 0;
  }
  EXPECT_LE(failures, 150);
}

TEST(BlockPartition, KeepsTheContract) {
  testing::expect_contract(partition(Shape{{5}}), Counts{1, 2, 3, 4, 5}, Counts{0, 0, 0, 0, 0});
}

TEST(BlockPartition, CoversEveryCellOnceWhateverTheShape) {
  SeededBits bits(4);
  for (const Shape& shape : {Shape{{1}}, Shape{{7}}, Shape{{5, 3}}, Shape{{2, 9, 4}}}) {
    Counts counts(shape.cells(), std::int64_t{1} << 62);
    for (std::size_t i = 0; i < counts.size(); i += 2) counts[i] = 0;
    const BlockTree tree = release_once(partition(shape), counts, bits);
    std::vector<int> covered(shape.cells(), 0);
    double volume = 0;
    for (std::size_t i = 0; i < tree.nodes.size(); ++i)
      if (tree.nodes[i].children == 0) volume += tree.box(i, shape.axes()).volume();
    EXPECT_EQ(volume, static_cast<double>(shape.cells()));
    // Deviations of 2^62 leave nothing to chance: unequal neighbours along the halved axis part.
    EXPECT_GT(tree.nodes.size(), shape.cells() > 1 ? 1u : 0u);
  }
}

}  // namespace
}  // namespace gauze
