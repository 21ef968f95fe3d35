#include "gauze/mechanism/randomized_response.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "gauze/base/error.h"
#include "gauze/mechanism/additive_internal.h"
#include "gauze/numeric/interval.h"
#include "gauze/random/uniform.h"

namespace gauze {
namespace {

/// How often an option is answered: by those it is true of, and by those it is not.
struct Channel {
  double lie;
  double gap;  // truth - lie, subtracted as fractions: p may be next to 1/options

  /// Unbiased: answered = lie + share gap.
  double share(double answered) const { return (answered - lie) / gap; }
  double answered(double share) const { return lie + share * gap; }
  double variance(double share, double answers) const {
    const double r = std::clamp(answered(share), 0.0, 1.0);
    return r * (1 - r) / (answers * gap * gap);
  }
  // Hoeffding over independent answers.
  double radius(double answers, double beta) const {
    return std::sqrt(std::log(2 / beta) / (2 * answers)) / gap * (1 + 1e-12);
  }
};

Channel channel(const Ratio& p, std::uint64_t options) {
  const Ratio lie = (1 - p) / Ratio(Integer(options - 1));
  return {lie.convert_to<double>(), Ratio(p - lie).convert_to<double>()};
}

ShareEstimate estimate_shares(const Channel& c, std::span<const std::uint64_t> counts, double n) {
  if (n == 0) throw Error(ErrorCode::kInvalidInput, "there are no answers to estimate from");
  ShareEstimate result;
  for (const std::uint64_t count : counts) {
    const double share = c.share(static_cast<double>(count) / n);
    result.shares.push_back(share);
    result.standard_deviations.push_back(std::sqrt(c.variance(share, n)));
  }
  return result;
}

Accuracy share_accuracy(const Channel& c, std::uint64_t answers, double confidence) {
  require(answers >= 1, "answers must be at least 1");
  const double beta = internal::failure_probability(confidence);
  return {c.radius(static_cast<double>(answers), beta), confidence, "each share"};
}

}  // namespace

RandomizedResponse::RandomizedResponse(Options options) : options_(std::move(options)) {
  require(options_.options >= 2, "options must be at least 2");
  const Ratio& p = options_.p;
  require(p < 1, "p must be below 1: the certain truth is not private");
  require(p * Ratio(Integer(options_.options)) > 1,
          "p must be above 1/options, or answers say nothing about the truth");
}

Ratio RandomizedResponse::p_for(const Ratio& epsilon, std::uint64_t options) {
  require(epsilon > 0, "epsilon must be positive");
  require(options >= 2, "options must be at least 2");
  // p = 1 / (1 + (options - 1) e^-epsilon), rounded down to a multiple of 2^-60 below 1.
  const Interval others = Interval(Ratio(Integer(options - 1)), 160) * exp(-Interval(epsilon, 160));
  const Interval p = Interval(Ratio(1), 160) / (Interval(Ratio(1), 160) + others);
  const Integer steps = floor(Ratio(ratio_of_bits(p.lower()) * power_of_two(60)));
  return Ratio(std::min<Integer>(steps, (Integer(1) << 60) - 1)) * power_of_two(-60);
}

Event RandomizedResponse::event() const {
  return {events::RandomizedResponse{options_.p, options_.options}, Relation::kLocal};
}

Accuracy RandomizedResponse::accuracy(std::uint64_t answers, double confidence) const {
  return share_accuracy(channel(options_.p, options_.options), answers, confidence);
}

Release<std::uint64_t> RandomizedResponse::run(std::uint64_t truth, Context& context) const {
  context.meter.charge(event());
  if (truth >= options_.options) {
    throw Error(ErrorCode::kInvalidInput, "the answer must be below the number of options");
  }
  std::uint64_t answer = truth;
  if (!bernoulli(context.bits, options_.p)) {
    answer = uniform_below(context.bits, options_.options - 1);
    if (answer >= truth) ++answer;
  }
  return {answer, accuracy(1), event()};
}

ShareEstimate RandomizedResponse::estimate(std::span<const std::uint64_t> counts) const {
  if (counts.size() != options_.options) {
    throw Error(ErrorCode::kInvalidInput, "give one count for each option");
  }
  // In doubles: the sum of 64-bit counts need not fit 64 bits.
  return estimate_shares(channel(options_.p, options_.options), counts,
                         std::accumulate(counts.begin(), counts.end(), 0.0));
}

double RandomizedResponse::variance(double share, std::uint64_t answers) const {
  require(share >= 0 && share <= 1, "share must lie in [0, 1]");
  require(answers >= 1, "answers must be at least 1");
  return channel(options_.p, options_.options).variance(share, static_cast<double>(answers));
}

RandomizedBits::RandomizedBits(Options options) : options_(std::move(options)) {
  require(options_.length >= 1, "length must be at least 1");
  require(options_.p.get() > Ratio(1, 2) && options_.p.get() < 1,
          "p must lie strictly between 1/2 and 1");
}

// Neighbours are any two inputs, so all bits may differ: one loss per bit.
Event RandomizedBits::event() const {
  return {events::RandomizedResponse{options_.p, 2}, Relation::kLocal, options_.length};
}

Accuracy RandomizedBits::accuracy(std::uint64_t answers, double confidence) const {
  return share_accuracy(channel(options_.p, 2), answers, confidence);
}

Release<std::vector<bool>> RandomizedBits::run(const std::vector<bool>& truth,
                                               Context& context) const {
  context.meter.charge(event());
  if (truth.size() != options_.length) {
    throw Error(ErrorCode::kInvalidInput, "length must be the number of bits");
  }
  std::vector<bool> answer;
  for (const bool bit : truth) answer.push_back(bit == bernoulli(context.bits, options_.p));
  return {answer, accuracy(1), event()};
}

ShareEstimate RandomizedBits::estimate(std::span<const std::uint64_t> ones,
                                       std::uint64_t answers) const {
  if (ones.size() != options_.length) {
    throw Error(ErrorCode::kInvalidInput, "give one count for each position");
  }
  if (std::any_of(ones.begin(), ones.end(), [&](std::uint64_t count) { return count > answers; })) {
    throw Error(ErrorCode::kInvalidInput, "no position can have more ones than there are answers");
  }
  return estimate_shares(channel(options_.p, 2), ones, static_cast<double>(answers));
}

}  // namespace gauze
