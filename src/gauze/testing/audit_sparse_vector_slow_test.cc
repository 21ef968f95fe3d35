// The auditor on published variants of the sparse vector technique: it finds every broken one within
// ten million runs and accuses none of the sound ones. Inputs are those of the library; nothing tells
// it where to look.
#include <gtest/gtest.h>

#include "gauze/audit/pairs.h"
#include "gauze/testing/audit_options.h"
#include "gauze/testing/broken_sparse_vector.h"

namespace gauze::testing {
namespace {

using audit::Claim;
using audit::Report;
using audit::Subject;

constexpr std::uint64_t kTenMillion = 10'000'000;

/// Transcripts against a threshold of 0, all of one length.
Subject questions(const char* name, const SparseVectorVariant& variant, double claimed,
                  const audit::NumberPairs& pairs) {
  return audit::subject_of(name, Claim::approximate(claimed), pairs,
                           [variant](const std::vector<double>& answers, BitSource& bits) {
                             static const std::vector<double> zero = {0};
                             Transcript said = variant.run(answers, zero, bits);
                             constexpr double kStopped = -1e9;
                             said.resize(answers.size(), kStopped);
                             return said;
                           });
}

audit::NumberPairs any_way() {
  return audit::scores(6, 1, /*monotone=*/false);
}

// Each of these accuses wrongly with probability 1e-3 at most; seeds are fixed.
TEST(AuditSparseVector, PassesTheSoundOnes) {
  const SparseVectorVariant sound[] = {algorithm_12(1, 2), algorithm_13(1, 2),
                                       algorithm_18(0.5, 0.5, 2, false)};
  for (const SparseVectorVariant& variant : sound) {
    const Report report =
        audit::audit(questions("sound", variant, 1, any_way()), audit_options(1, 2'000'000));
    EXPECT_FALSE(report.violation()) << report.finding.event << " " << report.finding.epsilon;
  }
  // Algorithm 15 keeps (1 + 6c)/4 of what it says; its noise is right for that.
  const SparseVectorVariant more[] = {algorithm_15(4.0 / 13, 2), auditorium_svt2(1, 2)};
  for (const SparseVectorVariant& variant : more) {
    const Report report =
        audit::audit(questions("sound", variant, 1, any_way()), audit_options(5, 2'000'000));
    EXPECT_FALSE(report.violation()) << report.finding.event << " " << report.finding.epsilon;
    EXPECT_GT(report.finding.epsilon, 0.2);
  }
  const Report monotone = audit::audit(
      questions("monotone", algorithm_18(0.5, 0.5, 2, true), 1, audit::scores(6, 1, true)),
      audit_options(2, 2'000'000));
  EXPECT_FALSE(monotone.violation()) << monotone.finding.event;
}

void expect_caught(const char* name, const SparseVectorVariant& variant) {
  const Report report =
      audit::audit(questions(name, variant, 1, any_way()), audit_options(3, kTenMillion));
  EXPECT_TRUE(report.violation()) << name << ": only " << report.finding.epsilon << " by "
                                  << report.finding.event;
  EXPECT_LE(report.runs, kTenMillion) << name;
}

TEST(AuditSparseVector, CatchesTheOneThatGivesAwayWhatItCompared) {
  expect_caught("algorithm 14", algorithm_14(1, 1));
}
TEST(AuditSparseVector, CatchesNoiseForOnePositiveWhateverTheirNumber) {
  expect_caught("algorithm 15", algorithm_15(1, 2));
}
TEST(AuditSparseVector, CatchesComparisonsWithoutNoise) {
  expect_caught("algorithm 16", algorithm_16(1));
}
TEST(AuditSparseVector, CatchesTheOneWithoutAnEnd) {
  expect_caught("algorithm 17", algorithm_17(1));
  expect_caught("gptt", gptt(0.5, 0.5));
  expect_caught("gptt uneven", gptt(0.2, 0.8));
}
TEST(AuditSparseVector, CatchesThoseOfDpAuditorium) {
  expect_caught("auditorium svt3", auditorium_svt3(1, 1));
  expect_caught("auditorium svt5", auditorium_svt5(1, 2));
  expect_caught("auditorium svt6", auditorium_svt6(1, 3));
}
TEST(AuditSparseVector, CatchesTheMonotoneOneOnAnswersThatAreNot) {
  expect_caught("algorithm 18, monotone", algorithm_18(0.5, 0.5, 1, true));
}

}  // namespace
}  // namespace gauze::testing
