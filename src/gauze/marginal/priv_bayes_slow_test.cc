#include <gtest/gtest.h>

#include "gauze/marginal/priv_bayes.h"
#include "gauze/marginal/rows_test_internal.h"
#include "gauze/marginal/zcdp_budget.h"
#include "gauze/testing/audit.h"
#include "gauze/testing/contract.h"

namespace gauze {
namespace {

using testing::alike;
using testing::audited_epsilon;
using testing::AuditOptions;
using testing::release_once;

// Audits on tables of two and three rows, alike in all columns, at delta = 1/100. A right method exceeds its
// epsilon with probability 1e-6.

const Shape kAuditedByBayes{{2, 2, 2}};

PrivBayes audited(const Ratio& epsilon) {
  return PrivBayes({.domain = kAuditedByBayes,
                    .epsilon = epsilon,
                    .delta = parse_ratio("0.01"),
                    .rows_per_unit = 1});
}

using Said = double (*)(const SyntheticRows& made);

double audited_by(const PrivBayes& method, Said said, std::uint64_t seed) {
  const auto sampler = [&method, said](std::size_t rows) {
    return [&method, said, rows](BitSource& bits) {
      return said(release_once(method, alike(kAuditedByBayes, rows), bits));
    };
  };
  return audited_epsilon(sampler(2), sampler(3), {.trials = 10'000, .seed = seed, .delta = 0.01});
}

double by_tables(const SyntheticRows& made) {
  return testing::evidence_of_zeros(made.measured);
}

double by_rows(const SyntheticRows& made) {
  return static_cast<double>(made.rows.rows());
}

TEST(PrivBayesAudit, AcceptsWhatItMeasuresAndItsRows) {
  EXPECT_LE(audited_by(audited(1), by_tables, 1), 1);
  EXPECT_LE(audited_by(audited(1), by_rows, 2), 1);
}

TEST(PrivBayesAudit, CatchesNoiseDividedByTheNumberOfColumns) {
  // A third of the noise is nine times the rho: the twin is the method at an epsilon that has it.
  const Ratio rho = rho_for(1, parse_ratio("0.01"));
  Ratio epsilon = 1;
  while (rho_for(epsilon, parse_ratio("0.01")) < 9 * rho) epsilon += Ratio(1, 10);
  EXPECT_GT(audited_by(audited(epsilon), by_tables, 3), 1);
}

}  // namespace
}  // namespace gauze
