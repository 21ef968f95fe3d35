#include "gauze/learn/output_perturbation.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "gauze/learn/minimiser.h"
#include "gauze/testing/contract.h"
#include "gauze/testing/matchers.h"
#include "gauze/testing/seeded_bits.h"

namespace gauze {
namespace {

using testing::release_once;
using testing::SeededBits;
using Row = std::vector<double>;

Examples people(std::uint64_t units, double label) {
  Examples examples = Examples::sparse(2);
  for (std::uint64_t i = 0; i < units; ++i) {
    examples.start_unit();
    examples.add_row(Row{0.8, 0.1 * static_cast<double>(i % 5)}, i % 3 == 0 ? -label : label);
  }
  return examples;
}

OutputPerturbation learner(const Ratio& epsilon, Relation relation, const Ratio& delta = 0,
                           double lambda = 0.1) {
  return OutputPerturbation({.loss = Loss::logistic(),
                             .lambda = lambda,
                             .records = std::uint64_t{60},
                             .dimension = 2u,
                             .epsilon = epsilon,
                             .relation = relation,
                             .delta = delta});
}

TEST(OutputPerturbation, PassesTheContract) {
  testing::expect_contract(learner(1, Relation::kReplace), people(60, 1), people(60, -1));
  testing::expect_contract(learner(1, Relation::kAddRemove), people(0, 1), people(500, -1));
  testing::expect_contract(learner(4, Relation::kReplace, parse_ratio("1e-6")), people(60, 1),
                           people(60, -1));
}

// 2 / (N lambda) under replace, half of it under add_remove, a five-hundredth more for the solver.
TEST(OutputPerturbation, CoversTheMinimisersSensitivityAndTheSolver) {
  const double replace = 2 / (60 * 0.1);
  EXPECT_GE(learner(1, Relation::kReplace).l2_sensitivity(), replace);
  EXPECT_NEAR(learner(1, Relation::kReplace).l2_sensitivity(), replace * (1 + 1.0 / 512), 1e-9);
  EXPECT_NEAR(learner(1, Relation::kAddRemove).l2_sensitivity(), replace / 2 * (1 + 1.0 / 512),
              1e-9);
}

TEST(OutputPerturbation, IsTheMinimiserWhenTheNoiseVanishes) {
  const OutputPerturbation quiet = learner(Ratio(power_of_two(20)), Relation::kAddRemove);
  SeededBits bits(1);
  const Row model = release_once(quiet, people(50, 1), bits);
  const Minimum fit = minimise(people(50, 1), {Loss::logistic(), 0.1, 60}, 1e-9);
  const double allowed = quiet.accuracy(0.999999).half_width + quiet.solver_distance() + 1e-9;
  EXPECT_LT(allowed, 1e-2);
  EXPECT_NEAR(model[0], fit.model[0], allowed);
  EXPECT_NEAR(model[1], fit.model[1], allowed);
}

TEST(OutputPerturbation, RefusesWhatItsProofDoesNotCover) {
  const auto with = [](const Loss& loss, double lambda) {
    return OutputPerturbation({.loss = loss,
                               .lambda = lambda,
                               .records = std::uint64_t{60},
                               .dimension = 2u,
                               .epsilon = 1,
                               .relation = Relation::kReplace});
  };
  EXPECT_ERROR(with(Loss::hinge(), 1), ErrorCode::kInvalidOption);
  EXPECT_ERROR(with(Loss::squared(1), 1), ErrorCode::kInvalidOption);
  EXPECT_ERROR(with(Loss::logistic(), 0), ErrorCode::kInvalidOption);
  EXPECT_ERROR(with(Loss::logistic(), 1e-12), ErrorCode::kInvalidOption);
  EXPECT_ERROR(learner(0, Relation::kReplace), ErrorCode::kInvalidOption);
  EXPECT_ERROR(learner(1, Relation::kUser), ErrorCode::kInvalidOption);
  SeededBits bits(2);
  EXPECT_ERROR(release_once(learner(1, Relation::kReplace), people(59, 1), bits),
               ErrorCode::kInvalidInput);
  EXPECT_ERROR(release_once(learner(1, Relation::kAddRemove), Examples::dense(3), bits),
               ErrorCode::kInvalidInput);
}

}  // namespace
}  // namespace gauze
