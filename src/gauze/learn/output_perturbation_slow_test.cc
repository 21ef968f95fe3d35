#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "gauze/learn/minimiser.h"
#include "gauze/learn/output_perturbation.h"
#include "gauze/testing/audit.h"
#include "gauze/testing/contract.h"

namespace gauze {
namespace {

using Row = std::vector<double>;

// Everybody but the first has no features. Huber's loss is linear where these models are, so that the first
// person moves the minimiser by all the sensitivity.
Examples one_against_many(std::uint64_t units, double label) {
  Examples examples = Examples::dense(1);
  for (std::uint64_t i = 0; i < units; ++i) {
    examples.start_unit();
    examples.add_row(Row{i == 0 && label != 0 ? 1.0 : 0.0}, label);
  }
  return examples;
}

OutputPerturbation learner(Relation relation, const Ratio& delta = 0) {
  return OutputPerturbation({.loss = Loss::huber(0.5),
                             .lambda = 0.5,
                             .records = std::uint64_t{100},
                             .dimension = 1u,
                             .epsilon = 1,
                             .relation = relation,
                             .delta = delta});
}

TEST(OutputPerturbation, SurvivesTheAuditOfWholeReleases) {
  for (const Relation relation : {Relation::kReplace, Relation::kAddRemove}) {
    for (const double delta : {0.0, 0.01}) {
      const OutputPerturbation right = learner(relation, ratio_of_decimal(delta));
      const auto released = [&](const Examples& data) {
        return
            [&right, data](BitSource& bits) { return testing::release_once(right, data, bits)[0]; };
      };
      const bool replace = relation == Relation::kReplace;
      const Examples other = replace ? one_against_many(100, -1) : one_against_many(99, 0);
      const double found = testing::audited_epsilon(
          released(one_against_many(100, 1)), released(other), {.trials = 20000, .delta = delta});
      EXPECT_LE(found, 1);
      EXPECT_GT(found, delta == 0 ? 0.6 : -1.0) << "the audit sees what there is";
    }
  }
}

// Noise for somebody more or less where somebody is replaced: the true loss is 2.
TEST(OutputPerturbation, SurvivesTheAuditThatCatchesTheOtherRelationsSensitivity) {
  const Objective objective{Loss::huber(0.5), 0.5, 100};
  const double half = minimiser_sensitivity(1, 0.5, 100, Relation::kAddRemove);
  const ModelNoise noise(
      {.l2_sensitivity = half, .dimension = 1u, .epsilon = 1, .relation = Relation::kReplace});
  const auto released = [&](double label) {
    const Row model = minimise(one_against_many(100, label), objective, 1e-9).model;
    return [&noise, model](BitSource& bits) { return noise.add(model, bits)[0]; };
  };
  EXPECT_GT(testing::audited_epsilon(released(1), released(-1), {.trials = 40000}), 1.3);
}

}  // namespace
}  // namespace gauze
