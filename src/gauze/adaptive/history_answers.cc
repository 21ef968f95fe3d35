#include "gauze/adaptive/history_answers.h"

#include <algorithm>
#include <cmath>

#include "gauze/base/error.h"
#include "gauze/numeric/exact_sum.h"

namespace gauze {
namespace {

HistoryAnswers::Options checked(HistoryAnswers::Options options) {
  require(options.epsilon.get() > 0, "epsilon must be positive");
  require(options.sensitivity.get() > 0, "sensitivity must be positive");
  require(options.threshold.get() >= 0,
          "threshold must not be negative: how far off a guess may be");
  require(options.fresh >= 1,
          "fresh must be at least 1: it ends after so many answers from the data");
  require(options.value_share > 0 && options.value_share < 1,
          "value_share must lie strictly between 0 and 1");
  return options;
}

}  // namespace

// A distance moves as its answer does, but up or down: never monotone.
HistoryAnswers::HistoryAnswers(Options options)
    : options_(checked(std::move(options))),
      comparisons_({.epsilon = Ratio(options_.epsilon.get() * (1 - options_.value_share)),
                    .sensitivity = options_.sensitivity,
                    .positives = options_.fresh,
                    .threshold = options_.threshold,
                    .relation = options_.relation}),
      values_({.l1_sensitivity = options_.sensitivity,
               .scale = Ratio(options_.sensitivity.get() * Ratio(Integer(options_.fresh.get())) /
                              (options_.epsilon.get() * options_.value_share)),
               .relation = options_.relation}) {}

Event HistoryAnswers::event() const {
  return {events::Composed{{comparisons_.event(), values_event()}}, options_.relation};
}

Event HistoryAnswers::values_event() const {
  Event all = values_.event();
  all.count = options_.fresh;
  return all;
}

Accuracy HistoryAnswers::accuracy(std::uint64_t questions, double confidence) const {
  require(confidence > 0 && confidence < 1, "confidence must lie strictly between 0 and 1");
  const double beta = (1 - confidence) / 2;
  const double guessed =
      round_up(options_.threshold) + comparisons_.accuracy(questions, 1 - beta).half_width;
  const double bought =
      values_.accuracy(1 - beta / static_cast<double>(options_.fresh.get())).half_width;
  return {std::nextafter(std::max(guessed, bought), INFINITY), confidence, "all answers"};
}

HistoryAnswers::Conversation HistoryAnswers::start(Context& context) const {
  context.meter.charge(event());
  Meter paid(comparisons_.event());
  Context comparisons{paid, context.bits};
  return {*this, comparisons_.start(comparisons), context.bits};
}

Release<std::vector<GuardedAnswer>> HistoryAnswers::run(std::span<const double> answers,
                                                        Context& context) const {
  Conversation conversation = start(context);
  double guess = nearest_double(options_.first_guess);
  std::vector<GuardedAnswer> said;
  for (std::size_t i = 0; i < answers.size() && !conversation.ended(); ++i) {
    said.push_back(conversation.ask(answers[i], guess));
    guess = said.back().value;
  }
  return {std::move(said), accuracy(answers.size()), event()};
}

HistoryAnswers::Conversation::Conversation(const HistoryAnswers& options,
                                           SparseVector::Conversation comparisons, BitSource& bits)
    : comparisons_(std::move(comparisons)),
      values_(options.values_),
      meter_(options.values_event()),
      bits_(bits) {}

GuardedAnswer HistoryAnswers::Conversation::ask(double exact, double guess) {
  const Ratio distance = abs(Ratio(ratio_of_bits(exact, "answer") - ratio_of_bits(guess, "guess")));
  if (!comparisons_.ask_exactly(distance).above) return {guess, false};
  Context context{meter_, bits_};
  return {values_.run(exact, context).value, true};
}

}  // namespace gauze
