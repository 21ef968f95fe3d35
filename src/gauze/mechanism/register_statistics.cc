#include "gauze/base/error.h"
#include "gauze/mechanism/count.h"
#include "gauze/mechanism/mean.h"
#include "gauze/mechanism/mode.h"
#include "gauze/mechanism/quantile.h"
#include "gauze/mechanism/quantile_interval.h"
#include "gauze/mechanism/register_internal.h"
#include "gauze/mechanism/sum.h"
#include "gauze/mechanism/variance.h"
#include "gauze/registry/common_options.h"
#include "gauze/registry/entries.h"
#include "gauze/registry/neighbours.h"

namespace gauze {

static void to_json(nlohmann::json& json, const BracketedQuantile& quantile) {
  json = {{"value", quantile.value}, {"lower", quantile.lower}, {"upper", quantile.upper}};
}

}  // namespace gauze

// Statistics of one column with one row per person.
namespace gauze::internal {
namespace {

using Type = OptionSpec::Type;

const char* const kRows =
    "one row per person, any number of them, also none; what is no number counts as the lower "
    "bound";

/// Bounds, epsilon and relation, and then what the algorithm has besides.
std::vector<OptionSpec> bounded(Type type, std::vector<OptionSpec> more = {}) {
  std::vector<OptionSpec> options = {
      {"lower", type, "smallest value that counts; smaller ones are raised to it", ""},
      {"upper", type, "largest value that counts, above lower; larger ones are cut to it", ""},
      epsilon_option(),
      relation_option("")};
  std::move(more.begin(), more.end(), std::back_inserter(options));
  return options;
}

OptionSpec granularity_option() {
  return {"granularity", Type::kNumber,
          "distance between possible answers; 0 is a millionth of the range", "0"};
}

/// Reads integers; what is no number becomes the lower bound.
auto integers_from(std::int64_t lower) {
  return [lower](const Rows& rows) { return rows.integers(lower); };
}

/// People of whom nothing is known but that they are there.
audit::LinePairs counted_people(const OptionValues& values) {
  return audit::lines_of(people_between(0, 1, 1, values.relation()));
}

Algorithm count() {
  return on_column(
      {.name = "count",
       .summary = "How many people there are",
       .input = "one row per person, any number of them, also none",
       .guarantee = "Pure differential privacy with the given epsilon.",
       .accuracy = "Within about ln(1/beta) / epsilon, a whole number, with probability 1 - beta. "
                   "Unbiased, so a small count may come out negative.",
       .cost = "Time proportional to the number of rows.",
       .source = "Ghosh, Roughgarden and Sundararajan, Universally Utility-Maximizing Privacy "
                 "Mechanisms (2009).",
       .document = "src/gauze/mechanism/count.md",
       .example = "gauze release count --epsilon 0.5 --data hospital",
       .options = {epsilon_option(), relation_option("")},
       .neighbours = counted_people},
      [](const OptionValues& values) {
        return task_of(Count({.epsilon = values.number("epsilon"), .relation = values.relation()}),
                       [](const Rows& rows) { return static_cast<std::int64_t>(rows.size()); });
      },
      {.optional = true, .nulls_count = true});
}

Algorithm sum() {
  return on_column(
      {.name = "sum",
       .summary = "Sum of real numbers within bounds",
       .input = kRows,
       .guarantee = "Pure differential privacy with the given epsilon.",
       .accuracy =
           "Within sensitivity * ln(1/beta) / epsilon of the sum of the bounded values; the "
           "sensitivity is max(|lower|, |upper|) under add_remove, upper - lower under "
           "replace.",
       .cost = "Time proportional to the number of rows.",
       .source = "Dwork, McSherry, Nissim and Smith (2006); exact summation on a public lattice.",
       .document = "src/gauze/mechanism/sum.md",
       .example = "gauze release sum --epsilon 0.5 --data hospital --column cost",
       .options = bounded(Type::kNumber),
       .neighbours = people_within_bounds},
      [](const OptionValues& values) {
        return task_of(Sum({.lower = values.number("lower"),
                            .upper = values.number("upper"),
                            .epsilon = values.number("epsilon"),
                            .relation = values.relation()}),
                       numbers);
      });
}

Algorithm integer_sum() {
  return on_column(
      {.name = "integer_sum",
       .summary = "Sum of whole numbers within bounds",
       .input = kRows,
       .guarantee = "Pure differential privacy with the given epsilon.",
       .accuracy = "As `sum`, and a whole number.",
       .cost = "Time proportional to the number of rows.",
       .source = "Dwork, McSherry, Nissim and Smith (2006); Ghosh, Roughgarden and Sundararajan "
                 "(2009).",
       .document = "src/gauze/mechanism/sum.md",
       .example = "gauze release integer_sum --epsilon 0.5 --data hospital --column length_of_stay",
       .options = bounded(Type::kInteger),
       .neighbours = people_within_bounds},
      [](const OptionValues& values) {
        const std::int64_t lower = values.integer("lower");
        return task_of(IntegerSum({.lower = lower,
                                   .upper = values.integer("upper"),
                                   .epsilon = values.number("epsilon"),
                                   .relation = values.relation()}),
                       integers_from(lower));
      });
}

Algorithm mode() {
  return on_column(
      {.name = "mode",
       .summary = "Most frequent whole number within bounds",
       .input = "one row per person, any number of them, also none; a value outside the bounds "
                "supports none",
       .guarantee = "Pure differential privacy with the given epsilon, of bounded range.",
       .accuracy = "Its count is within ln(values/beta) / epsilon of the largest under add_remove, "
                   "twice that under replace; `values` is how many whole numbers the bounds allow.",
       .cost = "n log n for n rows, whatever the bounds.",
       .source = "McSherry and Talwar (2007); Li, Lyu, Su and Yang (2016), section 2, for the "
                 "monotone case.",
       .document = "src/gauze/mechanism/mode.md",
       .example = "gauze release mode --epsilon 0.5 --data hospital --column length_of_stay",
       .options = bounded(Type::kInteger),
       .neighbours = people_within_bounds},
      [](const OptionValues& values) {
        return task_of(Mode({.lower = values.integer("lower"),
                             .upper = values.integer("upper"),
                             .epsilon = values.number("epsilon"),
                             .relation = values.relation()}),
                       integers_from(values.integer("lower")));
      });
}

MeanMethod mean_method(const std::string& word) {
  if (word == "normalised") return MeanMethod::kNormalised;
  if (word == "sum_over_count") return MeanMethod::kSumOverCount;
  if (word == "direct") return MeanMethod::kDirect;
  if (word == "exponential") return MeanMethod::kExponential;
  throw Error(ErrorCode::kInvalidOption,
              "method: must be normalised, sum_over_count, direct or exponential");
}

Algorithm mean() {
  return on_column(
      {.name = "mean",
       .summary = "Average of real numbers within bounds",
       .input = kRows,
       .guarantee = "Pure differential privacy with the given epsilon. Under replace the number of "
                    "rows is public.",
       .accuracy = "About (upper - lower) ln(1/beta) / (n epsilon) for n rows; the error bar is "
                   "computed from a noisy count.",
       .cost = "Time proportional to the number of rows.",
       .source = "Li, Lyu, Su and Yang, Differential Privacy: From Theory to Practice (2016), "
                 "section 2.5, which compares the methods.",
       .document = "src/gauze/mechanism/mean.md",
       .example = "gauze release mean --epsilon 0.5 --data hospital --column age",
       .options = bounded(
           Type::kNumber,
           {{"method", Type::kText,
             "normalised (usually best), sum_over_count, direct or exponential", "normalised"},
            {"grid", Type::kWhole, "candidates of the exponential method, from 2", "1025"}}),
       .neighbours = people_within_bounds},
      [](const OptionValues& values) {
        const std::uint64_t grid = values.whole("grid");
        require(grid >= 2 && grid <= UINT32_MAX, "grid: must be from 2 to 2^32 - 1");
        return task_of<Length::kPrivate>(Mean({.lower = values.number("lower"),
                                               .upper = values.number("upper"),
                                               .epsilon = values.number("epsilon"),
                                               .relation = values.relation(),
                                               .method = mean_method(values.text("method")),
                                               .grid = static_cast<std::uint32_t>(grid)}),
                                         numbers);
      });
}

Algorithm variance() {
  return on_column(
      {.name = "variance",
       .summary = "Mean squared distance from the mean, within bounds",
       .input = kRows,
       .guarantee = "Pure differential privacy with the given epsilon. Under replace the number of "
                    "rows is public.",
       .accuracy = "About 7 h^2 ln(6/beta) / (n epsilon) for n rows, h = (upper - lower)/2; the "
                   "error bar is computed from a noisy count.",
       .cost = "Time proportional to the number of rows.",
       .source = "Noisy moments after Dwork, McSherry, Nissim and Smith (2006).",
       .document = "src/gauze/mechanism/variance.md",
       .example = "gauze release variance --epsilon 0.5 --data hospital --column age",
       .options = bounded(Type::kNumber),
       .neighbours = people_within_bounds},
      [](const OptionValues& values) {
        return task_of<Length::kPrivate>(Variance({.lower = values.number("lower"),
                                                   .upper = values.number("upper"),
                                                   .epsilon = values.number("epsilon"),
                                                   .relation = values.relation()}),
                                         numbers);
      });
}

const char* const kRankAccuracy =
    "Its rank is within 2 sensitivity ln(candidates/beta) / epsilon of the wanted one with "
    "probability 1 - beta; the sensitivity is max(p, 1 - p) under add_remove, 1 under replace.";
const char* const kQuantileCost = "n log n for n rows, whatever the number of candidates.";
const char* const kQuantileSource =
    "McSherry and Talwar (2007); Smith, Privacy-Preserving Statistical Estimation with Optimal "
    "Convergence Rates (2011).";
const char* const kQuantilePage = "src/gauze/mechanism/quantile.md";

Quantile quantile_of(const OptionValues& values, const Ratio& probability) {
  return Quantile({.lower = values.number("lower"),
                   .upper = values.number("upper"),
                   .epsilon = values.number("epsilon"),
                   .relation = values.relation(),
                   .probability = probability,
                   .granularity = values.number("granularity")});
}

Algorithm median() {
  return on_column(
      {.name = "median",
       .summary = "The value in the middle, within bounds",
       .input = kRows,
       .guarantee = "Pure differential privacy with the given epsilon, of bounded range.",
       .accuracy = kRankAccuracy,
       .cost = kQuantileCost,
       .source = kQuantileSource,
       .document = kQuantilePage,
       .example = "gauze release median --epsilon 0.5 --data hospital --column age",
       .options = bounded(Type::kNumber, {granularity_option()}),
       .neighbours = people_within_bounds},
      [](const OptionValues& values) {
        return task_of(quantile_of(values, Ratio(1, 2)), numbers);
      });
}

Algorithm quantile() {
  return on_column(
      {.name = "quantile",
       .summary = "The value below which a given share lies, within bounds",
       .input = kRows,
       .guarantee = "Pure differential privacy with the given epsilon, of bounded range.",
       .accuracy = kRankAccuracy,
       .cost = kQuantileCost,
       .source = kQuantileSource,
       .document = kQuantilePage,
       .example = "gauze release quantile --epsilon 0.5 --probability 0.9 --data hospital --column "
                  "length_of_stay",
       .options = bounded(Type::kNumber, {{"probability", Type::kNumber,
                                           "the share that lies below, from 0 to 1", "1/2"},
                                          granularity_option()}),
       .neighbours = people_within_bounds},
      [](const OptionValues& values) {
        return task_of(quantile_of(values, values.number("probability")), numbers);
      });
}

Algorithm interquartile_range() {
  return on_column(
      {.name = "interquartile_range",
       .summary = "Distance between the quartiles, within bounds",
       .input = kRows,
       .guarantee = "Pure differential privacy with the given epsilon, half for each quartile.",
       .accuracy = "The rank of each quartile, as `quantile` at 3/4 with half of epsilon.",
       .cost = kQuantileCost,
       .source = kQuantileSource,
       .document = kQuantilePage,
       .example = "gauze release interquartile_range --epsilon 0.5 --data hospital --column cost",
       .options = bounded(Type::kNumber, {granularity_option()}),
       .neighbours = people_within_bounds},
      [](const OptionValues& values) {
        return task_of(InterquartileRange({.lower = values.number("lower"),
                                           .upper = values.number("upper"),
                                           .epsilon = values.number("epsilon"),
                                           .relation = values.relation(),
                                           .granularity = values.number("granularity")}),
                       numbers);
      });
}

Algorithm quantiles() {
  return on_column(
      {.name = "quantiles",
       .summary = "Many quantiles at once, within bounds",
       .input = kRows,
       .guarantee = "Pure differential privacy with the given epsilon for all of them together.",
       .accuracy = "Every rank is within levels * 2 ln(candidates m/beta) / (epsilon of a level) "
                   "for m quantiles on ceil(log2(m + 1)) levels, if values are distinct.",
       .cost = "n log n for n rows, plus n per level.",
       .source =
           "Kaplan, Schnapp and Stemmer, Differentially Private Approximate Quantiles (2022).",
       .document = kQuantilePage,
       .example = "gauze release quantiles --epsilon 0.5 --probabilities 0.25,0.5,0.75 --data "
                  "hospital --column age",
       .options = bounded(Type::kNumber, {{"probabilities", Type::kNumbers,
                                           "the shares, increasing, strictly between 0 and 1", ""},
                                          granularity_option()}),
       .neighbours = people_within_bounds},
      [](const OptionValues& values) {
        return task_of(Quantiles({.lower = values.number("lower"),
                                  .upper = values.number("upper"),
                                  .epsilon = values.number("epsilon"),
                                  .relation = values.relation(),
                                  .probabilities = values.numbers("probabilities"),
                                  .granularity = values.number("granularity")}),
                       numbers);
      });
}

Algorithm quantile_interval() {
  return on_column(
      {.name = "quantile_interval",
       .summary = "Quantiles within bounds, each with an interval around the true one",
       .input = kRows,
       .guarantee = "Pure differential privacy with the given epsilon for all of them together.",
       .accuracy =
           "Each interval contains the true quantile with probability at least `confidence`; its "
           "ends are within 12 sensitivity m ln(2 candidates/(1 - confidence)) / epsilon of its "
           "rank for m quantiles.",
       .cost = kQuantileCost,
       .source =
           "McSherry and Talwar (2007); Drechsler, Globus-Harris, McMillan, Sarathy and Smith, "
           "Nonparametric Differentially Private Confidence Intervals for the Median (2022).",
       .document = "src/gauze/mechanism/quantile_interval.md",
       .example = "gauze release quantile_interval --epsilon 0.5 --probabilities 0.5 --data "
                  "hospital --column cost",
       .options = bounded(
           Type::kNumber,
           {{"probabilities", Type::kNumbers, "the shares, from 0 to 1", ""},
            granularity_option(),
            {"confidence", Type::kNumber, "of each interval, above 0 and below 1", "0.95"}}),
       .neighbours = people_within_bounds},
      [](const OptionValues& values) {
        return task_of(QuantileInterval({.lower = values.number("lower"),
                                         .upper = values.number("upper"),
                                         .epsilon = values.number("epsilon"),
                                         .relation = values.relation(),
                                         .probabilities = values.numbers("probabilities"),
                                         .granularity = values.number("granularity"),
                                         .confidence = values.real("confidence")}),
                       numbers);
      });
}

}  // namespace

std::vector<Algorithm> statistics_algorithms() {
  return {count(),
          sum(),
          integer_sum(),
          mean(),
          variance(),
          median(),
          quantile(),
          quantiles(),
          quantile_interval(),
          interquartile_range(),
          mode()};
}

}  // namespace gauze::internal
