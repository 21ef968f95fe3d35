#include <cmath>

#include "gauze/adaptive/change_point.h"
#include "gauze/adaptive/online_change_point.h"
#include "gauze/adaptive/paprika.h"
#include "gauze/base/error.h"
#include "gauze/engine/registry_internal.h"

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
  return {.name = "change_point",
          .summary = "Where in time the mean of numbers changed from one value to another",
          .input = kInTime,
          .guarantee = "Pure differential privacy with the given epsilon, for one person changed.",
          .accuracy =
              "The log-likelihood of the change is within 2 bound ln(n/beta) / epsilon of the "
              "largest, for n rows. Rows are counted from 0.",
          .cost = "Time proportional to the number of rows.",
          .source = kChangeSource,
          .document = "src/gauze/adaptive/change_point.md",
          .options = change_options(),
          .make = [](const OptionValues& values) {
            const Ratio bound = values.number("bound");
            return job_of(
                ChangePoint(
                    {.lower = Ratio(-bound), .upper = bound, .epsilon = values.number("epsilon")}),
                normal_ratios(values));
          }};
}

Job watch_job(const OptionValues& values) {
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
  return Job(
      mechanism->event(),
      [mechanism](std::uint64_t size, double confidence) -> std::optional<Accuracy> {
        return mechanism->accuracy(size, confidence);
      },
      read);
}

Algorithm online_change_point() {
  return {.name = "online_change_point",
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
          .options = change_options(
              {{"window", Type::kWhole, "how many rows are looked at together, 1 or more", ""},
               {"threshold", Type::kNumber,
                "log-likelihood that raises the alarm, above 0; well above the noise", ""}}),
          .make = watch_job};
}

Job paprika_job(const OptionValues& values) {
  const auto mechanism = std::make_shared<const Paprika>(
      Paprika::Options{.rate = values.real("rate"),
                       .log_sensitivity = values.number("log_sensitivity"),
                       .floor = values.number("floor"),
                       .rejections = values.whole("rejections"),
                       .tests = values.whole("tests"),
                       .epsilon = values.number("epsilon"),
                       .relation = values.relation()});
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
  return Job(
      mechanism->event(),
      [mechanism](std::uint64_t, double confidence) -> std::optional<Accuracy> {
        return mechanism->accuracy(confidence);
      },
      read);
}

Algorithm paprika() {
  return {
      .name = "paprika",
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
      .make = paprika_job};
}

}  // namespace

std::vector<Algorithm> sequence_algorithms() {
  return {change_point(), online_change_point(), paprika()};
}

}  // namespace gauze::internal
