#include <gtest/gtest.h>

#include "gauze/marginal/aim.h"
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

const Shape kAuditedByAim{{2, 2, 2}};

AuditOptions audit_of_aim(std::uint64_t seed) {
  return {.trials = 6000, .seed = seed, .delta = 0.01};
}

/// The method at this budget, by all that it measures.
double audited_tables(const Ratio& epsilon, std::uint64_t seed) {
  const Aim method({.domain = kAuditedByAim,
                    .epsilon = epsilon,
                    .delta = parse_ratio("0.01"),
                    .rows_per_unit = 1,
                    .rows = 1,
                    .way = 2});
  const auto sampler = [&method](std::size_t rows) {
    return [&method, rows](BitSource& bits) {
      return testing::evidence_of_zeros(
          release_once(method, alike(kAuditedByAim, rows), bits).measured);
    };
  };
  return audited_epsilon(sampler(2), sampler(3), audit_of_aim(seed));
}

/// By the number of rows that it makes up.
double audited_rows(std::uint64_t seed) {
  const Aim method({.domain = kAuditedByAim,
                    .epsilon = 1,
                    .delta = parse_ratio("0.01"),
                    .rows_per_unit = 1,
                    .way = 2});
  const auto sampler = [&method](std::size_t rows) {
    return [&method, rows](BitSource& bits) {
      return static_cast<double>(
          release_once(method, alike(kAuditedByAim, rows), bits).rows.rows());
    };
  };
  return audited_epsilon(sampler(2), sampler(3), audit_of_aim(seed));
}

TEST(AimAudit, AcceptsWhatItMeasuresAndItsRows) {
  EXPECT_LE(audited_tables(1, 1), 1);
  EXPECT_LE(audited_rows(2), 1);
}

TEST(AimAudit, CatchesNoiseDividedByTheNumberOfColumns) {
  // A third of the noise is nine times the rho: the twin is the method at an epsilon that has it.
  const Ratio rho = rho_for(1, parse_ratio("0.01"));
  Ratio epsilon = 1;
  while (rho_for(epsilon, parse_ratio("0.01")) < 9 * rho) epsilon += Ratio(1, 10);
  EXPECT_GT(audited_tables(epsilon, 3), 1);
}

TEST(AimAudit, CatchesTablesThatNobodyCharged) {
  // A13: columns and as many tables again, each at what all of the budget would buy.
  const Ratio rho = rho_for(1, parse_ratio("0.01"));
  const auto sampler = [&rho](std::size_t rows) {
    return [&rho, rows](BitSource& bits) {
      Meter meter(Event{events::Zcdp{1000}, Relation::kAddRemove});
      Context context{meter, bits};
      TableMeasurer measurer(1, context);
      for (const Clique& clique : std::vector<Clique>{{0}, {1}, {2}, {0, 1}, {1, 2}, {0, 2}})
        measurer.measure(alike(kAuditedByAim, rows), clique, rho, 0);
      return testing::evidence_of_zeros(measurer.log());
    };
  };
  EXPECT_GT(audited_epsilon(sampler(2), sampler(3), audit_of_aim(4)), 1);
}

}  // namespace
}  // namespace gauze
