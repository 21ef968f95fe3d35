#include "gauze/noise/choice.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "gauze/base/error.h"
#include "gauze/noise/proposal_internal.h"
#include "gauze/random/uniform.h"

namespace gauze {
namespace {

void check(std::span<const double> scores, const Ratio& rate) {
  require(rate >= 0, "choice: rate must not be negative");
  if (scores.empty()) throw Error(ErrorCode::kInvalidInput, "choice: there are no candidates");
  for (const double score : scores) {
    if (!std::isfinite(score))
      throw Error(ErrorCode::kInvalidInput, "choice: scores must be finite");
  }
}

/// rate * (best - score), exactly; the double version is within a factor 1 +- 2^-51 of it, or both
/// are so large that e^-x is nothing.
class Shortfall {
 public:
  Shortfall(const Ratio& rate, double best)
      : rate_(rate), approximate_rate_(rate.convert_to<double>()), best_(best) {}

  double approximate(double score) const {
    if (score == best_) return 0;
    // Halved so that the difference of two large doubles does not overflow.
    const double half = best_ / 2 - score / 2;
    // Where a factor has left the range of doubles their product need not have.
    const bool ordinary = half > 0x1p-900 && approximate_rate_ < 1e300;
    const double product =
        ordinary ? approximate_rate_ * half * 2 : exact(score).convert_to<double>();
    return std::min(product, 1e300);
  }
  Ratio exact(double score) const { return rate_ * (ratio_of_bits(best_) - ratio_of_bits(score)); }

 private:
  const Ratio& rate_;
  double approximate_rate_;
  double best_;
};

}  // namespace

std::size_t choose_exp(std::span<const double> scores, const Ratio& rate, BitSource& bits,
                       std::span<const Integer> multiplicity) {
  check(scores, rate);
  require(multiplicity.empty() || multiplicity.size() == scores.size(),
          "choice: one multiplicity per score");
  const auto exists = [&](std::size_t i) { return multiplicity.empty() || multiplicity[i] > 0; };

  // The best score among candidates that exist, and the largest multiplicity, keep the weights in
  // range.
  double best = -HUGE_VAL;
  std::size_t candidates = 0;
  std::size_t last = 0;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    if (!exists(i)) continue;
    best = std::max(best, scores[i]);
    ++candidates;
    last = i;
  }
  if (candidates == 0) throw Error(ErrorCode::kInvalidInput, "choice: every candidate is excluded");
  if (candidates == 1) return last;
  const Integer most = multiplicity.empty()
                           ? Integer(1)
                           : *std::max_element(multiplicity.begin(), multiplicity.end());
  const Shortfall shortfall(rate, best);
  const auto share = [&](std::size_t i) {
    return multiplicity.empty() ? Ratio(1) : Ratio(multiplicity[i], most);
  };

  std::vector<double> approximate(scores.size());
  for (std::size_t i = 0; i < scores.size(); ++i) {
    if (!exists(i)) continue;
    const double copies = multiplicity.empty() ? 1 : share(i).convert_to<double>();
    // A weight that underflows still needs its unit.
    approximate[i] = std::max(copies * std::exp(-shortfall.approximate(scores[i])), 0x1p-900);
  }
  std::vector<std::uint64_t> weights(scores.size());
  const double kappa = noise_internal::quantise(approximate, weights);

  while (true) {
    std::uint64_t left = bits.next();
    std::size_t i = 0;
    while (left >= weights[i]) left -= weights[i++];
    const double estimate = approximate[i] / static_cast<double>(weights[i]) * kappa * 0x1p64;
    const bool accepted = LazyUniform(bits).below(estimate, [&](unsigned precision) {
      return Interval(kappa, precision) * Interval(power_of_two(64), precision) *
             Interval(share(i), precision) * exp(-Interval(shortfall.exact(scores[i]), precision)) /
             Interval(Integer(weights[i]), precision);
    });
    if (accepted) return i;
  }
}

std::size_t permute_and_flip(std::span<const double> scores, const Ratio& rate, BitSource& bits) {
  check(scores, rate);
  const Shortfall shortfall(rate, *std::max_element(scores.begin(), scores.end()));
  std::vector<std::size_t> order(scores.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (std::size_t left = order.size(); left > 0; --left) {
    std::swap(order[left - 1], order[uniform_below(bits, left)]);
    const double score = scores[order[left - 1]];
    const bool accepted = LazyUniform(bits).below(
        std::exp(-shortfall.approximate(score)),
        [&](unsigned precision) { return exp(-Interval(shortfall.exact(score), precision)); });
    if (accepted) return order[left - 1];
  }
  throw Error(ErrorCode::kInternal, "permute_and_flip: the best candidate was not accepted");
}

}  // namespace gauze
