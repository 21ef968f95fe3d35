#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <vector>

#include "gauze/learn/bolt_on.h"
#include "gauze/learn/trainer.h"
#include "gauze/testing/audit.h"
#include "gauze/testing/contract.h"

namespace gauze {
namespace {

using Row = std::vector<double>;
using Sampler = std::function<double(BitSource&)>;

// Everybody but one, the first if nothing is said, has no features, so that this one's gradient is ±1 in every step: the worst case of
// every bound. Huber's loss with half width 1/2 is linear below a margin of 1/2, where all these models are.
Examples one_against_many(std::uint64_t units, const Row& row, double label,
                          std::uint64_t who = 0) {
  Examples examples = Examples::dense(static_cast<std::uint32_t>(row.size()));
  for (std::uint64_t i = 0; i < units; ++i) {
    examples.start_unit();
    examples.add_row(i == who ? row : Row(row.size()), label);
  }
  return examples;
}

SgdPlan plan_for(std::uint64_t batch, Average average = Average::kLast) {
  return {.schedule = Schedule::strongly_convex(2, 1),
          .records = 100,
          .passes = 1,
          .batch = batch,
          .regularisation = 1,
          .average = average};
}

std::span<const std::uint32_t> as_they_stand(std::uint64_t) {
  static const std::vector<std::uint32_t> slots = [] {
    std::vector<std::uint32_t> all(100);
    std::iota(all.begin(), all.end(), 0);
    return all;
  }();
  return slots;
}

// The first coefficient of what bolt_on does with this sensitivity, given the order.
Sampler released(const SgdPlan& plan, double sensitivity, double label, std::uint64_t who) {
  const ModelNoise noise({.l2_sensitivity = sensitivity,
                          .dimension = 1u,
                          .epsilon = 1,
                          .relation = Relation::kReplace});
  const Row model =
      train(one_against_many(100, {1}, label, who), Loss::huber(0.5), plan, as_they_stand);
  return [noise, model](BitSource& bits) { return noise.add(model, bits)[0]; };
}

double sensitivity_of(const SgdPlan& plan) {
  return sgd_sensitivity(plan, Loss::huber(0.5).bounds(), Relation::kReplace).total();
}

double audited(const SgdPlan& plan, double sensitivity, std::uint64_t who) {
  return testing::audited_epsilon(released(plan, sensitivity, 1, who),
                                  released(plan, sensitivity, -1, who), {.trials = 40000});
}

// Check 14. Noise from the published 2 L / (gamma m b) has a true loss of 10 at b = 10.
TEST(BoltOn, SurvivesTheAuditThatCatchesDivisionByTheBatch) {
  const SgdPlan plan = plan_for(10);
  const double right = sensitivity_of(plan);
  EXPECT_LE(audited(plan, right, 99), 1);
  EXPECT_GT(audited(plan, right, 99), 0.7) << "the audit sees what there is";
  EXPECT_GT(audited(plan, right / 10, 99), 3);
}

// The average of the models of a 1/(gamma t) schedule moves further than the last one: its true loss is 2.6.
TEST(BoltOn, SurvivesTheAuditThatCatchesTheAverageWithTheLastModelsBound) {
  const SgdPlan averaged = plan_for(1, Average::kUniform);
  EXPECT_LE(audited(averaged, sensitivity_of(averaged), 0), 1);
  EXPECT_GT(audited(averaged, sensitivity_of(plan_for(1)), 0), 1.5);
}

// The whole class, with random orders, noise of both kinds, and the first unit gone or changed.
TEST(BoltOn, SurvivesTheAuditOfWholeReleases) {
  for (const Relation relation : {Relation::kReplace, Relation::kAddRemove}) {
    for (const double delta : {0.0, 0.01}) {
      const BoltOn learner({.loss = Loss::huber(0.5),
                            .plan = plan_for(10, Average::kLinear),
                            .dimension = 2u,
                            .epsilon = 1,
                            .relation = relation,
                            .delta = ratio_of_decimal(delta)});
      const Row first = {0.6, 0.8};
      const auto along = [&](const Examples& data) {
        return [&learner, data](BitSource& bits) {
          const Row model = testing::release_once(learner, data, bits);
          return 0.6 * model[0] + 0.8 * model[1];
        };
      };
      const std::uint64_t others = relation == Relation::kReplace ? 100 : 99;
      const Examples without = relation == Relation::kReplace ? one_against_many(others, first, -1)
                                                              : one_against_many(others, {0, 0}, 1);
      EXPECT_LE(testing::audited_epsilon(along(one_against_many(100, first, 1)), along(without),
                                         {.trials = 20000, .delta = delta}),
                1);
    }
  }
}

// An intercept that is trained with the rest and left without noise gives the labels away.
TEST(BoltOn, SurvivesTheAuditThatCatchesAnInterceptWithoutNoise) {
  const SgdPlan plan = plan_for(10);
  const auto sampler = [&](double label, bool noised) -> Sampler {
    const Row model =
        train(one_against_many(100, {0.6, 0.8}, label), Loss::huber(0.5), plan, as_they_stand);
    const ModelNoise noise({.l2_sensitivity = sensitivity_of(plan),
                            .dimension = 2u,
                            .epsilon = 1,
                            .relation = Relation::kReplace});
    return [model, noise, noised](BitSource& bits) {
      return noised ? noise.add(model, bits)[1] : model[1];
    };
  };
  const testing::AuditOptions options{.trials = 20000};
  EXPECT_LE(testing::audited_epsilon(sampler(1, true), sampler(-1, true), options), 1);
  EXPECT_GT(testing::audited_epsilon(sampler(1, false), sampler(-1, false), options), 5);
}

}  // namespace
}  // namespace gauze
