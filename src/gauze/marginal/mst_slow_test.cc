#include <gtest/gtest.h>

#include "gauze/marginal/mst.h"
#include "gauze/marginal/row_sampler.h"
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

constexpr double kDelta = 0.01;
const Shape kAuditedByMst{{2, 2, 2}};

const Mst& audited() {
  static const Mst method(
      {.domain = kAuditedByMst, .epsilon = 1, .delta = parse_ratio("0.01"), .rows_per_unit = 1});
  return method;
}

AuditOptions audit_of_mst(std::uint64_t seed) {
  return {.trials = 10'000, .seed = seed, .delta = kDelta};
}

using Said = double (*)(const SyntheticRows& made);

double audited_by(Said said, std::uint64_t seed) {
  const auto sampler = [said](std::size_t rows) {
    return [said, rows](BitSource& bits) {
      return said(release_once(audited(), alike(kAuditedByMst, rows), bits));
    };
  };
  return audited_epsilon(sampler(2), sampler(3), audit_of_mst(seed));
}

TEST(MstAudit, AcceptsWhatItMeasuresAndItsRows) {
  EXPECT_LE(
      audited_by(
          [](const SyntheticRows& made) { return testing::evidence_of_zeros(made.measured); }, 11),
      1);
  EXPECT_LE(
      audited_by([](const SyntheticRows& made) { return static_cast<double>(made.rows.rows()); },
                 12),
      1);
  EXPECT_LE(audited_by(
                [](const SyntheticRows& made) {
                  return static_cast<double>(made.rows.counts({0, 1, 2})[0]);
                },
                13),
            1);
}

/// A twin that measures every column with `share` of the budget each.
double audited_twin(const Ratio& share, std::uint64_t seed) {
  const auto sampler = [&share](std::size_t rows) {
    return [&share, rows](BitSource& bits) {
      Meter meter(Event{events::Zcdp{1000}, Relation::kAddRemove});
      Context context{meter, bits};
      TableMeasurer measurer(1, context);
      const CodedRows people = alike(kAuditedByMst, rows);
      for (std::uint32_t column = 0; column < 3; ++column)
        measurer.measure(people, {column}, share, 0);
      return testing::evidence_of_zeros(measurer.log());
    };
  };
  return audited_epsilon(sampler(2), sampler(3), audit_of_mst(seed));
}

TEST(MstAudit, CatchesBrokenTwins) {
  const Ratio rho = rho_for(1, parse_ratio("0.01"));
  // The whole budget on the columns is within the promise.
  EXPECT_LE(audited_twin(Ratio(rho / 3), 21), 1);
  // S7: noise divided by the number of columns.
  EXPECT_GT(audited_twin(Ratio(9 * rho / 3), 22), 1);
  // A11 and A13: tables that are measured beyond the budget, each with all of it.
  EXPECT_GT(audited_twin(Ratio(3 * rho), 23), 1);
  // M2: as many rows as there are, of a model that is all noise.
  const auto exact = [](std::size_t rows) {
    return [rows](BitSource& bits) {
      const CodedRows made = sampled_rows(GraphicalModel(kAuditedByMst, 1), rows, bits);
      return static_cast<double>(made.rows());
    };
  };
  EXPECT_GT(audited_epsilon(exact(2), exact(3), audit_of_mst(24)), 1);
}

}  // namespace
}  // namespace gauze
