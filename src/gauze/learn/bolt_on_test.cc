#include "gauze/learn/bolt_on.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "gauze/learn/trainer.h"
#include "gauze/testing/contract.h"
#include "gauze/testing/matchers.h"
#include "gauze/testing/seeded_bits.h"

namespace gauze {
namespace {

using testing::release_once;
using testing::SeededBits;
using Row = std::vector<double>;

Examples people(std::uint64_t units, double label) {
  Examples examples = Examples::dense(2);
  for (std::uint64_t i = 0; i < units; ++i) {
    examples.start_unit();
    examples.add_row(Row{0.8, 0.1 * static_cast<double>(i % 5)}, i % 3 == 0 ? -label : label);
  }
  return examples;
}

SgdPlan plan_for(std::uint64_t records) {
  return {.schedule = Schedule::strongly_convex(0.35, 0.1),
          .records = records,
          .passes = 4,
          .batch = 5,
          .regularisation = 0.1,
          .radius = 10};
}

BoltOn learner(const Ratio& epsilon, Relation relation, const Ratio& delta = 0,
               std::uint64_t records = 60) {
  return BoltOn({.loss = Loss::logistic(),
                 .plan = plan_for(records),
                 .dimension = 2u,
                 .epsilon = epsilon,
                 .relation = relation,
                 .delta = delta});
}

TEST(BoltOn, PassesTheContract) {
  testing::expect_contract(learner(1, Relation::kReplace), people(60, 1), people(60, -1));
  testing::expect_contract(learner(1, Relation::kAddRemove), people(60, 1), people(43, -1));
  testing::expect_contract(learner(1, Relation::kAddRemove), people(0, 1), people(100, -1));
  testing::expect_contract(learner(1, Relation::kReplace, parse_ratio("1e-6")), people(60, 1),
                           people(60, -1));
}

// Without noise it is plain SGD: at an epsilon of 2^20 what is left is noise of some 2^-20, and the bits that
// choose the order are drawn first.
TEST(BoltOn, IsTheTrainedModelWhenTheNoiseVanishes) {
  const Examples data = people(60, 1);
  const SgdPlan plan = plan_for(60);
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    SeededBits same(seed);
    const Row plain = train(data, Loss::logistic(), plan, RandomSlots(60, plan, same));
    for (const Relation relation : {Relation::kReplace, Relation::kAddRemove}) {
      const BoltOn quiet = learner(Ratio(power_of_two(20)), relation);
      SeededBits bits(seed);
      const Row model = release_once(quiet, data, bits);
      const double allowed = quiet.accuracy(0.999999).half_width;
      EXPECT_LT(allowed, 1e-5);
      EXPECT_NEAR(model[0], plain[0], allowed);
      EXPECT_NEAR(model[1], plain[1], allowed);
    }
  }
}

// 2 L / (lambda m) whatever the batch, at the parameters of the thesis 2 / (1e-4 * 60000) = 1/3.
TEST(BoltOn, DoesNotDivideByTheBatch) {
  const auto scale = [](std::uint64_t batch) {
    SgdPlan plan{.schedule = Schedule::strongly_convex(0.35, 0.1),
                 .records = 1000,
                 .passes = 2,
                 .batch = batch,
                 .regularisation = 0.1,
                 .radius = 10};
    return BoltOn({.loss = Loss::logistic(),
                   .plan = plan,
                   .dimension = 2u,
                   .epsilon = 1,
                   .relation = Relation::kReplace})
        .sensitivity()
        .l2_sensitivity;
  };
  EXPECT_NEAR(scale(1), 2 / (0.1 * 1000), 1e-4);
  EXPECT_NEAR(scale(10), 2 / (0.1 * 1000), 1e-3);
}

TEST(BoltOn, KeepsReleasedModelsInTheBall) {
  SgdPlan plan = plan_for(60);
  plan.radius = 0.01;
  const BoltOn loud({.loss = Loss::logistic(),
                     .plan = plan,
                     .dimension = 2u,
                     .epsilon = Ratio(1, 100),
                     .relation = Relation::kAddRemove});
  SeededBits bits(7);
  for (int i = 0; i < 100; ++i) {
    const Row model = release_once(loud, people(60, 1), bits);
    EXPECT_LE(std::hypot(model[0], model[1]), 0.01 * (1 + 1e-12));
  }
}

TEST(BoltOn, RefusesWhatItsProofDoesNotCover) {
  const auto with = [](const Loss& loss, auto change) {
    SgdPlan plan = plan_for(60);
    change(plan);
    return BoltOn({.loss = loss,
                   .plan = plan,
                   .dimension = 2u,
                   .epsilon = 1,
                   .relation = Relation::kReplace});
  };
  const auto nothing = [](SgdPlan&) {};
  EXPECT_ERROR(with(Loss::hinge(), nothing), ErrorCode::kInvalidOption);
  EXPECT_ERROR(with(Loss::squared(9), nothing), ErrorCode::kInvalidOption);
  EXPECT_ERROR(with(Loss::squared(10), [](SgdPlan& p) { p.radius = kInfinity; }),
               ErrorCode::kInvalidOption);
  EXPECT_ERROR(with(Loss::logistic(), [](SgdPlan& p) { p.schedule = Schedule::constant(10); }),
               ErrorCode::kInvalidOption);
  EXPECT_ERROR(with(Loss::logistic(), [](SgdPlan& p) { p.batch = 61; }), ErrorCode::kInvalidOption);
  EXPECT_ERROR(learner(0, Relation::kReplace), ErrorCode::kInvalidOption);
  EXPECT_ERROR(learner(1, Relation::kLocal), ErrorCode::kInvalidOption);
  SeededBits bits(8);
  EXPECT_ERROR(release_once(learner(1, Relation::kReplace), people(59, 1), bits),
               ErrorCode::kInvalidInput);
  EXPECT_ERROR(release_once(learner(1, Relation::kReplace), Examples::dense(3), bits),
               ErrorCode::kInvalidInput);
  EXPECT_ERROR(release_once(learner(1, Relation::kAddRemove), Examples::dense(2, 4), bits),
               ErrorCode::kInvalidInput);
}

}  // namespace
}  // namespace gauze
