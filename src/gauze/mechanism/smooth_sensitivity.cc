#include "gauze/mechanism/smooth_sensitivity.h"

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>

#include "gauze/base/error.h"
#include "gauze/mechanism/additive_internal.h"
#include "gauze/mechanism/discrete_accuracy.h"
#include "gauze/mechanism/smooth_sensitivity_internal.h"
#include "gauze/noise/student.h"
#include "gauze/numeric/interval.h"

namespace gauze {
namespace internal {
namespace {

// Steps of the lattice in the global sensitivity, and the smallest scale in steps: from there on
// the integers are as good as the reals, and no ladder of practical length ends above it.
constexpr int kLatticeBits = 40;
constexpr double kSmallestScale = 16;
// Relative share of beta that pays for what the ladder rounds and for the integers.
constexpr double kReserve = 0x1p-28;
constexpr double kSmallestBeta = 0x1p-14;
constexpr double kFinestRung = 1.0 / 32;

/// How fast the scale may change: half of epsilon pays for it.
double smoothness(const SmoothSensitivity::Options& options) {
  const Ratio half = options.epsilon.get() / 2;
  if (options.noise != SmoothNoise::kLaplace) {
    return round_down(Ratio(half / Ratio(degrees_of(options.noise))));
  }
  constexpr unsigned kBits = 128;
  // P(|X| > y) <= 1.04 e^(-y/scale) for scales from 16.
  const Interval tail = log(Interval(Ratio(Ratio(26, 25) / options.delta), kBits));
  return log1p(Interval(half, kBits) / tail).lower();
}

/// The scale per unit of sensitivity at which a shift by it costs the other half of epsilon.
double shift_scale(const SmoothSensitivity::Options& options) {
  constexpr unsigned kBits = 128;
  Interval slope(Integer(1), kBits);
  if (const unsigned degrees = degrees_of(options.noise); degrees > 0) {
    slope = Interval(Integer(degrees + 1), kBits) /
            (Interval(Integer(2), kBits) * sqrt(Interval(Integer(degrees), kBits)));
  }
  return (slope / Interval(Ratio(options.epsilon.get() / 2), kBits)).upper();
}

}  // namespace

unsigned degrees_of(SmoothNoise noise) {
  switch (noise) {
    case SmoothNoise::kCauchy:
      return 1;
    case SmoothNoise::kStudent:
      return 3;
    case SmoothNoise::kLaplace:
      return 0;
  }
  throw Error(ErrorCode::kInvalidOption, "noise must be cauchy, student or laplace");
}

ScaleLadder::ScaleLadder(const SmoothSensitivity::Options& options)
    : lattice_(Lattice::within(options.global_sensitivity.get() * power_of_two(-kLatticeBits))),
      largest_move_(round_up(options.global_sensitivity)),
      beta_(smoothness(options)),
      scale_per_step_(shift_scale(options)) {
  require(beta_ >= kSmallestBeta,
          "epsilon is too small for smooth sensitivity (with this delta); raise it, or use noise "
          "for the global sensitivity");
  rungs_ = static_cast<std::uint64_t>(std::ceil(beta_ / kFinestRung));
  const double ratio = std::exp(beta_ * (1 - kReserve) / static_cast<double>(rungs_));
  const double steps = round_up(Ratio(lattice_.l1_steps(options.global_sensitivity)));
  scales_.push_back(kSmallestScale);
  while (scales_.back() < times_up(steps, scale_per_step_)) {
    scales_.push_back(scales_.back() * ratio);
  }
  distances_ = (scales_.size() - 1 + rungs_ - 1) / rungs_;
}

std::uint64_t ScaleLadder::rung_of_move(double move) const {
  // NaN and what exceeds the global sensitivity cannot be; the largest scale is right for both.
  if (!(move >= 0 && move < largest_move_)) return scales_.size() - 1;
  // Exact, for steps are powers of two; rounding answers to the lattice adds nothing to it.
  const double steps =
      std::max(move > 0 ? 1.0 : 0.0, std::ceil(std::ldexp(move, -lattice_.exponent())));
  const double wanted = times_up(steps, scale_per_step_);
  return static_cast<std::uint64_t>(std::lower_bound(scales_.begin(), scales_.end(), wanted) -
                                    scales_.begin());
}

std::uint64_t ScaleLadder::rung(std::span<const double> moves) const {
  std::uint64_t highest = 0;
  for (std::uint64_t k = 0; k < distances_; ++k) {
    const std::uint64_t here = k < moves.size() ? rung_of_move(moves[k]) : scales_.size() - 1;
    highest = std::max(highest, here - std::min(here, k * rungs_));
    if (k >= moves.size()) break;  // farther away the same move counts less
  }
  return highest;
}

}  // namespace internal

SmoothSensitivity::SmoothSensitivity(Options options) : options_(std::move(options)) {
  require(options_.epsilon.get() > 0, "epsilon must be positive");
  require(options_.global_sensitivity.get() > 0, "global_sensitivity must be positive");
  if (options_.noise == SmoothNoise::kLaplace) {
    require(options_.delta > 0 && options_.delta <= Ratio(1, 3),
            "delta must be above 0 and at most 1/3 with laplace noise; cauchy and student noise "
            "need none");
  } else {
    require(options_.delta == 0, "delta must be 0 with cauchy and student noise; they need none");
  }
  ladder_ = std::make_shared<const internal::ScaleLadder>(options_);
}

Event SmoothSensitivity::event() const {
  if (options_.noise != SmoothNoise::kLaplace) {
    return {events::Pure{options_.epsilon}, options_.relation};
  }
  return {events::Approximate{options_.epsilon, options_.delta}, options_.relation};
}

double SmoothSensitivity::beta() const {
  return ladder_->beta();
}

std::uint64_t SmoothSensitivity::distances() const {
  return ladder_->distances();
}

Accuracy SmoothSensitivity::accuracy(double confidence) const {
  return accuracy_at(ladder_->scale(ladder_->highest()), confidence);
}

Accuracy SmoothSensitivity::accuracy_if(double smooth, double confidence) const {
  require(smooth >= 0, "smooth sensitivity must not be negative");
  // A move at distance k may be e^(beta k) times as large; rounding it up costs a rung, as does the
  // ladder's reserve over its whole length.
  std::vector<double> moves(distances(), 0);
  if (!moves.empty()) moves[0] = smooth;
  const std::uint64_t rung = std::min(ladder_->rung(moves) + 2, ladder_->highest());
  return accuracy_at(ladder_->scale(rung), confidence);
}

Accuracy SmoothSensitivity::accuracy_at(double scale, double confidence) const {
  const double beta = internal::failure_probability(confidence);
  double steps = 0;
  if (const unsigned degrees = internal::degrees_of(options_.noise); degrees > 0) {
    const boost::math::students_t law(degrees);
    steps = scale * boost::math::quantile(boost::math::complement(law, beta / 2)) * (1 + 1e-9) + 1;
  } else {
    steps = discrete_laplace_radius(ratio_of_bits(scale), beta);
  }
  return {internal::times_up(steps + 0.5, round_up(ladder_->lattice().step())), confidence,
          "each value"};
}

Release<double> SmoothSensitivity::run(const MovableAnswer& answer, Context& context) const {
  context.meter.charge(event());
  const Integer centre = ladder_->lattice().nearest(answer.value);
  const Ratio scale = ratio_of_bits(ladder_->scale(ladder_->rung(answer.moves)));
  const unsigned degrees = internal::degrees_of(options_.noise);
  const Integer noise =
      degrees > 0 ? StudentNoise(scale, degrees).draw(context.bits)
                  : internal::draw_exactly(AdditiveNoise::discrete_laplace(scale), context.bits);
  return {ladder_->lattice().value(Integer(centre + noise)), accuracy(), event()};
}

}  // namespace gauze
