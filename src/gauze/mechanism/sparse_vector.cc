#include "gauze/mechanism/sparse_vector.h"

#include <algorithm>
#include <cmath>

#include "gauze/base/error.h"
#include "gauze/mechanism/additive_internal.h"
#include "gauze/mechanism/selection_internal.h"
#include "gauze/noise/additive.h"
#include "gauze/numeric/lattice.h"

namespace gauze {
namespace {

constexpr std::int64_t kSmall = std::int64_t{1} << 60;  // sums of two stay within 64 bits

bool small(std::int64_t steps) {
  return -kSmall < steps && steps < kSmall;
}

/// The share of the threshold that makes the noise of a comparison smallest: noise of scales 1/x and
/// w/(1-x) has the least variance at x = 1/(1 + w^(2/3)), here to 20 binary digits.
Ratio best_share(std::uint64_t positives, bool monotone) {
  const double weight = (monotone ? 1.0 : 2.0) * static_cast<double>(positives);
  const double share = 1 / (1 + std::pow(weight, 2.0 / 3));
  return Ratio(Integer(std::max<std::int64_t>(1, std::llround(share * 0x1p20)))) *
         power_of_two(-20);
}

/// An x with P(X + Y >= x) <= beta for Laplace noise of scales a and b, up to rounding the least. With
/// w the larger scale, n the smaller and g = 1/n - 1/w the tail is
///   e^(-x/w)/2 (1 + n/(w(n+w)) (1 - e^(-gx))/g),
/// solved for the x in front; the iteration contracts by n/(n+w) and stays above its limit.
double radius_of_two(double a, double b, double beta) {
  const double wide = std::max(a, b);
  const double narrow = std::min(a, b);
  const double gap = 1 / narrow - 1 / wide;
  const double weight = narrow / (wide * (narrow + wide));
  const auto grown = [&](double x) { return gap * x < 1e-9 ? x : -std::expm1(-x * gap) / gap; };
  double x = 2 * wide * (std::log(1 / beta) + 1);
  for (int i = 0; i < 50; ++i) {
    const double next = wide * (std::log1p(weight * grown(x)) - std::log(2 * beta));
    if (next >= x * (1 - 1e-12)) break;
    x = next;
  }
  return std::max(x, 0.0) * (1 + 1e-9);
}

}  // namespace

struct SparseVector::Noise {
  Lattice lattice;
  Integer default_threshold;  // in steps
  AdditiveNoise threshold;
  AdditiveNoise query;
  std::optional<internal::LatticeNoise> value;
  double threshold_scale;  // rounded up, like the next
  double query_scale;
};

SparseVector::SparseVector(Options options) : options_(std::move(options)) {
  internal::check_selection(options_.epsilon, options_.sensitivity, options_.monotone,
                            options_.relation);
  require(options_.positives >= 1, "positives must be at least 1: it ends after so many");
  require(options_.value_share >= 0 && options_.value_share < 1,
          "value_share must be at least 0 (no numbers) and below 1");
  require(options_.threshold_share >= 0 && options_.threshold_share < 1,
          "threshold_share must be at least 0 (the best) and below 1");
  if (options_.threshold_share == 0)
    options_.threshold_share = best_share(options_.positives, options_.monotone);
  const Ratio& sensitivity = options_.sensitivity;
  const Lattice lattice = Lattice::within(Ratio(sensitivity * power_of_two(-20)));
  // What rounding adds to the sensitivity is added to the noise.
  const Ratio steps_per_unit = Ratio(lattice.l1_steps(sensitivity)) / sensitivity;
  std::optional<internal::LatticeNoise> value;
  if (options_.value_share > 0) {
    const Ratio each = options_.epsilon.get() * options_.value_share;
    value = internal::LatticeNoise::laplace(
        sensitivity, Ratio(sensitivity * Ratio(Integer(options_.positives.get())) / each));
  }
  noise_ = std::make_shared<const Noise>(
      Noise{lattice, lattice.nearest(options_.threshold),
            AdditiveNoise::discrete_laplace(Ratio(threshold_scale() * steps_per_unit)),
            AdditiveNoise::discrete_laplace(Ratio(query_scale() * steps_per_unit)), value,
            round_up(threshold_scale()), round_up(query_scale())});
}

Event SparseVector::event() const {
  const Ratio query_epsilon = comparison_epsilon() - threshold_epsilon();
  Event comparisons{events::SparseVector{threshold_epsilon(),
                                         query_epsilon / Ratio(Integer(options_.positives.get())),
                                         options_.positives},
                    options_.relation};
  if (!noise_->value) return comparisons;
  const Event values{noise_->value->laplace_event(), options_.relation, options_.positives};
  return {events::Composed{{comparisons, values}}, options_.relation};
}

// An answer on the wrong side needs the noises of its comparison and of the threshold to bridge the
// distance in one direction.
Accuracy SparseVector::accuracy(std::uint64_t questions, double confidence) const {
  const double beta = internal::failure_probability(confidence);
  const double each = beta / static_cast<double>(std::max<std::uint64_t>(questions, 1));
  const double step = round_up(noise_->lattice.step());
  const double stretched = 1 + 0x1p-19;  // steps_per_unit, and discrete tails
  return {radius_of_two(noise_->threshold_scale, noise_->query_scale, each) * stretched + 3 * step,
          confidence, "answers on the wrong side of the threshold"};
}

Accuracy SparseVector::value_accuracy(double confidence) const {
  const double beta = internal::failure_probability(confidence);
  require(noise_->value.has_value(), "value_share must be positive for numbers to be released");
  return {noise_->value->laplace_radius(beta), confidence, "each number"};
}

Ratio SparseVector::comparison_epsilon() const {
  return options_.epsilon.get() * (1 - options_.value_share);
}

Ratio SparseVector::threshold_epsilon() const {
  return comparison_epsilon() * options_.threshold_share;
}

Ratio SparseVector::threshold_scale() const {
  return options_.sensitivity.get() / threshold_epsilon();
}

Ratio SparseVector::query_scale() const {
  const Ratio query_epsilon = comparison_epsilon() - threshold_epsilon();
  const Ratio shifts = Ratio(Integer(options_.positives.get())) * (options_.monotone ? 1 : 2);
  return options_.sensitivity.get() * shifts / query_epsilon;
}

SparseVector::Conversation SparseVector::start(Context& context) const {
  context.meter.charge(event());
  return {noise_, options_.positives, context.bits};
}

Release<std::vector<ThresholdAnswer>> SparseVector::run(std::span<const double> answers,
                                                        Context& context) const {
  Conversation conversation = start(context);
  std::vector<ThresholdAnswer> said;
  for (std::size_t i = 0; i < answers.size() && !conversation.ended(); ++i)
    said.push_back(conversation.ask(answers[i]));
  return {std::move(said), accuracy(answers.size()), event()};
}

Release<std::vector<ThresholdAnswer>> SparseVector::run(std::span<const double> answers,
                                                        std::span<const double> thresholds,
                                                        Context& context) const {
  if (thresholds.size() != answers.size())
    throw Error(ErrorCode::kInvalidInput, "thresholds: there must be one for each answer");
  Conversation conversation = start(context);
  std::vector<ThresholdAnswer> said;
  for (std::size_t i = 0; i < answers.size() && !conversation.ended(); ++i)
    said.push_back(conversation.ask(answers[i], thresholds[i]));
  return {std::move(said), accuracy(answers.size()), event()};
}

SparseVector::Conversation::Conversation(std::shared_ptr<const Noise> noise,
                                         std::uint64_t positives, BitSource& bits)
    : noise_(std::move(noise)),
      left_(positives),
      bits_(bits),
      threshold_noise_(internal::draw_exactly(noise_->threshold, bits)),
      barrier_(noise_->default_threshold + threshold_noise_) {
  if (abs(barrier_) < kSmall) small_barrier_ = barrier_.convert_to<std::int64_t>();
}

ThresholdAnswer SparseVector::Conversation::ask(double answer) {
  const auto steps = noise_->lattice.nearest_small(answer);
  if (left_ == 0 || !steps || !small_barrier_)
    return said(reaches(noise_->lattice.nearest(answer), barrier_), answer);
  const std::int64_t noise = noise_->query.draw(bits_);
  if (small(noise)) return said(*steps + noise >= *small_barrier_, answer);
  return said(internal::exactly(noise, noise_->query, bits_) + *steps >= barrier_, answer);
}

ThresholdAnswer SparseVector::Conversation::ask(double answer, double threshold) {
  const Integer barrier = noise_->lattice.nearest(threshold) + threshold_noise_;
  return said(reaches(noise_->lattice.nearest(answer), barrier), answer);
}

ThresholdAnswer SparseVector::Conversation::ask_exactly(const Ratio& answer) {
  return said(reaches(noise_->lattice.nearest(answer), barrier_), answer);
}

bool SparseVector::Conversation::reaches(const Integer& answer, const Integer& barrier) {
  if (left_ == 0) {
    throw Error(ErrorCode::kBudgetExceeded,
                "positives: all answers above have been given; start another conversation");
  }
  return answer + internal::draw_exactly(noise_->query, bits_) >= barrier;
}

// The number gets noise of its own. The noise it was compared with has told on which side of the
// threshold it fell; to give that sum away would give the threshold's noise away too.
template <class Number>
ThresholdAnswer SparseVector::Conversation::said(bool above, const Number& answer) {
  if (!above) return {};
  --left_;
  if (!noise_->value) return {true};
  const internal::LatticeNoise& value = *noise_->value;
  return {true, value.lattice().value(value.add(answer, bits_))};
}

}  // namespace gauze
