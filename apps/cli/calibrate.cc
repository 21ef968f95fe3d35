#include "gauze/accounting/calibrate.h"

#include <cmath>
#include <functional>
#include <optional>

#include "command.h"
#include "gauze/base/error.h"
#include "gauze/engine/meaning.h"
#include "gauze/service/wording.h"
#include "text.h"

namespace gauze::cli {
namespace {

struct CalibrateRequest {
  std::string epsilon;
  std::string delta = "0";
  std::string sensitivity;
  std::string options = "2";
  std::string relation;
  std::optional<std::string> rate;
  std::string steps = "1";
  std::string count = "1";
  std::string accountant = "best";
  bool accept_weak = false;
  bool json = false;
};

/// Says the truth with this probability: 1 without noise, 1/options with infinite noise.
Ratio truth_probability(const Ratio& noise, std::uint64_t options) {
  const Ratio floor = Ratio(1) / options;
  return floor + (1 - floor) / (1 + noise);
}

/// What can be calibrated: how an event is made from its noise, and how the result is called.
struct Family {
  const char* name;
  const char* summary;
  const char* sensitivity;  ///< the option that states it, or null
  const char* result;       ///< key of the answer in JSON
  Event::Kind (*event)(const Ratio& noise, const Ratio& sensitivity, std::uint64_t options);
  double (*answer)(const Ratio& noise, std::uint64_t options);
};

double noise_itself(const Ratio& noise, std::uint64_t /*options*/) {
  return round_up(noise);
}
double epsilon_each(const Ratio& noise, std::uint64_t /*options*/) {
  return round_down(1 / noise);
}

const Family kFamilies[] = {
    {"gaussian", "standard deviation of Gaussian noise", "--l2-sensitivity", "sigma",
     [](const Ratio& noise, const Ratio& sensitivity, std::uint64_t) -> Event::Kind {
       return events::Gaussian{noise, sensitivity};
     },
     noise_itself},
    {"discrete_gaussian", "sigma of discrete Gaussian noise", "--l2-sensitivity", "sigma",
     [](const Ratio& noise, const Ratio& sensitivity, std::uint64_t) -> Event::Kind {
       return events::DiscreteGaussian{noise, sensitivity};
     },
     noise_itself},
    {"laplace", "scale of Laplace noise", "--l1-sensitivity", "scale",
     [](const Ratio& noise, const Ratio& sensitivity, std::uint64_t) -> Event::Kind {
       return events::Laplace{noise, sensitivity};
     },
     noise_itself},
    {"discrete_laplace", "scale of discrete Laplace noise", "--l1-sensitivity", "scale",
     [](const Ratio& noise, const Ratio& sensitivity, std::uint64_t) -> Event::Kind {
       return events::DiscreteLaplace{noise, sensitivity};
     },
     noise_itself},
    {"randomized_response", "probability of saying the truth", nullptr, "p",
     [](const Ratio& noise, const Ratio&, std::uint64_t options) -> Event::Kind {
       return events::RandomizedResponse{truth_probability(noise, options), options};
     },
     [](const Ratio& noise, std::uint64_t options) {
       return round_down(truth_probability(noise, options));
     }},
    {"exponential", "epsilon of each choice by the exponential mechanism", nullptr, "epsilon_each",
     [](const Ratio& noise, const Ratio&, std::uint64_t) -> Event::Kind {
       return events::Exponential{1 / noise};
     },
     epsilon_each},
    {"permute_and_flip", "epsilon of each choice by permute-and-flip", nullptr, "epsilon_each",
     [](const Ratio& noise, const Ratio&, std::uint64_t) -> Event::Kind {
       return events::PermuteAndFlip{1 / noise};
     },
     epsilon_each},
};

Target target(const CalibrateRequest& request) {
  const Target result{.epsilon = number(request.epsilon, "--epsilon"),
                      .delta = number(request.delta, "--delta"),
                      .accountant = parse_accountant(request.accountant)};
  require(result.epsilon > 0, "--epsilon: must be above 0; 0.1 is strong, 1 is usual");
  require(result.delta >= 0 && result.delta < 1,
          "--delta: must be at least 0 and below 1, like 1e-6");
  refuse_weak(result.epsilon, result.delta, request.accept_weak);
  return result;
}

Relation relation_of(const Family& family, const CalibrateRequest& request) {
  if (!request.relation.empty()) return parse_relation(request.relation);
  return std::string_view(family.name) == "randomized_response" ? Relation::kLocal
                                                                : Relation::kAddRemove;
}

/// The events of the whole run, as a function of the noise.
std::function<std::vector<Event>(const Ratio&)> whole_run(const Family& family,
                                                          const CalibrateRequest& request) {
  Ratio sensitivity = 1;
  if (family.sensitivity != nullptr) {
    sensitivity = exact(request.sensitivity, family.sensitivity);
    if (sensitivity <= 0) {
      throw Error(ErrorCode::kInvalidOption,
                  std::string(family.sensitivity) +
                      ": must be above 0: how far one person can move the answer");
    }
  }
  const std::uint64_t options = whole(request.options, "--options", 2);
  const std::uint64_t count = whole(request.count, "--count", 1);
  const std::uint64_t steps = whole(request.steps, "--steps", 1);
  const Relation relation = relation_of(family, request);
  std::optional<Ratio> rate;
  if (request.rate) {
    rate = exact(*request.rate, "--rate");
    require(*rate > 0 && *rate <= 1, "--rate: must be above 0 and at most 1");
  }
  return [=, &family](const Ratio& noise) -> std::vector<Event> {
    const Event each{family.event(noise, sensitivity, options), relation, count};
    if (!rate) return {each};
    return {Event{events::PoissonSampled{*rate, {each}}, relation, steps}};
  };
}

void run(const Family& family, const CalibrateRequest& request) {
  const Target wanted = target(request);
  const auto events = whole_run(family, request);
  for (const Event& event : events(1)) event.validate();
  const Ratio noise = ratio_of_decimal(calibrate(events, wanted));
  const double answer = family.answer(noise, whole(request.options, "--options", 2));
  const Guarantee proof = epsilon_at(events(noise), wanted.delta, wanted.accountant);
  if (request.json) {
    return print_json({{family.result, finite(answer)},
                       {"epsilon", finite(proof.epsilon)},
                       {"delta", wanted.delta},
                       {"accountant", name(proof.accountant)}});
  }
  // Noise is shown rounded up and probabilities of the truth down; --json has every digit.
  const bool noise_grows = family.answer == noise_itself;
  print_line(heading(std::string(family.result) + " = " +
                     (noise_grows ? upward(answer, 9) : nearest(answer, 17))));
  print_line("  gives " + glyph("ε = ", "epsilon = ") + upward(proof.epsilon, 6) +
             glyph(" at δ = ", " at delta = ") + upward(wanted.delta, 6) + ", proved by the " +
             std::string(name(proof.accountant)) + " accountant");
  for (const Event& event : events(noise)) print_line("  for " + shown(describe(event)));
  print_line("  " + std::string(verdict(band(wanted.epsilon, wanted.delta))));
}

void add_family(CLI::App& command, const Family& family) {
  CLI::App* sub = command.add_subcommand(family.name, std::string("The ") + family.summary);
  auto request = std::make_shared<CalibrateRequest>();
  sub->add_option("--epsilon", request->epsilon, "Target, above 0")->required();
  sub->add_option("--delta", request->delta, "Target, at least 0 and below 1 (0: pure)");
  if (family.sensitivity != nullptr) {
    sub->add_option(family.sensitivity, request->sensitivity,
                    "How far one person can move the answer, above 0")
        ->required();
  }
  if (std::string_view(family.name) == "randomized_response") {
    sub->add_option("--options", request->options, "Number of possible answers, 2 or more (2)");
  }
  CLI::Option* count =
      sub->add_option("--count", request->count, "How many such releases the target is for (1)");
  CLI::Option* rate = sub->add_option("--rate", request->rate,
                                      "Each step sees a Poisson sample taken at this rate, (0, 1]");
  sub->add_option("--steps", request->steps, "Number of sampled steps (1)")->needs(rate);
  rate->excludes(count);
  sub->add_option(
      "--relation", request->relation,
      "What makes data sets neighbours (local for randomized_response, else add_remove)");
  sub->add_option("--accountant", request->accountant, "By which the promise must hold (best)");
  sub->add_flag("--accept-weak", request->accept_weak,
                "Allow an epsilon of 10 or a delta of 0.01 and more");
  sub->add_flag("--json", request->json,
                std::string("Print {\"") + family.result +
                    "\": ...} with the epsilon, delta and accountant that prove it");
  sub->callback([request, &family] { run(family, *request); });
}

}  // namespace

void add_calibrate(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("calibrate", "Find the smallest noise that keeps a promise");
  command->require_subcommand(1);
  for (const Family& family : kFamilies) add_family(*command, family);
  command->footer(
      "Examples:\n"
      "  gauze calibrate gaussian --epsilon 1 --delta 1e-6 --l2-sensitivity 1\n"
      "  gauze calibrate laplace --epsilon 1 --l1-sensitivity 1\n"
      "  gauze calibrate gaussian --epsilon 2 --delta 1e-5 --l2-sensitivity 1 --rate 0.01 "
      "--steps 1000\n"
      "  gauze calibrate exponential --epsilon 1 --delta 1e-6 --count 100");
}

}  // namespace gauze::cli
