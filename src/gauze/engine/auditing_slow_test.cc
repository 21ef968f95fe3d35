#include <gtest/gtest.h>

#include <map>

#include "gauze/engine/auditing.h"
#include "gauze/testing/audit_options.h"
#include "gauze/testing/matchers.h"
#include "gauze/testing/registry_options.h"

namespace gauze {
namespace {

using gauze::testing::audit_options;
using gauze::testing::required_options;
using nlohmann::json;

/// Options with so many times the loss, for the same claim.
json weaker(json options, int factor) {
  const auto value = [&](const char* name) {
    const json& given = options[name];
    return given.is_string() ? std::stod(given.get<std::string>()) : given.get<double>();
  };
  for (const char* name : {"epsilon", "temperature"})
    if (options.contains(name)) options[name] = value(name) * factor;
  for (const char* name : {"scale", "sigma", "tolerance"})
    if (options.contains(name)) options[name] = value(name) / factor;
  if (options.contains("p")) options["p"] = "0.9";
  return options;
}

audit::Subject subject_of(const Algorithm& algorithm, const json& options) {
  const OptionValues values(algorithm.options, options);
  return audit_subject(algorithm, values, neighbours_for(algorithm, values));
}

std::uint64_t runs_for(const Algorithm& algorithm) {
  if (algorithm.name == "subsample_stability") return 1000;  // a thousand passes over the rows each
  return algorithm.histogram ? 20'000 : 80'000;
}

/// Statistics of people, histograms, and all others, apart so that they run beside each other.
enum class Family : std::uint8_t { kPeople, kHistograms, kOthers };

template <class Check>
void for_each_of(Family family, Check check) {
  for (const Algorithm& algorithm : algorithms()) {
    const Family own = algorithm.histogram    ? Family::kHistograms
                       : algorithm.per_person ? Family::kPeople
                                              : Family::kOthers;
    if (own != family) continue;
    SCOPED_TRACE(algorithm.name);
    check(algorithm);
  }
}

// A sound algorithm is accused with probability 1e-3 at most; seeds are fixed.
void expect_sound(const Algorithm& algorithm) {
  audit::Subject subject = subject_of(algorithm, required_options(algorithm));
  if (algorithm.name == "subsample_stability") subject.pairs.resize(2);
  const audit::Report report = audit::audit(subject, audit_options(1, runs_for(algorithm)));
  EXPECT_FALSE(report.violation())
      << report.finding.epsilon << " instead of " << report.finding.claimed.epsilon << " on "
      << report.pairs[report.finding.pair].name << ": " << report.finding.event;
}

/// How many times its epsilon an algorithm must spend for the audit to notice: 2, and more where its
/// proof, or what the audit looks at, leaves room.
int factor_of(const Algorithm& algorithm) {
  static const std::map<std::string, int> others = {
      {"quantiles", 4},     {"quantile_interval", 8},   {"interquartile_range", 8},
      {"mwem", 4},          {"key_selection", 4},       {"smooth_median", 4},
      {"block_k_means", 4}, {"propose_test_median", 8}, {"scale_estimate", 8},
      {"sparse_vector", 3}, {"above_threshold", 2},     {"retraversal", 3},
      {"thresholdout", 4},  {"history_answers", 4},     {"online_change_point", 8},
      {"paprika", 4}};
  const auto found = others.find(algorithm.name);
  return found == others.end() ? 2 : found->second;
}

void expect_twin_caught(const Algorithm& algorithm) {
  // It answers for thousands of rows only, and its constants leave room for more than the twin takes.
  if (algorithm.name == "subsample_stability") return;
  const json options = required_options(algorithm);
  audit::Subject twin = subject_of(algorithm, weaker(options, factor_of(algorithm)));
  twin.claim = subject_of(algorithm, options).claim;
  const audit::Report report = audit::audit(twin, audit_options(2, 2 * runs_for(algorithm)));
  EXPECT_TRUE(report.violation()) << "only " << report.finding.epsilon << " at "
                                  << report.finding.claimed.delta;
}

TEST(AuditedRegistrySlow, StatisticsOfPeopleKeepTheirClaims) {
  for_each_of(Family::kPeople, expect_sound);
}
TEST(AuditedRegistrySlow, HistogramsKeepTheirClaims) {
  for_each_of(Family::kHistograms, expect_sound);
}
TEST(AuditedRegistrySlow, AllOthersKeepTheirClaims) {
  for_each_of(Family::kOthers, expect_sound);
}
TEST(AuditedRegistrySlow, StatisticsOfPeopleThatSpendMoreAreCaught) {
  for_each_of(Family::kPeople, expect_twin_caught);
}
TEST(AuditedRegistrySlow, HistogramsThatSpendMoreAreCaught) {
  for_each_of(Family::kHistograms, expect_twin_caught);
}
TEST(AuditedRegistrySlow, OthersThatSpendMoreAreCaught) {
  for_each_of(Family::kOthers, expect_twin_caught);
}

}  // namespace
}  // namespace gauze
