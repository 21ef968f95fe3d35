#include <algorithm>

#include "gauze/base/error.h"
#include "gauze/mechanism/enhanced_exponential.h"
#include "gauze/mechanism/exponential.h"
#include "gauze/mechanism/noisy_max.h"
#include "gauze/mechanism/permute_and_flip.h"
#include "gauze/mechanism/randomized_response.h"
#include "gauze/mechanism/register_internal.h"
#include "gauze/mechanism/relaxed_exponential.h"
#include "gauze/mechanism/top_k.h"
#include "gauze/registry/common_options.h"
#include "gauze/registry/entries.h"
#include "gauze/registry/neighbours.h"

// Choices among candidates by their scores, and answers given with a coin.
namespace gauze::internal {
namespace {

using Type = OptionSpec::Type;

const char* const kScores =
    "one score per candidate and line, larger is better; how many there are is public. The answer "
    "is "
    "a candidate's line, counted from 0";
const char* const kLinear = "Time and memory proportional to the number of candidates.";

OptionSpec sensitivity_option() {
  return {"sensitivity", Type::kNumber, "how far one person can move any score, above 0", ""};
}
OptionSpec monotone_option() {
  return {"monotone", Type::kFlag,
          "one person moves all scores the same way (as counts do); only under add_remove, and "
          "half the noise",
          "false"};
}

std::vector<double> scores(const Rows& rows) {
  return rows.vector();
}

/// More candidates than are chosen.
audit::LinePairs more_candidates(const OptionValues& values) {
  const std::size_t candidates = std::max<std::size_t>(kAuditedCandidates, values.whole("k") + 1);
  return audit::lines_of(
      audit::scores(candidates, values.real("sensitivity"), values.flag("monotone")));
}

/// Under add_remove all scores move the same way, for whoever comes adds something to each.
audit::LinePairs spread_scores(const OptionValues& values) {
  double spread = values.real("candidate_spread");
  const bool replace = values.relation() == Relation::kReplace;
  if (replace && values.text("record_spread") != "none")
    spread = std::min(spread, values.real("record_spread"));
  return audit::lines_of(audit::scores(kAuditedCandidates, spread, !replace));
}

audit::LinePairs mostly_bounded_scores(const OptionValues& values) {
  return audit::lines_of(
      audit::scores(kAuditedCandidates, values.real("bound"), /*monotone=*/false));
}

/// One of two words, as a boolean: whether it is the first.
bool is_first(const OptionValues& values, const char* option, const char* first,
              const char* second) {
  const std::string word = values.text(option);
  if (word == first) return true;
  if (word == second) return false;
  throw Error(ErrorCode::kInvalidOption,
              std::string(option) + ": must be " + first + " or " + second);
}

Algorithm exponential() {
  return on_rows(
      {.name = "exponential",
       .summary = "Choose a candidate, better ones exponentially likelier",
       .input = kScores,
       .guarantee = "Pure differential privacy with the given epsilon, and of bounded range, so "
                    "that many choices compose to rho = epsilon^2 / 8 each.",
       .accuracy = "The chosen score is within 2 sensitivity ln(candidates/beta) / epsilon of "
                   "the best with probability 1 - beta, half of that for monotone scores.",
       .cost = kLinear,
       .source = "McSherry and Talwar, Mechanism Design via Differential Privacy (2007).",
       .document = "src/gauze/mechanism/exponential.md",
       .example = "seq 10 | gauze release exponential --epsilon 1 --sensitivity 1 -",
       .options = {epsilon_option(), sensitivity_option(), monotone_option(),
                   relation_option("add_remove")},
       .neighbours = scored_candidates},
      [](const OptionValues& values) {
        return task_of(ExponentialMechanism({.epsilon = values.number("epsilon"),
                                             .sensitivity = values.number("sensitivity"),
                                             .monotone = values.flag("monotone"),
                                             .relation = values.relation()}),
                       scores);
      });
}

Algorithm permute_and_flip() {
  return on_rows(
      {.name = "permute_and_flip",
       .summary = "Choose a candidate, never worse than exponential on average",
       .input = kScores,
       .guarantee = "Pure differential privacy with the given epsilon. Not of bounded range: many "
                    "choices compose to rho = epsilon^2 / 2 each.",
       .accuracy = "In expectation the chosen score is never below that of the exponential "
                   "mechanism, and up to twice as close to the best.",
       .cost = kLinear,
       .source = "McKenna and Sheldon, Permute-and-Flip (2020).",
       .document = "src/gauze/mechanism/permute_and_flip.md",
       .when = reason_for("One choice from a list", {.wanted = 1}),
       .example = "seq 10 | gauze release permute_and_flip --epsilon 1 --sensitivity 1 -",
       .options = {epsilon_option(), sensitivity_option(), monotone_option(),
                   relation_option("add_remove")},
       .neighbours = scored_candidates},
      [](const OptionValues& values) {
        return task_of(PermuteAndFlip({.epsilon = values.number("epsilon"),
                                       .sensitivity = values.number("sensitivity"),
                                       .monotone = values.flag("monotone"),
                                       .relation = values.relation()}),
                       scores);
      });
}

Algorithm report_noisy_max() {
  return on_rows(
      {.name = "report_noisy_max",
       .summary = "Choose the candidate whose noised score is largest",
       .input = kScores,
       .guarantee = "Pure differential privacy with the given epsilon; the noised scores "
                    "themselves stay secret.",
       .accuracy = "With geometric noise the chosen score is within 2 sensitivity "
                   "ln(candidates/beta) / epsilon of the best with probability 1 - beta, half of "
                   "that for monotone scores.",
       .cost = kLinear,
       .source = "Dwork and Roth, The Algorithmic Foundations of Differential Privacy (2014), "
                 "section 3.3; Ding et al. (2021) for one-sided noise.",
       .document = "src/gauze/mechanism/noisy_max.md",
       .example = "seq 10 | gauze release report_noisy_max --epsilon 1 --sensitivity 1 -",
       .options = {epsilon_option(),
                   sensitivity_option(),
                   monotone_option(),
                   relation_option("add_remove"),
                   {"noise", Type::kText, "geometric or laplace", "geometric"}},
       .neighbours = scored_candidates},
      [](const OptionValues& values) {
        const bool geometric = is_first(values, "noise", "geometric", "laplace");
        return task_of(
            ReportNoisyMax({.epsilon = values.number("epsilon"),
                            .sensitivity = values.number("sensitivity"),
                            .monotone = values.flag("monotone"),
                            .relation = values.relation(),
                            .noise = geometric ? MaxNoise::kGeometric : MaxNoise::kLaplace}),
            scores);
      });
}

Algorithm top_k() {
  return on_rows(
      {.name = "top_k",
       .summary = "Choose the k best candidates, in order",
       .input = kScores,
       .guarantee = "Pure differential privacy with the given epsilon for the whole ordered list.",
       .accuracy = "Every chosen score is within ln(candidates k/beta) / rate of the score that "
                   "its rank deserves, rate = epsilon / (2 k sensitivity), or twice that for "
                   "monotone scores.",
       .cost = "One shot: candidates times log k; peeling: candidates times k.",
       .source = "Qiao, Su and Zhang, Oneshot Differentially Private Top-k Selection (2021); "
                 "Durfee and Rogers (2019) for peeling.",
       .document = "src/gauze/mechanism/top_k.md",
       .when = reason_for("Several choices from a list", {.wanted = 2}),
       .example = "seq 10 | gauze release top_k --k 3 --epsilon 1 --sensitivity 1 -",
       .options = {{"k", Type::kWhole, "how many to choose, 1 or more", ""},
                   epsilon_option(),
                   sensitivity_option(),
                   monotone_option(),
                   relation_option("add_remove"),
                   {"method", Type::kText,
                    "one_shot (better for a pure budget) or peeling (composes better)",
                    "one_shot"}},
       .neighbours = more_candidates},
      [](const OptionValues& values) {
        const bool one_shot = is_first(values, "method", "one_shot", "peeling");
        return task_of(TopK({.k = values.whole("k"),
                             .epsilon = values.number("epsilon"),
                             .sensitivity = values.number("sensitivity"),
                             .monotone = values.flag("monotone"),
                             .relation = values.relation(),
                             .method = one_shot ? TopKMethod::kOneShot : TopKMethod::kPeeling}),
                       scores);
      });
}

Algorithm enhanced_exponential() {
  return on_rows(
      {.name = "enhanced_exponential",
       .summary = "Choose a candidate when scores are sums over records",
       .input = kScores,
       .guarantee =
           "Pure differential privacy with the given epsilon, of bounded range, for scores "
           "of the form c(w) + sum over records of L_w(x).",
       .accuracy = "The chosen score is within ln(candidates/beta) / rate of the best; rate is "
                   "epsilon / (2 min(record_spread, candidate_spread)) under replace and epsilon / "
                   "candidate_spread under add_remove.",
       .cost = kLinear,
       .source = "Li, Lyu, Su and Yang, Differential Privacy: From Theory to Practice (2016), "
                 "section 5.",
       .document = "src/gauze/mechanism/enhanced_exponential.md",
       .example = "seq 10 | gauze release enhanced_exponential --epsilon 1 --candidate-spread 1 "
                  "--relation add_remove -",
       .options = {epsilon_option(),
                   {"candidate_spread", Type::kNumber,
                    "largest |L_w(x) - L_w'(x)| over records x and candidates w, w', above 0", ""},
                   {"record_spread", Type::kText,
                    "largest |L_w(x) - L_w(x')| over records and candidates, above 0; only replace "
                    "can use it",
                    "none"},
                   relation_option("")},
       .neighbours = spread_scores},
      [](const OptionValues& values) {
        std::optional<Ratio> record_spread;
        if (values.text("record_spread") != "none") record_spread = values.number("record_spread");
        return task_of(EnhancedExponential({.epsilon = values.number("epsilon"),
                                            .candidate_spread = values.number("candidate_spread"),
                                            .record_spread = record_spread,
                                            .relation = values.relation()}),
                       scores);
      });
}

Algorithm relaxed_exponential() {
  return on_rows(
      {.name = "relaxed_exponential",
       .summary = "Choose a candidate when scores are only probably stable",
       .input = kScores,
       .guarantee = "(epsilon, delta)-differential privacy with epsilon = 2 temperature bound + "
                    "ln(1/(1 - delta)), if the chosen candidate's score differs between neighbours "
                    "by at most `bound` except with probability `delta`.",
       .accuracy = "The chosen score is within ln(candidates/beta) / temperature of the best with "
                   "probability 1 - beta.",
       .cost = kLinear,
       .source = "Mir, Differential Privacy: An Exploration of the Privacy-Utility Landscape "
                 "(2013), section 5.3, with the missing term ln(1/(1 - delta)).",
       .document = "src/gauze/mechanism/relaxed_exponential.md",
       .example = "seq 10 | gauze release relaxed_exponential --temperature 0.5 --bound 1 --delta "
                  "1e-6 --relation add_remove -",
       .options = {{"temperature", Type::kNumber, "inverse temperature, above 0", ""},
                   {"bound", Type::kNumber, "what the score difference stays within, above 0", ""},
                   {"delta", Type::kNumber, "how often it does not, at least 0 and below 1", ""},
                   relation_option("")},
       .neighbours = mostly_bounded_scores},
      [](const OptionValues& values) {
        return task_of(RelaxedExponential({.temperature = values.number("temperature"),
                                           .bound = values.number("bound"),
                                           .delta = values.number("delta"),
                                           .relation = values.relation()}),
                       scores);
      });
}

/// Every row is one person with a meter of their own: the task's price is what each of them pays.
Task respond(const std::shared_ptr<const RandomizedResponse>& mechanism, std::uint64_t options) {
  const auto read = [mechanism, options](const Rows& rows) {
    return [mechanism, options, truths = rows.integers(0)](Context& context) {
      context.meter.charge(mechanism->event());
      std::vector<std::uint64_t> answers;
      std::vector<std::uint64_t> counts(options);
      for (const std::int64_t truth : truths) {
        Meter own(mechanism->event());
        Context person{own, context.bits};
        const bool listed = truth >= 0 && static_cast<std::uint64_t>(truth) < options;
        answers.push_back(
            mechanism->run(listed ? static_cast<std::uint64_t>(truth) : 0, person).value);
        ++counts[answers.back()];
      }
      const ShareEstimate estimate = mechanism->estimate(counts);
      return Release<nlohmann::json>{{{"answers", answers}, {"shares", estimate.shares}},
                                     mechanism->accuracy(truths.size()),
                                     mechanism->event()};
    };
  };
  return values_task(
      mechanism->event(),
      [mechanism](std::uint64_t size, double confidence) -> std::optional<Accuracy> {
        return mechanism->accuracy(std::max<std::uint64_t>(size, 1), confidence);
      },
      read);
}

Algorithm randomized_response() {
  return on_rows(
      {.name = "randomized_response",
       .summary = "Everybody answers with the truth or, sometimes, something else",
       .input = "one person's answer per line, a whole number from 0 to options - 1 (anything else "
                "counts as 0); how many people there are is public",
       .guarantee = "Local differential privacy with epsilon = ln(p (options - 1) / (1 - p)) for "
                    "each person, who need trust nobody.",
       .accuracy = "Each option's share among n answers is within sqrt(ln(2/beta) / (2 n)) / (p - "
                   "(1 - p)/(options - 1)) with probability 1 - beta.",
       .cost = "Time and memory proportional to the number of people.",
       .source = "Warner, Randomized Response (1965); Kairouz, Oh and Viswanath (2014) for more "
                 "than two options.",
       .document = "src/gauze/mechanism/randomized_response.md",
       .example = "seq 0 99 | gauze release randomized_response --p 3/4 -",
       .options = {{"p", Type::kNumber,
                    "probability of the truth, above 1/options and below 1; `gauze calibrate "
                    "randomized_response` finds it for an epsilon",
                    ""},
                   {"options", Type::kWhole, "number of possible answers, 2 to 1000000", "2"}},
       .neighbours =
           [](const OptionValues& values) {
             return audit::lines_of(audit::local_answers(values.whole("options")));
           }},
      [](const OptionValues& values) {
        const std::uint64_t options = values.whole("options");
        require(options <= 1'000'000, "options: must be from 2 to 1000000");
        return respond(std::make_shared<const RandomizedResponse>(RandomizedResponse::Options{
                           .p = values.number("p"), .options = options}),
                       options);
      });
}

}  // namespace

std::vector<Algorithm> choice_algorithms() {
  return {exponential(),          permute_and_flip(),    report_noisy_max(),   top_k(),
          enhanced_exponential(), relaxed_exponential(), randomized_response()};
}

}  // namespace gauze::internal
