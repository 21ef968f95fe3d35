#include "toy.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>

#include "gauze/base/error.h"
#include "gauze/mechanism/discrete_laplace.h"
#include "gauze/registry/common_options.h"
#include "gauze/registry/entries.h"
#include "gauze/registry/neighbours.h"

namespace {

using gauze::Accuracy;
using gauze::Answer;
using gauze::Context;
using gauze::Figure;
using gauze::OptionSpec;
using gauze::OptionValues;
using gauze::Release;
using gauze::Result;
using gauze::Rows;
using gauze::Task;

/// Counts the numbers in equal parts of a range, each with noise.
///
/// Privacy    pure DP, epsilon: a person is in one part.
/// Accuracy   that of the noise, of each part.
/// Time       O(rows + cells).
class ToyCounts {
 public:
  struct Options {
    gauze::Required<gauze::Ratio> epsilon;  ///< > 0
    gauze::Required<double> lower, upper;   ///< of the range; what is outside counts at its end
    gauze::Required<std::uint64_t> cells;   ///< parts of the range, from 1 to 1000
    gauze::Relation relation = gauze::Relation::kAddRemove;
    gauze::Ratio claimed_more = 1;  ///< less noise than epsilon allows: the mistake of the twin
  };

  explicit ToyCounts(Options options)
      : options_(std::move(options)),
        noise_({.l1_sensitivity = moves(options_.relation),
                .scale = gauze::Ratio(moves(options_.relation)) /
                         (options_.epsilon.get() * options_.claimed_more),
                .relation = options_.relation}) {
    gauze::require(options_.lower < options_.upper, "lower: must be below upper");
    gauze::require(options_.cells >= 1 && options_.cells <= 1000, "cells: must be from 1 to 1000");
  }

  gauze::Event event() const { return {gauze::events::Pure{options_.epsilon}, options_.relation}; }
  Accuracy accuracy(double confidence) const { return noise_.accuracy(confidence); }

  /// Charges the meter, then releases the counts plus noise.
  Release<std::vector<std::int64_t>> run(const std::vector<double>& numbers,
                                         Context& context) const {
    context.meter.charge(event());
    std::vector<std::int64_t> counts(options_.cells);
    for (const double number : numbers) ++counts[cell_of(number)];
    // What is paid above covers this noise, but for the twin's.
    gauze::Meter paid(noise_.event());
    Context inner{paid, context.bits};
    return {noise_.run(counts, inner).value, accuracy(0.95), event()};
  }

  /// Where a part begins.
  double begin(std::size_t cell) const {
    return options_.lower + (options_.upper - options_.lower) * static_cast<double>(cell) /
                                static_cast<double>(options_.cells);
  }

 private:
  static std::uint64_t moves(gauze::Relation relation) {
    return relation == gauze::Relation::kReplace ? 2 : 1;
  }

  std::size_t cell_of(double number) const {
    const double share = (number - options_.lower) / (options_.upper - options_.lower);
    const auto cells = static_cast<double>(options_.cells);
    // Whatever a row holds, it counts somewhere.
    if (!(share > 0)) return 0;
    return static_cast<std::size_t>(std::min(std::floor(share * cells), cells - 1));
  }

  Options options_;
  gauze::DiscreteLaplace noise_;
};

/// Waits for a file, where one is named, and says by another one that it does: so a test knows where the
/// program is, and no clock decides.
void hold(const std::string& file, const std::function<void()>& meanwhile) {
  if (file == "none") return;
  std::ofstream(file + ".waits");
  while (!std::filesystem::exists(file)) {
    meanwhile();
    usleep(1000);
  }
}

/// Work that needs no row and takes its time: its steps are kept, and not done again.
struct Preparation {
  std::uint64_t steps = 0;
  std::string held;  ///< a file for which the last step waits

  /// How many steps an earlier run had done.
  std::uint64_t run(const Context& context) const {
    std::uint64_t done = 0;
    const gauze::Watch* watch = context.watch;
    if (watch != nullptr && watch->saved)
      if (const auto state = watch->saved()) done = std::stoull(*state);
    const std::uint64_t before = done;
    for (; done < steps; ++done) {
      const auto tell = [&] {
        context.progress(static_cast<double>(done) / static_cast<double>(steps), "preparing");
      };
      tell();
      if (done + 1 == steps) hold(held, tell);
      if (watch != nullptr && watch->save) watch->save(std::to_string(done + 1));
    }
    return before;
  }
};

Answer table_of(const ToyCounts& counts, const std::vector<std::int64_t>& values,
                double half_width) {
  Answer answer{{{"from", gauze::Type::kDouble, true}, {"n", gauze::Type::kInteger, false}}, {}};
  for (std::size_t i = 0; i < values.size(); ++i)
    answer.rows.push_back({{counts.begin(i), {}}, {values[i], half_width}});
  return answer;
}

/// The share of people below each point.
Figure::Curve curve_of(const ToyCounts& counts, const std::vector<std::int64_t>& values) {
  double total = 0;
  for (const std::int64_t value : values)
    total += static_cast<double>(std::max<std::int64_t>(value, 0));
  Figure::Curve curve{"value", "share below", {{counts.begin(0), 0, 0}}};
  double below = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    below += static_cast<double>(std::max<std::int64_t>(values[i], 0));
    curve.points.push_back({counts.begin(i + 1), below / std::max(total, 1.0), 0});
  }
  return curve;
}

Result result_of(const ToyCounts& counts, const std::vector<std::int64_t>& values,
                 double half_width, std::uint64_t taken_up) {
  Result result;
  result.title = "a toy";
  result.json["value"] = values;
  result.table = table_of(counts, values, half_width);
  result.figures = {{"Counts", Figure::Bars{*result.table}}, {"Shares", curve_of(counts, values)}};
  result.artifact = {.format = "toy", .version = 2, .bytes = nlohmann::json(values).dump()};
  result.notes = {{"method", "counts with geometric noise"}};
  if (taken_up > 0)
    result.notes.push_back({"prepared", "went on behind step " + std::to_string(taken_up)});
  return result;
}

Task toy_task(const OptionValues& values, const gauze::Ratio& claimed_more) {
  const ToyCounts counts({.epsilon = values.number("epsilon"),
                          .lower = values.real("lower"),
                          .upper = values.real("upper"),
                          .cells = values.whole("cells"),
                          .relation = values.relation(),
                          .claimed_more = claimed_more});
  const Preparation preparation{values.whole("steps"), values.text("hold")};
  Task task;
  task.event = counts.event();
  task.accuracy = [counts](std::uint64_t, double confidence) {
    return counts.accuracy(confidence);
  };
  task.read = [counts, preparation, held = values.text("hold_noise")](
                  const gauze::Input& input, Context& reading) -> Task::Draw {
    const std::uint64_t taken_up = preparation.run(reading);
    return [counts, taken_up, held,
            numbers = std::get<Rows>(input).numbers()](Context& context) -> Release<Result> {
      hold(held, [] {});
      auto released = counts.run(numbers, context);
      const double half_width = counts.accuracy(0.95).half_width;
      return {result_of(counts, released.value, half_width, taken_up), released.accuracy,
              released.spent};
    };
  };
  return task;
}

gauze::Algorithm entry(const std::string& name, const std::string& summary,
                       const gauze::Ratio& claimed_more) {
  using Type = OptionSpec::Type;
  gauze::Algorithm about{
      .name = name,
      .summary = summary,
      .input = "one number per row and person",
      .guarantee = "Pure differential privacy with the given epsilon.",
      .accuracy = "Each count is off by the noise alone.",
      .cost = "Time proportional to the rows.",
      .source = "Made up for a test.",
      .document = "tests/family/toy.cc",
      .when = "Never: copy it.",
      .example = "gauze release " + name + " --epsilon 1 --data hospital --column age",
      .options = {gauze::epsilon_option(),
                  {"lower", Type::kNumber, "the least value", ""},
                  {"upper", Type::kNumber, "the largest value", ""},
                  {"cells", Type::kWhole, "how many parts", "4"},
                  {"steps", Type::kWhole, "of a preparation that is kept", "3"},
                  {"hold", Type::kText, "a file for which the preparation waits", "none"},
                  {"hold_noise", Type::kText, "a file for which the noise waits", "none"},
                  gauze::relation_option("add_remove")},
      .neighbours = gauze::people_within_bounds};
  about.artifact = "the counts";
  about.checkpoints = true;
  gauze::Algorithm made = gauze::on_column(
      std::move(about),
      [claimed_more](const OptionValues& values) { return toy_task(values, claimed_more); });
  made.kind.writes_table = true;
  return made;
}

}  // namespace

std::vector<gauze::Family> toy_families() {
  return {{"Toys",
           {entry("toy_counts", "Count the parts of a range, with a curve", 1),
            entry("toy_liar", "The same with half the noise that it claims", 2)}}};
}
