#include "gauze/histogram/priv_tree.h"

#include <gtest/gtest.h>

#include "gauze/accounting/loss.h"
#include "gauze/histogram/spatial_test_internal.h"
#include "gauze/testing/audit.h"
#include "gauze/testing/statistics.h"

namespace gauze {
namespace {

using testing::release_once;
using testing::SeededBits;

PrivTree::Options options(const Shape& shape, const Ratio& epsilon = 1) {
  return {.shape = shape, .epsilon = epsilon, .rows_per_unit = 1u};
}

TEST(PrivTree, RejectsOptionsOutsideTheirRange) {
  const auto refused = [](auto change) {
    PrivTree::Options wrong = options({{8, 8}});
    change(wrong);
    EXPECT_ERROR(PrivTree(wrong), ErrorCode::kInvalidOption);
  };
  refused([](auto& o) { o.epsilon = Ratio(0); });
  refused([](auto& o) { o.epsilon = Ratio(1, Integer(1) << 60); });
  refused([](auto& o) { o.rows_per_unit = std::uint64_t{0}; });
  refused([](auto& o) { o.shape = Shape{}; });
  refused([](auto& o) { o.structure_share = 0; });
  refused([](auto& o) { o.structure_share = 1; });
  refused([](auto& o) { o.axes_per_split = 0; });
  refused([](auto& o) { o.axes_per_split = 9; });
}

TEST(PrivTree, KeepsTheContract) {
  const Shape shape{{20, 20}};
  PrivTree::Options several = options(shape, Ratio(1, 3));
  several.rows_per_unit = std::uint64_t{3};
  for (const auto& chosen : {options(shape), several}) {
    testing::expect_contract(PrivTree(chosen), testing::clustered(shape, 500, 1), Points{});
    EXPECT_EQ(pure_epsilon(PrivTree(chosen).event()), chosen.epsilon);
  }
}

/// P(Z >= k) of discrete Laplace noise with this scale.
double tail(double scale, double k) {
  const double a = std::exp(-1 / scale);
  return k >= 0 ? std::pow(a, k) / (1 + a) : 1 - std::pow(a, 1 - k) / (1 + a);
}

/// Decisions as the page describes them: scale (2 b - 1) / ((b - 1) epsilon), decay from it.
class Decisions {
 public:
  double scale;
  double decay;

  static Decisions of(double children, double epsilon) {
    const double scale = (2 * children - 1) / ((children - 1) * epsilon);
    return {scale, std::ceil(scale * std::log(children))};
  }
  double split(double count, int depth) const { return tail(scale, 1 - biased(count, depth)); }
  double stay(double count, int depth) const { return tail(scale, biased(count, depth)); }

 private:
  double biased(double count, int depth) const { return std::max(count - depth * decay, -decay); }
};

/// How often the box of cell 0 was halved.
int depth_of_first_cell(const RangeHistogram& histogram) {
  for (const auto& leaf : histogram.partition()) {
    if (leaf.box.begin[0] != 0) continue;
    return static_cast<int>(std::log2(histogram.shape().extents[0] / leaf.box.end[0]));
  }
  return -1;
}

// Rows in cell 0 of 1024 give the depth of its leaf a known distribution; without rows the floor of the
// bias decides. A right method fails once in 10^9 seeds.
TEST(PrivTree, SplitsWithTheProbabilitiesOfItsArgument) {
  PrivTree::Options chosen = options({{1024}});
  chosen.structure_share = Ratio(1, 2);
  const PrivTree method(chosen);
  const Decisions decisions = Decisions::of(2, 0.5);
  for (const auto& [rows, runs] : {std::pair{60, 1000}, std::pair{0, 10'000}}) {
    std::vector<double> probabilities;
    double reached = 1;
    for (int depth = 0; depth < 10; ++depth) {
      const double split = decisions.split(rows, depth);
      probabilities.push_back(reached * (1 - split));
      reached *= split;
    }
    probabilities.push_back(reached);
    const Points points{std::vector<std::uint32_t>(static_cast<std::size_t>(rows), 0)};
    std::vector<std::uint64_t> observed(11, 0);
    SeededBits bits(1);
    for (int run = 0; run < runs; ++run)
      ++observed[static_cast<std::size_t>(depth_of_first_cell(release_once(method, points, bits)))];
    EXPECT_GT(testing::chi_square_p(observed, probabilities), 1e-9);
  }
}

/// The largest loss of a tree when a row comes to a path of boxes with these counts.
double path_loss(const Decisions& decisions, std::span<const int> counts) {
  double loss = 0;
  double worst = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const int depth = static_cast<int>(i);
    const double ends =
        std::log(decisions.stay(counts[i], depth) / decisions.stay(counts[i] + 1, depth));
    worst = std::max(worst, ends - loss);
    loss += std::log(decisions.split(counts[i] + 1, depth) / decisions.split(counts[i], depth));
    worst = std::max(worst, loss);
  }
  return worst;
}

// Exact loss of the structure over paths of forty boxes, for counts that stay, and that fall in a step or
// steadily; without the decay the loss grows with the depth.
TEST(PrivTree, LosesAtMostEpsilonAtAnyDepthWhichDecisionsWithoutDecayDoNot) {
  for (const double epsilon : {0.01, 0.1, 1.0, 5.0}) {
    for (const double children : {2.0, 4.0, 8.0}) {
      const Decisions right = Decisions::of(children, epsilon);
      double worst = 0;
      std::vector<int> counts(40);
      const int step = std::max(1, static_cast<int>(right.decay / 16));
      for (int first = 0; first < 44 * right.decay; first += step) {
        for (std::size_t cut = 0; cut < 40; cut += 3) {
          for (std::size_t i = 0; i < 40; ++i) counts[i] = i < cut ? first : first / 3;
          worst = std::max(worst, path_loss(right, counts));
        }
        for (std::size_t i = 0; i < 40; ++i) counts[i] = first * int(40 - i) / 40;
        worst = std::max(worst, path_loss(right, counts));
      }
      EXPECT_LE(worst, epsilon);
      EXPECT_GT(worst, 0.4 * epsilon);  // the argument gives away less than that
      const Decisions broken{right.scale, 0};
      EXPECT_GT(path_loss(broken, std::vector<int>(40, 0)), 2 * epsilon);
    }
  }
}

// Twelve against thirteen rows in one cell, by the depth of its leaf; with a unit of four rows and noise for one it is
// caught.
TEST(PrivTree, SurvivesTheAuditThatCatchesUnitsOfSeveralRows) {
  const auto depth = [&](std::size_t rows) {
    return [rows, method = PrivTree(options({{64}}, 2))](BitSource& bits) {
      const Points points{std::vector<std::uint32_t>(rows, 0)};
      return double(depth_of_first_cell(release_once(method, points, bits)));
    };
  };
  const testing::AuditOptions trials{.trials = 2000};
  EXPECT_LE(testing::audited_epsilon(depth(12), depth(13), trials), 2.0 / 3);
  EXPECT_GT(testing::audited_epsilon(depth(12), depth(16), trials), 2.0 / 3);
}

// No row against one, by what is released of the first box: the counts' share of epsilon shows, so that the audit
// can fail from below.
TEST(PrivTree, SpendsWhatItSays) {
  const auto first_box = [](std::size_t rows) {
    return [rows, method = PrivTree(options({{16}}, 6))](BitSource& bits) {
      const Points points{std::vector<std::uint32_t>(rows, 0)};
      return release_once(method, points, bits).partition().front().value;
    };
  };
  const double seen = testing::audited_epsilon(first_box(0), first_box(1), {.trials = 3000});
  EXPECT_LE(seen, 6);
  EXPECT_GT(seen, 0.3 * 6);
}

TEST(PrivTree, StatesTheVarianceThatItHas) {
  const Shape shape{{16, 16}};
  const Points points = testing::clustered(shape, 300, 2);
  EXPECT_NEAR(testing::variance_ratio(PrivTree(options(shape)), points, Box::whole(shape), 2000, 3),
              1, 0.25);
}

// 700 boxes or more: 95 % promised, less than 90 % with probability below 1e-7.
TEST(PrivTree, KeepsItsAccuracyPromise) {
  const Shape shape{{64, 64}};
  const Points points = testing::clustered(shape, 20000, 5);
  const PrivTree method(options(shape));
  SeededBits bits(6);
  int kept = 0;
  int all = 0;
  for (int run = 0; run < 3; ++run) {
    for (const auto& leaf : release_once(method, points, bits).partition()) {
      const double error = leaf.value - testing::rows_in(shape, points, leaf.box);
      ++all;
      kept += std::abs(error) <= method.accuracy().half_width ? 1 : 0;
    }
  }
  EXPECT_GE(all, 700);
  EXPECT_GE(kept, 0.9 * all);
}

TEST(PrivTree, GoesDeepWhereTheRowsAreAndNowhereElse) {
  const Points points{{5, 7, 1'000'000, 1'000'000}, {100'000, 20}};
  SeededBits bits(2);
  const auto histogram = release_once(PrivTree(options({{1u << 20, 1u << 20}})), points, bits);
  EXPECT_NEAR(histogram.range(Box{{5, 7}, {6, 8}}).value, 100'000, 100);
  EXPECT_LT(histogram.leaves(), 200u);  // 20 levels of four boxes, and some by chance
  PrivTree::Options shallow = options({{1u << 20, 1u << 20}});
  shallow.max_depth = 3;
  EXPECT_LE(release_once(PrivTree(shallow), points, bits).leaves(), 64u);
}

TEST(PrivTree, HandlesExtremeDomainsAndData) {
  testing::expect_edge_cases([](const Shape& shape) { return PrivTree(options(shape)); });
}

}  // namespace
}  // namespace gauze
