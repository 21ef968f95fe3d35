#include "gauze/engine/auditing.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "gauze/base/error.h"

namespace gauze {
namespace {

using audit::Norm;

/// Whether the algorithm has an option of this name.
class Has {
 public:
  explicit Has(const Algorithm& algorithm) {
    for (const OptionSpec& option : algorithm.options) names_.insert(option.name);
  }
  bool operator()(const char* name) const { return names_.contains(name); }

 private:
  std::set<std::string> names_;
};

void append(audit::NumberPairs& pairs, audit::NumberPairs more) {
  std::move(more.begin(), more.end(), std::back_inserter(pairs));
}

/// A median from which the distances to the next ones grow as fast as noise that is smooth in the
/// data may: somebody at the top moves both the median and the noise as far as can be.
audit::NumberPairs growing(const OptionValues& values) {
  constexpr int kSteps = 6;
  const double lower = values.real("lower");
  const double width = values.real("upper") - lower;
  std::vector<double> data(kSteps, lower);
  for (int k = kSteps - 1; k >= 0; --k)
    data.push_back(lower + width * std::exp(-values.real("epsilon") / 2 * k));
  std::vector<double> other = data;
  data.push_back(lower);
  other.push_back(lower + width);
  return {{"distances from the median that grow, and one person below or above", data, other}};
}

audit::NumberPairs people_of(const Has& has, const OptionValues& values, Relation relation) {
  const double lower = has("lower") ? values.real("lower") : 0;
  const double upper = has("upper") ? values.real("upper") : 1;
  audit::NumberPairs pairs = audit::people(lower, upper, relation);
  if (relation != Relation::kReplace) return pairs;
  const double high = has("bound") ? lower + values.real("bound") : upper;
  append(pairs, audit::heaps(lower, high, upper, relation));
  if (has("noise")) append(pairs, growing(values));
  return pairs;
}

audit::NumberPairs counts_of(const OptionValues& values) {
  std::size_t cells = 1;
  for (const std::uint64_t extent : values.wholes("cells")) cells *= extent;
  require(cells <= 4096, "cells: must be at most 4096 altogether for an audit");
  return audit::counts(cells, values.whole("rows_per_unit"));
}

audit::NumberPairs answers_of(const Has& has, const OptionValues& values, bool whole) {
  const std::uint64_t dimension =
      has("dimension") ? std::max<std::uint64_t>(values.whole("dimension"), 1) : 1;
  const bool l1 = has("l1_sensitivity");
  return audit::answers(dimension, values.real(l1 ? "l1_sensitivity" : "l2_sensitivity"),
                        l1 ? Norm::kL1 : Norm::kL2, whole);
}

audit::NumberPairs scores_of(const Has& has, const OptionValues& values) {
  constexpr std::size_t kCandidates = 5;
  const std::size_t candidates =
      std::max<std::size_t>(kCandidates, has("k") ? values.whole("k") + 1 : 0);
  if (has("candidate_spread")) {
    double spread = values.real("candidate_spread");
    const bool replace = values.relation() == Relation::kReplace;
    if (replace && values.text("record_spread") != "none")
      spread = std::min(spread, values.real("record_spread"));
    return audit::scores(candidates, spread, !replace);
  }
  if (has("temperature")) return audit::scores(candidates, values.real("bound"), false);
  const bool monotone = has("monotone") && values.flag("monotone");
  const double sensitivity = values.real("sensitivity");
  if (!has("threshold")) return audit::scores(candidates, sensitivity, monotone);
  const double level = values.real("threshold");
  const std::uint64_t positives = has("positives") ? values.whole("positives")
                                  : has("fresh")   ? values.whole("fresh")
                                                   : 1;
  audit::NumberPairs pairs = audit::comparisons(positives, sensitivity, monotone, level);
  append(pairs, audit::scores(candidates, sensitivity, monotone, level));
  return pairs;
}

/// So many people that random subsamples of them agree, or nearly so.
audit::NumberPairs crowds(double granularity) {
  constexpr std::size_t kMany = 3000;
  constexpr std::size_t kNearlyHalf = 1380;
  std::vector<double> alike(kMany, granularity);
  std::vector<double> one_apart = alike;
  one_apart.back() = 1e6 * granularity;
  std::vector<double> split(kMany, 0);
  std::fill_n(split.begin(), kNearlyHalf, granularity);
  std::vector<double> one_more = split;
  one_more.back() = 1e6 * granularity;
  return {{"three thousand alike, and one of them far off", alike, one_apart},
          {"three thousand of two kinds, and one of them far off", split, one_more}};
}

/// Means on a holdout, of which one person moves each by one over its size, about where they differ
/// from those on the training set by the threshold.
audit::LinePairs holdout_means(const OptionValues& values) {
  constexpr double kTraining = 0.5;
  const double step = 1 / static_cast<double>(values.whole("holdout_size"));
  const double level = std::min(kTraining + values.real("threshold"), 1 - 3 * step);
  audit::NumberPairs means =
      audit::comparisons(values.whole("budget"), step, /*monotone=*/false, level);
  append(means, audit::scores(6, step, /*monotone=*/false, level));
  audit::LinePairs pairs = audit::lines_of(means);
  for (auto& pair : pairs) {
    for (audit::Lines* lines : {&pair.first, &pair.second})
      for (std::string& line : *lines) line.append(";").append(audit::shortest(kTraining));
  }
  return pairs;
}

/// People in the order of time: who comes when is no secret.
audit::NumberPairs sequences_of(const OptionValues& values) {
  const double before = values.real("before");
  const double after = values.real("after");
  audit::NumberPairs pairs =
      audit::people(std::min(before, after), std::max(before, after), Relation::kReplace);
  std::erase_if(pairs, [](const auto& pair) { return pair.same; });
  const double other = 2 * before - after;
  pairs.push_back({"one of seven at the mean after the change",
                   {before, after, before, other, after, before, before},
                   {before, after, before, after, after, before, before}});
  return pairs;
}

/// p-values that one person moves apart, the last one the other way, about `enough`: as many nats
/// below their level as it takes to reject.
audit::NumberPairs tests_of(const OptionValues& values, double enough) {
  const double half = values.real("log_sensitivity") / 2 * (1 - 1e-9);
  const std::uint64_t tests = std::min<std::uint64_t>(values.whole("tests"), 6);
  const double level = values.real("rate") / static_cast<double>(tests);
  audit::NumberPairs pairs;
  for (const double more : {-3, 0, 2, 4, 6}) {
    const double p = std::max(level * std::exp(-enough - 2 * half * more), values.real("floor"));
    std::vector<double> up(tests, p * std::exp(half));
    std::vector<double> down(tests, p * std::exp(-half));
    std::swap(up.back(), down.back());
    pairs.push_back({"all p-values moved by the log sensitivity", std::move(up), std::move(down)});
  }
  return pairs;
}

/// Everything a release says, as numbers where it says nothing else.
void flatten(const nlohmann::json& json, std::vector<double>& numbers, bool& only_numbers) {
  if (json.is_number()) {
    numbers.push_back(json.get<double>());
  } else if (json.is_boolean()) {
    numbers.push_back(json.get<bool>() ? 1 : 0);
  } else if (json.is_structured()) {
    for (const auto& each : json) flatten(each, numbers, only_numbers);
  } else {
    only_numbers = false;
  }
}

/// An error bar that was not promised beforehand is part of what is said. `numbers` is room to work.
void add(audit::Outputs& outputs, const Release<nlohmann::json>& release, bool promised,
         std::vector<double>& numbers) {
  numbers.clear();
  bool only_numbers = true;
  flatten(release.value, numbers, only_numbers);
  if (!promised) numbers.push_back(release.accuracy.half_width);
  if (only_numbers && !numbers.empty())
    outputs.add(std::span<const double>(numbers));
  else
    outputs.add(promised ? release.value.dump()
                         : release.value.dump() + " " + audit::shortest(numbers.back()));
}

}  // namespace

audit::LinePairs neighbours_for(const Algorithm& algorithm, const OptionValues& values) {
  const Has has(algorithm);
  const Relation relation = algorithm.make(values).event().relation;
  if (algorithm.histogram) return audit::lines_of(counts_of(values));
  if (has("keys_per_unit")) return audit::words(values.whole("keys_per_unit"), relation);
  if (algorithm.name == "stable_mode") return audit::words(1, relation);
  if (algorithm.name == "subsample_stability")
    return audit::lines_of(crowds(values.real("granularity")));
  if (has("holdout_size")) return holdout_means(values);
  if (has("l1_sensitivity") || has("l2_sensitivity")) {
    const bool whole = algorithm.name.starts_with("discrete_");
    return audit::lines_of(answers_of(has, values, whole));
  }
  if (has("sensitivity") || has("candidate_spread") || has("temperature"))
    return audit::lines_of(scores_of(has, values));
  if (has("p") && has("options"))
    return audit::lines_of(audit::local_answers(values.whole("options")));
  if (has("before")) return audit::lines_of(sequences_of(values));
  if (has("log_sensitivity")) {
    const double enough = algorithm.make(values).accuracy(1, 0.5)->half_width;
    return audit::lines_of(tests_of(values, enough));
  }
  if (algorithm.per_person || algorithm.input.starts_with("one row per person"))
    return audit::lines_of(people_of(has, values, relation));
  throw Error(ErrorCode::kUnsupported, "no pairs of neighbouring inputs are known for '" +
                                           algorithm.name +
                                           "'; give one with --data and --neighbour");
}

audit::Subject audit_subject(const Algorithm& algorithm, const OptionValues& values,
                             audit::LinePairs pairs) {
  const auto job = std::make_shared<const Job>(algorithm.make(values));
  audit::Subject subject{.name = algorithm.name,
                         .claim = audit::Claim::of(job->event()),
                         .pairs = {},
                         .draw = {},
                         .runs_at_once = 1 << 11};
  auto inputs = std::make_shared<std::vector<std::pair<Job::Draw, Job::Draw>>>();
  for (auto& pair : pairs) {
    subject.pairs.push_back({pair.name, audit::internal::text_of(pair.first),
                             audit::internal::text_of(pair.second), pair.same});
    inputs->emplace_back(job->read(Rows(std::move(pair.first))),
                         job->read(Rows(std::move(pair.second))));
  }
  const bool promised = job->accuracy(1, 0.95).has_value();
  subject.draw = [job, inputs, promised](std::size_t pair, audit::Side side, std::uint64_t runs,
                                         BitSource& bits) {
    const auto& [first, second] = (*inputs)[pair];
    const Job::Draw& draw = side == audit::Side::kFirst ? first : second;
    audit::Outputs outputs;
    std::vector<double> numbers;
    // One meter for some runs: it remembers all that it was charged.
    constexpr std::uint64_t kRunsOfAMeter = 64;
    for (std::uint64_t done = 0; done < runs; done += kRunsOfAMeter) {
      const std::uint64_t now = std::min(kRunsOfAMeter, runs - done);
      Event all = job->event();
      all.count *= now;
      Meter meter(std::move(all));
      Context context{meter, bits};
      for (std::uint64_t i = 0; i < now; ++i) add(outputs, draw(context), promised, numbers);
    }
    return outputs;
  };
  return subject;
}

}  // namespace gauze
