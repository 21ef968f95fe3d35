#include <algorithm>
#include <cmath>
#include <map>

#include "gauze/base/error.h"
#include "gauze/mechanism/propose_test_release.h"
#include "gauze/mechanism/register_internal.h"
#include "gauze/mechanism/sample_and_aggregate.h"
#include "gauze/mechanism/scale_estimate.h"
#include "gauze/mechanism/smooth_median.h"
#include "gauze/mechanism/smooth_sensitivity.h"
#include "gauze/mechanism/stable_value.h"
#include "gauze/mechanism/subsample_stability.h"
#include "gauze/registry/common_options.h"
#include "gauze/registry/entries.h"
#include "gauze/registry/neighbours.h"

// Answers that are stable on this data, though they need not be elsewhere.
namespace gauze::internal {
namespace {

using Type = OptionSpec::Type;

const char* const kPublicNumber =
    "one row per person; how many there are is public. What is no number counts as the lower bound";
const char* const kBook =
    "Li, Lyu, Su and Yang, Differential Privacy: From Theory to Practice (2016), section 8.";

OptionSpec lower_option() {
  return {"lower", Type::kNumber, "smallest value that counts; smaller ones are raised to it", ""};
}
OptionSpec upper_option() {
  return {"upper", Type::kNumber, "largest value that counts, above lower", ""};
}
OptionSpec delta_option() {
  return {"delta", Type::kNumber, "above 0; much smaller than 1 over the number of people", ""};
}
OptionSpec blocks_option() {
  return {"blocks", Type::kWhole, "how many random blocks, 1 or more; chosen without the data", ""};
}

/// A task whose answer may be nothing: {"released": true, "value": ...} or {"released": false}.
template <class Mechanism, class Read>
Task perhaps(Mechanism mechanism, Read read) {
  const auto shared = std::make_shared<const Mechanism>(std::move(mechanism));
  return values_task(shared->event(), promise_of(shared), [shared, read](const Rows& rows) {
    return [shared, input = read(rows)](Context& context) {
      auto answer = shared->run(input, context);
      nlohmann::json value = {{"released", answer.value.has_value()}};
      if (answer.value) value["value"] = *answer.value;
      return Release<nlohmann::json>{std::move(value), std::move(answer.accuracy),
                                     std::move(answer.spent)};
    };
  });
}

/// Whoever is replaced, with so many people that the answer is stable.
audit::NumberPairs replaced_between(const OptionValues& values, double high) {
  return people_between(values.real("lower"), high, values.real("upper"), Relation::kReplace);
}

audit::LinePairs replaced_people(const OptionValues& values) {
  return audit::lines_of(replaced_between(values, values.real("upper")));
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

audit::LinePairs pairs_of_smooth_median(const OptionValues& values) {
  return audit::lines_of(joined(replaced_between(values, values.real("upper")), growing(values)));
}

/// Somebody moves the median by what was proposed.
audit::LinePairs pairs_of_proposed_median(const OptionValues& values) {
  return audit::lines_of(replaced_between(values, values.real("lower") + values.real("bound")));
}

/// So many people that random subsamples of them agree, or nearly so.
audit::LinePairs crowds(const OptionValues& values) {
  constexpr std::size_t kMany = 3000;
  constexpr std::size_t kNearlyHalf = 1380;
  const double granularity = values.real("granularity");
  std::vector<double> alike(kMany, granularity);
  std::vector<double> one_apart = alike;
  one_apart.back() = 1e6 * granularity;
  std::vector<double> split(kMany, 0);
  std::fill_n(split.begin(), kNearlyHalf, granularity);
  std::vector<double> one_more = split;
  one_more.back() = 1e6 * granularity;
  return audit::lines_of(
      {{"three thousand alike, and one of them far off", alike, one_apart},
       {"three thousand of two kinds, and one of them far off", split, one_more}});
}

audit::LinePairs one_word_each(const OptionValues& values) {
  return audit::words(1, values.relation());
}

SmoothNoise noise_named(const std::string& word) {
  if (word == "cauchy") return SmoothNoise::kCauchy;
  if (word == "student") return SmoothNoise::kStudent;
  if (word == "laplace") return SmoothNoise::kLaplace;
  throw Error(ErrorCode::kInvalidOption, "noise: must be cauchy, student or laplace");
}

Algorithm smooth_median() {
  return on_rows(
      {.name = "smooth_median",
       .summary = "Median with noise of its smooth sensitivity; `median` is usually better",
       .input = kPublicNumber,
       .guarantee =
           "Pure differential privacy with the given epsilon, for one person changed; with "
           "laplace noise (epsilon, delta).",
       .accuracy =
           "Noise of about twice the smooth sensitivity over epsilon. That is private, so what "
           "is promised is the worst case.",
       .cost = "n log n for n rows, and the square of the smaller of n and about 60/epsilon.",
       .source = "Nissim, Raskhodnikova and Smith (2007); Bun and Steinke (2019).",
       .document = "src/gauze/mechanism/smooth_median.md",
       .example = "seq 100 | gauze release smooth_median --epsilon 1 --lower 0 --upper 200 -",
       .options = {lower_option(),
                   upper_option(),
                   epsilon_option(),
                   {"noise", Type::kText, "cauchy, student or laplace", "cauchy"},
                   {"delta", Type::kNumber, "of laplace noise: above 0, at most 1/3", "0"}},
       .neighbours = pairs_of_smooth_median},
      [](const OptionValues& values) {
        return task_of(SmoothMedian({.lower = values.number("lower"),
                                     .upper = values.number("upper"),
                                     .epsilon = values.number("epsilon"),
                                     .noise = noise_named(values.text("noise")),
                                     .delta = values.number("delta")}),
                       numbers);
      });
}

Algorithm propose_test_median() {
  return on_rows(
      {.name = "propose_test_median",
       .summary = "Median with little noise if the data is dense about it, else nothing",
       .input = kPublicNumber,
       .guarantee =
           "(epsilon, delta)-differential privacy for one person changed, whether or not there "
           "is a value.",
       .accuracy = "Within 2 bound ln(1/beta) / epsilon when there is a value.",
       .cost = "n log n for n rows.",
       .source = "Dwork and Lei, Differential Privacy and Robust Statistics (2009).",
       .document = "src/gauze/mechanism/propose_test_release.md",
       .example = "seq 0 0.01 10 | gauze release propose_test_median --epsilon 1 --delta 1e-6 "
                  "--lower 0 --upper 20 --bound 1 -",
       .options = {lower_option(),
                   upper_option(),
                   {"bound", Type::kNumber,
                    "how far one person may move the median, above 0; chosen without the data", ""},
                   epsilon_option(),
                   delta_option()},
       .neighbours = pairs_of_proposed_median},
      [](const OptionValues& values) {
        return perhaps(ProposedMedian({.lower = values.number("lower"),
                                       .upper = values.number("upper"),
                                       .bound = values.number("bound"),
                                       .epsilon = values.number("epsilon"),
                                       .delta = values.number("delta")}),
                       numbers);
      });
}

Algorithm scale_estimate() {
  return on_rows(
      {.name = "scale_estimate",
       .summary = "Distance of the quartiles to a factor of 1.41, if that is stable",
       .input = kPublicNumber,
       .guarantee =
           "(epsilon, delta)-differential privacy for one person changed, whether or not there "
           "is a value.",
       .accuracy = "log2 of the value is within 1/2 of log2 of the distance of the quartiles.",
       .cost = "n log n for n rows.",
       .source = "Dwork and Lei (2009), with stable buckets released as they are.",
       .document = "src/gauze/mechanism/scale_estimate.md",
       .example = "seq 1000 | gauze release scale_estimate --epsilon 1 --delta 1e-6 --lower 0 "
                  "--upper 2000 -",
       .options = {lower_option(), upper_option(), epsilon_option(), delta_option()},
       .neighbours = replaced_people},
      [](const OptionValues& values) {
        return perhaps(ScaleEstimate({.lower = values.number("lower"),
                                      .upper = values.number("upper"),
                                      .epsilon = values.number("epsilon"),
                                      .delta = values.number("delta")}),
                       numbers);
      });
}

/// The mode of words: words get numbers in their order, and what is released is the word.
Task mode_task(const OptionValues& values) {
  const auto mechanism =
      std::make_shared<const StableMode>(StableMode::Options{.epsilon = values.number("epsilon"),
                                                             .delta = values.number("delta"),
                                                             .relation = values.relation()});
  const auto read = [mechanism](const Rows& rows) {
    std::map<std::string, std::int64_t> words;
    for (const std::string& cell : rows.cells()) words.emplace(cell, 0);
    std::vector<std::string> listed;
    for (auto& [word, number] : words) {
      number = static_cast<std::int64_t>(listed.size());
      listed.push_back(word);
    }
    std::vector<std::int64_t> votes;
    for (const std::string& cell : rows.cells()) votes.push_back(words.at(cell));
    return [=](Context& context) {
      const auto answer = mechanism->run(votes, context);
      nlohmann::json value = {{"released", answer.value.has_value()}};
      if (answer.value) value["value"] = listed.at(static_cast<std::size_t>(*answer.value));
      return Release<nlohmann::json>{std::move(value), answer.accuracy, answer.spent};
    };
  };
  return values_task(mechanism->event(), promise_of(mechanism), read);
}

Algorithm stable_mode() {
  return on_column(
      {.name = "stable_mode",
       .summary = "Most frequent word, if it leads clearly; no domain is needed",
       .input = "one row per person: any word",
       .guarantee =
           "(epsilon, delta)-differential privacy, whether or not there is a value. Nobody's "
           "own word is named but with probability delta.",
       .accuracy = "Exact when there is a value; states the lead for which there is one.",
       .cost = "n log n for n rows.",
       .source = "Smith and Thakurta (2013); Dwork and Lei (2009).",
       .document = "src/gauze/mechanism/stable_value.md",
       .example = "gauze release stable_mode --epsilon 0.5 --delta 1e-6 --data hospital --column "
                  "diagnosis",
       .options = {epsilon_option(), delta_option(), relation_option("")},
       .neighbours = one_word_each},
      mode_task);
}

/// Mean, median or standard deviation of some of the numbers; NaN for none.
using Statistic = double (*)(std::vector<double>);

double mean_of(std::vector<double> values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

double median_of(std::vector<double> values) {
  if (values.empty()) return NAN;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

double deviation_of(std::vector<double> values) {
  const double mean = mean_of(values);
  for (double& value : values) value = (value - mean) * (value - mean);
  return std::sqrt(mean_of(std::move(values)));
}

Statistic statistic_named(const std::string& word) {
  if (word == "mean") return mean_of;
  if (word == "median") return median_of;
  if (word == "deviation") return deviation_of;
  throw Error(ErrorCode::kInvalidOption, "statistic: must be mean, median or deviation");
}

OptionSpec statistic_option() {
  return {"statistic", Type::kText, "mean, median or deviation: what is computed of each part",
          "median"};
}

/// The numbers among the rows, for programs that do not expect anything else.
std::shared_ptr<const std::vector<double>> finite_numbers(const Rows& rows) {
  auto values = rows.numbers();
  for (double& value : values) value = std::isfinite(value) ? value : 0;
  return std::make_shared<const std::vector<double>>(std::move(values));
}

double of_part(Statistic statistic, const std::vector<double>& values,
               std::span<const std::uint64_t> positions) {
  std::vector<double> part;
  part.reserve(positions.size());
  for (const std::uint64_t position : positions) part.push_back(values[position]);
  return statistic(std::move(part));
}

Algorithm sample_and_aggregate() {
  return on_column(
      {.name = "sample_and_aggregate",
       .summary = "Any statistic, from its values on random blocks of the rows",
       .input = "one row per person, any number of them; what is no number counts as 0",
       .guarantee = "Pure differential privacy with the given epsilon.",
       .accuracy =
           "mean: within (upper - lower) ln(1/beta) / (blocks epsilon) of the average of the "
           "blocks; "
           "median: of its rank. How far blocks are from the whole is up to the statistic.",
       .cost = "Time proportional to the number of rows.",
       .source = "Nissim, Raskhodnikova and Smith (2007); Mohan et al., GUPT (2012), with blocks "
                 "that are "
                 "private under add_remove.",
       .document = "src/gauze/mechanism/sample_and_aggregate.md",
       .example = "gauze release sample_and_aggregate --epsilon 0.5 --blocks 100 --data hospital "
                  "--column age",
       .options = {{"lower", Type::kNumber, "smallest answer of a block that counts", ""},
                   {"upper", Type::kNumber, "largest answer of a block that counts, above lower",
                    ""},
                   blocks_option(),
                   epsilon_option(),
                   relation_option(""),
                   statistic_option(),
                   {"aggregate", Type::kText,
                    "mean, or median of the blocks' answers (ignores blocks that are far off)",
                    "mean"}},
       .neighbours = people_within_bounds},
      [](const OptionValues& values) {
        const std::string aggregate = values.text("aggregate");
        require(aggregate == "mean" || aggregate == "median", "aggregate: must be mean or median");
        const Statistic statistic = statistic_named(values.text("statistic"));
        return task_of(
            SampleAndAggregate({.lower = values.number("lower"),
                                .upper = values.number("upper"),
                                .blocks = values.whole("blocks"),
                                .epsilon = values.number("epsilon"),
                                .relation = values.relation(),
                                .aggregate = aggregate == "mean" ? BlockAggregate::kMean
                                                                 : BlockAggregate::kMedian}),
            [statistic](const Rows& rows) {
              const auto all = finite_numbers(rows);
              return BlockProgram{all->size(), [=](std::span<const std::uint64_t> block) {
                                    return std::vector{of_part(statistic, *all, block)};
                                  }};
            });
      });
}

Algorithm block_k_means() {
  return on_column(
      {.name = "block_k_means",
       .summary = "Centres of k groups of numbers, from k-means on random blocks; a baseline",
       .input = "one row per person, any number of them; what is no number counts as the lower "
                "bound",
       .guarantee = "Pure differential privacy with the given epsilon.",
       .accuracy =
           "Each centre within k (upper - lower) ln(1/beta) / (blocks epsilon) of the average of "
           "the blocks' centres.",
       .cost = "Time proportional to rows times k.",
       .source = "Mohan et al., GUPT (2012), with noise for every coordinate.",
       .document = "src/gauze/mechanism/sample_and_aggregate.md",
       .example = "gauze release block_k_means --epsilon 0.5 --k 3 --blocks 100 --data hospital "
                  "--column age",
       .options = {{"k", Type::kWhole, "how many centres, 1 or more", ""},
                   lower_option(),
                   upper_option(),
                   blocks_option(),
                   epsilon_option(),
                   relation_option("")},
       .neighbours = people_within_bounds},
      [](const OptionValues& values) {
        return task_of(BlockKMeans({.k = values.whole("k"),
                                    .dimension = 1,
                                    .lower = values.number("lower"),
                                    .upper = values.number("upper"),
                                    .blocks = values.whole("blocks"),
                                    .epsilon = values.number("epsilon"),
                                    .relation = values.relation()}),
                       numbers);
      });
}

Algorithm subsample_stability() {
  return on_rows(
      {.name = "subsample_stability",
       .summary = "A rounded statistic, exactly, if most random subsamples have the same",
       .input = "one row per person; how many there are is public. What is no number counts as 0",
       .guarantee = "(epsilon, delta)-differential privacy for one person changed, whether or not "
                    "there is a "
                    "value.",
       .accuracy = "Exact when there is a value; there is one with probability 1 - 3 delta if "
                   "three of four "
                   "subsamples of one row in 64 ln(1/delta) / epsilon round to it.",
       .cost = "3 ln(n/delta) times the number n of rows.",
       .source = kBook,
       .document = "src/gauze/mechanism/subsample_stability.md",
       .example = "seq 5000 | gauze release subsample_stability --epsilon 1 --delta 1e-3 "
                  "--granularity 5000 -",
       .options = {{"granularity", Type::kNumber,
                    "the statistic is rounded to multiples of this, above 0", ""},
                   epsilon_option(),
                   delta_option(),
                   statistic_option()},
       .neighbours = crowds},
      [](const OptionValues& values) {
        const double granularity = values.real("granularity");
        require(granularity > 0, "granularity: must be positive");
        const Statistic statistic = statistic_named(values.text("statistic"));
        const auto mechanism =
            std::make_shared<const SubsampleStability>(SubsampleStability::Options{
                .epsilon = values.number("epsilon"), .delta = values.number("delta")});
        const auto read = [=](const Rows& rows) {
          const auto all = finite_numbers(rows);
          const RecordProgram program{
              all->size(), [=](std::span<const std::uint64_t> positions) {
                const double steps = std::round(of_part(statistic, *all, positions) / granularity);
                require(std::abs(steps) < 0x1p62, "no whole number of steps");
                return static_cast<std::int64_t>(steps);
              }};
          return [=](Context& context) {
            const auto answer = mechanism->run(program, context);
            nlohmann::json value = {{"released", answer.value.has_value()}};
            if (answer.value) value["value"] = static_cast<double>(*answer.value) * granularity;
            return Release<nlohmann::json>{std::move(value), answer.accuracy, answer.spent};
          };
        };
        return values_task(mechanism->event(), promise_of(mechanism), read);
      });
}

}  // namespace

std::vector<Algorithm> stability_algorithms() {
  return {smooth_median(),        propose_test_median(), scale_estimate(),     stable_mode(),
          sample_and_aggregate(), block_k_means(),       subsample_stability()};
}

}  // namespace gauze::internal
