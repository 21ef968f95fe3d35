#include "gauze/base/error.h"
#include "gauze/mechanism/register_internal.h"
#include "gauze/mechanism/retraversal.h"
#include "gauze/mechanism/sparse_vector.h"
#include "gauze/registry/common_options.h"
#include "gauze/registry/entries.h"
#include "gauze/registry/neighbours.h"

// Which answers of a list or a stream are above a threshold.
namespace gauze::internal {
namespace {

using Type = OptionSpec::Type;
using nlohmann::json;

const char* const kStream =
    "one exact answer per line, each a question's; lines are read as they come, and no further "
    "once the last answer above was given. Where each has its own threshold, give the difference "
    "and --threshold 0";
const char* const kGuarantee =
    "Pure differential privacy with the given epsilon for everything it says, however many "
    "answers are below, and however questions depend on what was said before.";
const char* const kAccuracy =
    "All of k answers are put on the right side, save those within q ln(k/(2 beta)) or so of the "
    "threshold, with probability 1 - beta; q is about 2 positives sensitivity / epsilon, half of "
    "that for monotone answers.";
const char* const kThresholdSource =
    "Dwork, Naor, Reingold, Rothblum and Vadhan (2009); Lyu, Su and Li, Understanding the Sparse "
    "Vector Technique for Differential Privacy (2017).";

OptionSpec answer_sensitivity_option() {
  return {"sensitivity", Type::kNumber, "how far one person can move any answer, above 0", ""};
}
OptionSpec threshold_option() {
  return {"threshold", Type::kNumber, "what an answer is compared with", ""};
}
OptionSpec monotone_answers_option() {
  return {"monotone", Type::kFlag,
          "promise that one person moves all answers the same way, as counts do; only under "
          "add_remove, and half the noise. Broken promises break privacy",
          "false"};
}
OptionSpec positives_option() {
  return {"positives", Type::kWhole,
          "how many answers above there will be, 1 or more; then it ends", ""};
}
OptionSpec value_share_option() {
  return {"value_share", Type::kNumber,
          "of epsilon, for a noisy number with each answer above; 0 for none", "0"};
}

SparseVector sparse_vector_of(const OptionValues& values, std::uint64_t positives) {
  return SparseVector({.epsilon = values.number("epsilon"),
                       .sensitivity = values.number("sensitivity"),
                       .positives = positives,
                       .threshold = values.number("threshold"),
                       .monotone = values.flag("monotone"),
                       .value_share = values.number("value_share"),
                       .relation = values.relation()});
}

json as_json(const ThresholdAnswer& answer) {
  if (!answer.above) return "below";
  if (!answer.value) return "above";
  return *answer.value;
}

/// The whole list at once.
Task task_on_answers(SparseVector mechanism) {
  const auto shared = std::make_shared<const SparseVector>(std::move(mechanism));
  return values_task(shared->event(), promise_of(shared), [shared](const Rows& rows) {
    return [shared, answers = rows.vector()](Context& context) {
      auto release = shared->run(answers, context);
      json said = json::array();
      for (const ThresholdAnswer& each : release.value) said.push_back(as_json(each));
      return Release<json>{std::move(said), std::move(release.accuracy), std::move(release.spent)};
    };
  });
}

/// Answer by answer.
LineByLine answer_by_answer(SparseVector mechanism) {
  const auto shared = std::make_shared<const SparseVector>(std::move(mechanism));
  return {.start = [shared](Context& context) -> LineByLine::Answer {
    auto conversation = std::make_shared<SparseVector::Conversation>(shared->start(context));
    return [conversation](std::span<const double> line) {
      const json said = as_json(conversation->ask(line[0]));
      return Said{said, (said.is_number() ? "above " : "") + lines_of_value(said),
                  conversation->ended()};
    };
  }};
}

/// How many answers above there will be.
using Positives = std::uint64_t (*)(const OptionValues& values);

std::uint64_t positives_of(const OptionValues& values) {
  return values.whole("positives");
}
std::uint64_t one(const OptionValues&) {
  return 1;
}

/// The entry, whose input is answered line by line.
Algorithm with_positives(Algorithm about, Positives positives) {
  about.neighbours = [positives](const OptionValues& values) {
    return audit::lines_of(
        answers_about_threshold(values, positives(values), values.flag("monotone")));
  };
  return on_lines(
      std::move(about),
      [positives](const OptionValues& values) {
        return task_on_answers(sparse_vector_of(values, positives(values)));
      },
      [positives](const OptionValues& values) {
        return answer_by_answer(sparse_vector_of(values, positives(values)));
      });
}

Algorithm sparse_vector() {
  return with_positives(
      {.name = "sparse_vector",
       .summary = "Say which answers of a stream are above a threshold; those below are free",
       .input = kStream,
       .guarantee = kGuarantee,
       .accuracy = kAccuracy,
       .cost = "Constant time and no memory per answer.",
       .source = kThresholdSource,
       .document = "src/gauze/mechanism/sparse_vector.md",
       .when = reason_for("Questions that come one after the other",
                          {.wanted = 2, .all_known = false, .has_threshold = true}),
       .example = "seq 0 5 500 | gauze release sparse_vector --epsilon 1 --threshold 100 "
                  "--positives 3 --sensitivity 1 -",
       .options = {epsilon_option(), threshold_option(), positives_option(),
                   answer_sensitivity_option(), monotone_answers_option(), value_share_option(),
                   relation_option("add_remove")}},
      positives_of);
}

Algorithm above_threshold() {
  return with_positives(
      {.name = "above_threshold",
       .summary = "Find the first answer of a stream that is above a threshold",
       .input = kStream,
       .guarantee = kGuarantee,
       .accuracy = kAccuracy,
       .cost = "Constant time and no memory per answer.",
       .source = kThresholdSource,
       .document = "src/gauze/mechanism/sparse_vector.md",
       .when = reason_for("Waiting for something to happen",
                          {.wanted = 1, .all_known = false, .has_threshold = true}),
       .example = "seq 0 5 500 | gauze release above_threshold --epsilon 1 --threshold 100 "
                  "--sensitivity 1 -",
       .options = {epsilon_option(), threshold_option(), answer_sensitivity_option(),
                   monotone_answers_option(), value_share_option(), relation_option("add_remove")}},
      one);
}

Algorithm retraversal() {
  return on_rows(
      {.name = "retraversal",
       .summary = "Choose answers above a threshold from a list, in several passes",
       .input =
           "one exact answer per line; how many there are is public. The result is lines, counted "
           "from 0. Where no threshold matters, top_k chooses better",
       .guarantee = "Pure differential privacy with the given epsilon, however many passes.",
       .accuracy =
           "As sparse_vector, against a threshold that is raised by `raise` standard deviations.",
       .cost = "Answers times passes.",
       .source = kThresholdSource,
       .document = "src/gauze/mechanism/retraversal.md",
       .when = reason_for("A list of which perhaps few are worth choosing",
                          {.wanted = 2, .has_threshold = true, .fill_up = false}),
       .example = "seq 0 5 500 | gauze release retraversal --epsilon 1 --threshold 100 --positives "
                  "3 --sensitivity 1 -",
       .options = {epsilon_option(),
                   threshold_option(),
                   positives_option(),
                   answer_sensitivity_option(),
                   monotone_answers_option(),
                   {"raise", Type::kNumber,
                    "by how many standard deviations of a comparison the threshold is raised", "2"},
                   {"passes", Type::kWhole, "goes through the list at most so often", "1000"},
                   relation_option("add_remove")},
       .neighbours =
           [](const OptionValues& values) {
             return audit::lines_of(answers_about_threshold(values, values.whole("positives"),
                                                            values.flag("monotone")));
           }},
      [](const OptionValues& values) {
        return task_of(Retraversal({.epsilon = values.number("epsilon"),
                                    .sensitivity = values.number("sensitivity"),
                                    .positives = values.whole("positives"),
                                    .threshold = values.number("threshold"),
                                    .raise = values.number("raise"),
                                    .passes = values.whole("passes"),
                                    .monotone = values.flag("monotone"),
                                    .relation = values.relation()}),
                       [](const Rows& rows) { return rows.vector(); });
      });
}

}  // namespace

std::vector<Algorithm> threshold_algorithms() {
  return {sparse_vector(), above_threshold(), retraversal()};
}

}  // namespace gauze::internal
