#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "gauze/adaptive/online_change_point.h"
#include "gauze/engine/families.h"
#include "gauze/engine/release.h"
#include "gauze/mechanism/discrete_laplace.h"
#include "gauze/mechanism/quantile.h"
#include "gauze/registry/auditing.h"
#include "gauze/testing/audit_options.h"
#include "gauze/testing/local_sensitivity.h"
#include "gauze/testing/matchers.h"
#include "gauze/testing/registry_options.h"

namespace gauze {
namespace {

using gauze::testing::audit_options;
using gauze::testing::required_options;
using nlohmann::json;
using Data = std::vector<double>;

/// At an epsilon of about 1, and where one person shows little of that, with options with which they
/// show more.
json telling_options(const Algorithm& algorithm) {
  // Somebody more moves the mean of a block from the middle to an end: half of the range.
  if (algorithm.name == "block_k_means")
    return required_options(algorithm, {{"relation", "replace"}});
  // One measurement shows what several small ones show only if all of them are unlikely.
  if (algorithm.name == "mwem") return required_options(algorithm, {{"rounds", 1}});
  if (algorithm.name == "adaptive_hierarchy")
    return required_options(algorithm, {{"expected_rows", 1}});
  return required_options(algorithm);
}

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
  return audit_subject(algorithm, options, neighbours_for(algorithm, options));
}

/// The epsilon of the claims, and what the twins below take for it.
constexpr int kEpsilon = 1;

double quantile_of(Data rows, double probability) {
  if (rows.empty()) return 0;
  std::sort(rows.begin(), rows.end());
  return rows[static_cast<std::size_t>(probability * static_cast<double>(rows.size() - 1))];
}

double private_quantile(const Data& rows, const Ratio& probability, int parts, BitSource& bits) {
  const Quantile quantile({.lower = 0,
                           .upper = 4,
                           .epsilon = Ratio(kEpsilon, parts),
                           .relation = Relation::kAddRemove,
                           .probability = probability});
  return release(quantile, rows, bits).value;
}

/// The upper quartile without noise.
double half_noised_range(const Data& rows, BitSource& bits) {
  return quantile_of(rows, 0.75) - private_quantile(rows, Ratio(1, 4), 2, bits);
}

/// A median with noise, the ends of its interval without.
Data half_noised_interval(const Data& rows, BitSource& bits) {
  return {private_quantile(rows, Ratio(1, 2), 3, bits), quantile_of(rows, 0.25),
          quantile_of(rows, 0.75)};
}

double local_median(Data rows, BitSource& bits) {
  std::sort(rows.begin(), rows.end());
  return testing::local_sensitivity_median(rows, kEpsilon, bits);
}

/// When the alarm is raised has noise, where the change was is seen in the window as it is.
Data exact_place(const Data& ratios, BitSource& bits) {
  constexpr std::size_t kWindow = 3;
  const OnlineChangePoint watch(
      {.lower = -1, .upper = 1, .window = kWindow, .threshold = Ratio(1, 4), .epsilon = kEpsilon});
  const auto alarm = release(watch, ratios, bits).value;
  if (!alarm) return {0, 0};
  const auto window = std::span(ratios).subspan(alarm->seen - kWindow, kWindow);
  const Data sums = change_likelihoods(window, LikelihoodSteps(-1, 1));
  return {static_cast<double>(alarm->seen),
          static_cast<double>(std::max_element(sums.begin(), sums.end()) - sums.begin())};
}

/// Votes of 200 random halves, as if a record had a say in one of them only.
double forgotten_reach(const Data& rows, BitSource& bits) {
  constexpr int kVotes = 200;
  int lead = 0;
  for (int i = 0; i < kVotes; ++i) {
    double taken = 0;
    double sum = 0;
    for (const double row : rows) {
      if ((bits.next() & 1) == 0) continue;
      taken += 1;
      sum += row;
    }
    lead += 2 * sum >= taken ? 1 : -1;
  }
  const DiscreteLaplace noise({.l1_sensitivity = 2u, .scale = Ratio(2, kEpsilon)});
  const auto enough = static_cast<std::int64_t>(2 * std::log(1 / 0.01));
  if (release(noise, std::int64_t{std::abs(lead)}, bits).value < enough) return -1;
  return lead > 0 ? 1 : 0;
}

/// Twins with a mistake of their own, for algorithms that twice the epsilon moves by no more than the
/// claim, or hardly:
/// - The quartiles of one more person move by 3/4 and 1/4 of a rank, of which both have noise for 3/4,
///   so that 2/3 of epsilon is spent at most, and only their difference is seen.
/// - Ends of an interval that few people have are the bounds whatever they hold.
/// - Cauchy noise loses most for a shift where it loses little for a change of scale: 0.63 in all for
///   an epsilon of 1, and 1.14 for 2.
/// - A window that shows where it changed does not hold who delayed the alarm.
/// - A vote of thousands hangs on nobody.
std::map<std::string, audit::Subject> broken_twins() {
  const audit::Claim pure = audit::Claim::approximate(kEpsilon);
  const audit::NumberPairs people = audit::people(0, 4, Relation::kAddRemove);
  const audit::NumberPairs heaps = audit::heaps(0, 1, 1, Relation::kReplace);
  const audit::NumberPairs sequences = {{"the first of a window", {-1, 1, 1}, {1, 1, 1}}};
  return {
      {"interquartile_range", audit::subject_of("range", pure, people, half_noised_range)},
      {"quantile_interval", audit::subject_of("interval", pure, people, half_noised_interval)},
      {"smooth_median", audit::subject_of("median", pure, heaps, local_median)},
      {"online_change_point", audit::subject_of("place", pure, sequences, exact_place)},
      {"subsample_stability", audit::subject_of("votes", audit::Claim::approximate(kEpsilon, 0.01),
                                                heaps, forgotten_reach)}};
}

/// Statistics of people, histograms, and all others, apart so that they run beside each other.
enum class Part : std::uint8_t { kPeople, kHistograms, kOthers };

Part part_of(const Algorithm& algorithm) {
  return algorithm.kind.name == "points"   ? Part::kHistograms
         : algorithm.kind.name == "column" ? Part::kPeople
                                           : Part::kOthers;
}

/// As many as the audit needs; the more, the rarer what gives a twin away.
std::uint64_t runs_for(const Algorithm& algorithm) {
  static const std::map<std::string, std::uint64_t> others = {
      {"subsample_stability", 4000},  // 10,000 subsamples each
      {"sparse_vector", 500'000},    {"above_threshold", 250'000}, {"retraversal", 250'000},
      {"paprika", 250'000},          {"pruned_hierarchy", 40'000}, {"mwem", 40'000}};
  const auto found = others.find(algorithm.name);
  if (found != others.end()) return found->second;
  return part_of(algorithm) == Part::kHistograms ? 20'000 : 80'000;
}

template <class Check>
void for_each_of(Part part, Check check) {
  for (const Algorithm* algorithm : built_in().algorithms()) {
    if (!algorithm->neighbours || part_of(*algorithm) != part) continue;
    SCOPED_TRACE(algorithm->name);
    check(*algorithm);
  }
}

// A sound algorithm is accused with probability 1e-3 at most; seeds are fixed.
void expect_sound(const Algorithm& algorithm, const json& options) {
  const audit::Subject subject = subject_of(algorithm, options);
  const audit::Report report = audit::audit(subject, audit_options(1, runs_for(algorithm)));
  EXPECT_FALSE(report.violation())
      << report.finding.epsilon << " instead of " << report.finding.claimed.epsilon << " on "
      << report.pairs[report.finding.pair].name << ": " << report.finding.event;
}

void expect_claim_kept(const Algorithm& algorithm) {
  const json options = required_options(algorithm);
  expect_sound(algorithm, options);
  if (telling_options(algorithm) != options) expect_sound(algorithm, telling_options(algorithm));
}

void expect_caught(const audit::Subject& twin, std::uint64_t runs) {
  const audit::Report report = audit::audit(twin, audit_options(2, runs));
  EXPECT_TRUE(report.violation()) << "only " << report.finding.epsilon << " at "
                                  << report.finding.claimed.delta;
}

void expect_twin_caught(const Algorithm& algorithm) {
  static const std::map<std::string, audit::Subject> broken = broken_twins();
  if (const auto found = broken.find(algorithm.name); found != broken.end())
    return expect_caught(found->second, 20'000);
  audit::Subject twin = subject_of(algorithm, weaker(telling_options(algorithm), 2));
  twin.claim = subject_of(algorithm, telling_options(algorithm)).claim;
  expect_caught(twin, 2 * runs_for(algorithm));
}

TEST(AuditedRegistrySlow, StatisticsOfPeopleKeepTheirClaims) {
  for_each_of(Part::kPeople, expect_claim_kept);
}
TEST(AuditedRegistrySlow, HistogramsKeepTheirClaims) {
  for_each_of(Part::kHistograms, expect_claim_kept);
}
TEST(AuditedRegistrySlow, AllOthersKeepTheirClaims) {
  for_each_of(Part::kOthers, expect_claim_kept);
}
TEST(AuditedRegistrySlow, StatisticsOfPeopleThatSpendTwiceAsMuchAreCaught) {
  for_each_of(Part::kPeople, expect_twin_caught);
}
TEST(AuditedRegistrySlow, HistogramsThatSpendTwiceAsMuchAreCaught) {
  for_each_of(Part::kHistograms, expect_twin_caught);
}
TEST(AuditedRegistrySlow, OthersThatSpendTwiceAsMuchAreCaught) {
  for_each_of(Part::kOthers, expect_twin_caught);
}

}  // namespace
}  // namespace gauze
