#include "gauze/mechanism/retraversal.h"

#include <numeric>

#include "gauze/base/error.h"
#include "gauze/mechanism/selection_internal.h"

namespace gauze {
namespace {

SparseVector::Options at(const Ratio& threshold, const Retraversal::Options& options) {
  return {.epsilon = options.epsilon,
          .sensitivity = options.sensitivity,
          .positives = options.positives,
          .threshold = threshold,
          .monotone = options.monotone,
          .relation = options.relation};
}

SparseVector raised(const Retraversal::Options& options) {
  require(options.raise >= 0, "raise must not be negative: standard deviations of a comparison");
  require(options.passes >= 1, "passes must be at least 1");
  const Ratio scale = SparseVector(at(options.threshold, options)).query_scale();
  const Ratio deviation = scale * Ratio(Integer(14142136), Integer(10000000));
  return SparseVector(at(Ratio(options.threshold.get() + options.raise * deviation), options));
}

}  // namespace

Retraversal::Retraversal(const Options& options)
    : passes_(options.passes), comparisons_(raised(options)) {}

Event Retraversal::event() const {
  return comparisons_.event();
}

Accuracy Retraversal::accuracy(std::uint64_t answers, double confidence) const {
  std::uint64_t comparisons = 0;
  if (__builtin_mul_overflow(answers, passes_, &comparisons)) comparisons = UINT64_MAX;
  Accuracy promise = comparisons_.accuracy(comparisons, confidence);
  promise.of = "answers on the wrong side of the raised threshold";
  return promise;
}

// Going through the list again is asking further questions, and those below are free.
Release<std::vector<std::size_t>> Retraversal::run(std::span<const double> answers,
                                                   Context& context) const {
  SparseVector::Conversation conversation = comparisons_.start(context);
  internal::check_scores(answers);
  std::vector<std::size_t> left(answers.size());
  std::iota(left.begin(), left.end(), std::size_t{0});
  std::vector<std::size_t> chosen;
  for (std::uint64_t pass = 0; pass < passes_ && !left.empty() && !conversation.ended(); ++pass) {
    std::erase_if(left, [&](std::size_t i) {
      if (conversation.ended() || !conversation.ask(answers[i]).above) return false;
      chosen.push_back(i);
      return true;
    });
  }
  return {std::move(chosen), accuracy(answers.size()), event()};
}

}  // namespace gauze
