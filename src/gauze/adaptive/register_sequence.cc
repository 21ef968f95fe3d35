#include <cmath>

#include "gauze/adaptive/change_point.h"
#include "gauze/adaptive/online_change_point.h"
#include "gauze/adaptive/paprika.h"
#include "gauze/adaptive/register_internal.h"
#include "gauze/base/error.h"
#include "gauze/registry/common_options.h"
#include "gauze/registry/entries.h"
#include "gauze/registry/neighbours.h"

// Rows in an order that matters: changes in time, tests one after the other.
namespace gauze::internal {
namespace {

using Type = OptionSpec::Type;

const char* const kInTime =
    "one row per person, in the order of time; how many there are is public";
const char* const kChangeSource =
    "Cummings, Krehbiel, Mei, Tuo and Zhang, Differentially Private Change-Point Detection (2018).";

std::vector<OptionSpec> change_options(std::vector<OptionSpec> more = {}) {
  std::vector<OptionSpec> options = {
      {"before", Type::kNumber, "mean before the change", ""},
      {"after", Type::kNumber, "mean after it, another one", ""},
      {"deviation", Type::kNumber, "standard deviation of both, above 0", ""},
      {"bound", Type::kNumber,
       "log-likelihood ratios are cut to this size, above 0; 1 or 2 is usual", ""},
      epsilon_option()};
  std::move(more.begin(), more.end(), std::back_inserter(options));
  return options;
}

/// People in the order of time: who comes when is no secret.
audit::LinePairs changing_sequences(const OptionValues& values) {
  const double before = values.real("before");
  const double after = values.real("after");
  audit::NumberPairs pairs =
      audit::people(std::min(before, after), std::max(before, after), Relation::kReplace);
  std::erase_if(pairs, [](const auto& pair) { return pair.same; });
  const double other = 2 * before - after;
  pairs.push_back({"one of seven at the mean after the change",
                   {before, after, before, other, after, before, before},
                   {before, after, before, after, after, before, before}});
  return audit::lines_of(pairs);
}

/// Log-likelihood ratios of normal laws; what is no number stays none.
auto normal_ratios(const OptionValues& values) {
  const double before = values.real("before");
  const double after = values.real("after");
  const double deviation = values.real("deviation");
  require(before != after, "after: must differ from before");
  require(deviation > 0, "deviation: must be positive");
  const double slope = (after - before) / deviation / deviation;
  return [slope, middle = before / 2 + after / 2](const Rows& rows) {
    std::vector<double> ratios = rows.numbers();
    for (double& ratio : ratios) ratio = slope * (ratio - middle);
    return ratios;
  };
}

Algorithm change_point() {
  return on_rows(
      {.name = "change_point",
       .summary = "Where in time the mean of numbers changed from one value to another",
       .input = kInTime,
       .guarantee = "Pure differential privacy with the given epsilon, for one person changed.",
       .accuracy = "The log-likelihood of the change is within 2 bound ln(n/beta) / epsilon of the "
                   "largest, for n rows. Rows are counted from 0.",
       .cost = "Time proportional to the number of rows.",
       .source = kChangeSource,
       .document = "src/gauze/adaptive/change_point.md",
       .example = "seq 0 0.01 1 | gauze release change_point --before 0 --after 1 --deviation 0.5 "
                  "--bound 1 --epsilon 1 -",
       .options = change_options(),
       .neighbours = changing_sequences},
      [](const OptionValues& values) {
        const Ratio bound = values.number("bound");
        return task_of(
            ChangePoint(
                {.lower = Ratio(-bound), .upper = bound, .epsilon = values.number("epsilon")}),
            normal_ratios(values));
      });
}

Task watch_task(const OptionValues& values) {
  const Ratio bound = values.number("bound");
  const auto mechanism = std::make_shared<const OnlineChangePoint>(
      OnlineChangePoint::Options{.lower = Ratio(-bound),
                                 .upper = bound,
                                 .window = values.whole("window"),
                                 .threshold = values.number("threshold"),
                                 .epsilon = values.number("epsilon")});
  const auto read = [mechanism, ratios_of = normal_ratios(values)](const Rows& rows) {
    return [mechanism, ratios = ratios_of(rows)](Context& context) {
      const auto answer = mechanism->run(ratios, context);
      nlohmann::json value = {{"alarm", answer.value.has_value()}};
      if (answer.value) {
        value["seen"] = answer.value->seen;
        value["change"] = answer.value->change;
      }
      return Release<nlohmann::json>{std::move(value), answer.accuracy, answer.spent};
    };
  };
  return values_task(mechanism->event(), promise_of(mechanism), read);
}

Algorithm online_change_point() {
  return on_rows(
      {.name = "online_change_point",
       .summary = "Watches numbers in time and raises an alarm when their mean has changed",
       .input = kInTime,
       .guarantee =
           "Pure differential privacy with the given epsilon for the whole stream, for one "
           "person changed.",
       .accuracy =
           "The log-likelihood is on the right side of the threshold to within about 8 bound "
           "(ln(n/beta) + ln(1/beta)) / epsilon, for n rows. Rows are counted from 0.",
       .cost = "Time proportional to rows times window.",
       .source = kChangeSource,
       .document = "src/gauze/adaptive/change_point.md",
       .example = "seq 0 0.01 1 | gauze release online_change_point --before 0 --after 1 "
                  "--deviation 0.5 --bound 1 --epsilon 1 --window 50 --threshold 20 -",
       .options = change_options(
           {{"window", Type::kWhole, "how many rows are looked at together, 1 or more", ""},
            {"threshold", Type::kNumber,
             "log-likelihood that raises the alarm, above 0; well above the noise", ""}}),
       .neighbours = changing_sequences},
      watch_task);
}

Paprika paprika_of(const OptionValues& values) {
  return Paprika({.rate = values.real("rate"),
                  .log_sensitivity = values.number("log_sensitivity"),
                  .floor = values.number("floor"),
                  .rejections = values.whole("rejections"),
                  .tests = values.whole("tests"),
                  .epsilon = values.number("epsilon"),
                  .relation = values.relation()});
}

/// p-values that one person moves apart, the last one the other way, about what is enough: as many nats
/// below their level as it takes to reject.
audit::LinePairs moved_p_values(const OptionValues& values) {
  const double enough = paprika_of(values).accuracy(0.5).half_width;
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
  return audit::lines_of(pairs);
}

Task paprika_task(const OptionValues& values) {
  const auto mechanism = std::make_shared<const Paprika>(paprika_of(values));
  const auto read = [mechanism](const Rows& rows) {
    return [mechanism, p_values = rows.numbers()](Context& context) {
      const auto answer = mechanism->run(p_values, context);
      nlohmann::json rejected = nlohmann::json::array();
      for (std::size_t i = 0; i < answer.value.size(); ++i) {
        if (answer.value[i]) rejected.push_back(i);
      }
      return Release<nlohmann::json>{
          {{"rejected", std::move(rejected)}}, answer.accuracy, answer.spent};
    };
  };
  return values_task(mechanism->event(), promise_of(mechanism), read);
}

Algorithm paprika() {
  return on_rows(
      {.name = "paprika",
       .summary = "Rejects hypotheses one after the other with few false discoveries",
       .input =
           "the p-values of tests on the same private data, in order; how many there are is public",
       .guarantee =
           "Pure differential privacy with the given epsilon for all tests together, if one person "
           "moves a p-value by at most a factor e^log_sensitivity, or both values are below floor.",
       .accuracy =
           "At most a share `rate` of the rejected hypotheses is true, on average. States how far "
           "below its level the logarithm of a p-value must be to be rejected. Tests are counted "
           "from 0.",
       .cost = "Time proportional to tests times rejections.",
       .source =
           "Zhang, Kamath and Cummings, PAPRIKA (2020), with levels after LORD++: the published "
           "candidacy rule is not private.",
       .document = "src/gauze/adaptive/paprika.md",
       .example = "seq 0.001 0.1 1 | gauze release paprika --rate 0.05 --log-sensitivity 0.01 "
                  "--floor 1e-9 --rejections 2 --tests 10 --epsilon 1 -",
       .options = {{"rate", Type::kNumber, "of false discoveries, between 0 and 1; 0.05 is usual",
                    ""},
                   {"log_sensitivity", Type::kNumber,
                    "of every p-value, above 0; about sqrt(ln n / n) for tests of n records", ""},
                   {"floor", Type::kNumber, "p-values below count as this, between 0 and 1", ""},
                   {"rejections", Type::kWhole,
                    "ends after so many, 1 or more; fewer mean less noise", ""},
                   {"tests", Type::kWhole, "how many p-values there are at most, 1 or more", ""},
                   epsilon_option(),
                   relation_option("replace")},
       .neighbours = moved_p_values},
      paprika_task);
}

}  // namespace

std::vector<Algorithm> sequence_algorithms() {
  return {change_point(), online_change_point(), paprika()};
}

}  // namespace gauze::internal
