#include <gtest/gtest.h>

#include <map>

#include "gauze/engine/auditing.h"
#include "gauze/testing/audit_options.h"
#include "gauze/testing/matchers.h"

namespace gauze {
namespace {

using gauze::testing::audit_options;
using nlohmann::json;

/// Values that make every algorithm at an epsilon of about 1: one per option name that occurs.
json options_of(const Algorithm& algorithm) {
  const json by_name = {{"epsilon", "1"},
                        {"relation", "add_remove"},
                        {"lower", 0},
                        {"upper", 4},
                        {"l1_sensitivity", 1},
                        {"l2_sensitivity", 1},
                        {"scale", 1},
                        {"sigma", 1},
                        {"sensitivity", 1},
                        {"k", 1},
                        {"candidate_spread", 1},
                        {"temperature", "0.5"},
                        {"bound", 1},
                        {"delta", "0.01"},
                        {"p", "0.75"},
                        {"probabilities", "0.25,0.75"},
                        {"dimension", 2},
                        {"keys_per_unit", 2},
                        {"rows_per_unit", 1},
                        {"cells", 4},
                        {"threshold", "0.25"},
                        {"positives", 2},
                        {"fresh", 2},
                        {"holdout_size", 10},
                        {"tolerance", "0.2"},
                        {"budget", 2},
                        {"blocks", 3},
                        {"before", 0},
                        {"after", 1},
                        {"deviation", "0.5"},
                        {"window", 3},
                        {"rate", "0.2"},
                        {"log_sensitivity", 1},
                        {"floor", "1e-25"},
                        {"rejections", 1},
                        {"tests", 6},
                        {"granularity", 1},
                        {"count_limit", 100}};
  json options = json::object();
  for (const OptionSpec& option : algorithm.options) {
    if (option.required()) options[option.name] = by_name.at(option.name);
  }
  return options;
}

/// The same with so many times the loss, for the same claim.
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
  audit::Subject subject = subject_of(algorithm, options_of(algorithm));
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
  const json options = options_of(algorithm);
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
