// Rejection from a mixture of discrete Gaussians (radial.md). The law e^(-|x|/scale) is a mixture
// of normal laws whose variance is gamma distributed; a grid of variances follows it closely in any
// dimension, and what the grid misses is corrected by an exact acceptance test on |z|^2.
#include "gauze/noise/radial.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <span>

#include "gauze/base/error.h"
#include "gauze/noise/additive.h"
#include "gauze/noise/proposal_internal.h"
#include "gauze/random/uniform.h"

namespace gauze {
namespace {

constexpr std::uint32_t kMaxDimension = 1u << 16;
constexpr int kMaxLogScale = 40;

/// Sum over the integers of e^(-k^2 / (2 variance)), enclosed: the normaliser of a discrete
/// Gaussian. From variance 1 on by Poisson summation, sqrt(2 pi v) (1 + 2 sum_j e^(-2 pi^2 v j^2)).
Interval theta(const Ratio& variance, unsigned bits) {
  const Interval v(variance, bits);
  const Interval two(2.0, bits);
  const Interval pi = Interval::pi(bits);
  const bool wide = variance >= 1;
  const Interval step = wide ? two * pi * pi * v : Interval(0.5, bits) / v;
  const auto term = [&](double j) { return two * exp(-(step * Interval(j * j, bits))); };
  Interval sum(1.0, bits);
  double j = 1;
  for (; j * j * step.lower() < static_cast<double>(bits); ++j) sum = sum + term(j);
  // What is left out lies between nothing and twice its first term: terms fall by more than half.
  sum = sum + two * term(j) * Interval::zero_to_one(bits);
  return wide ? sum * sqrt(two * pi * v) : sum;
}

/// One Gaussian of the mixture, with its logarithms in extended precision.
struct Component {
  Ratio variance;
  long double per_square;     // 1 / (2 variance)
  long double log_amplitude;  // ln(share of the proposal / theta^dimension)
};

}  // namespace

struct RadialNoise::Impl {
  Impl(std::uint32_t d, const Ratio& s);

  std::vector<std::int64_t> draw(BitSource& bits) const;

 private:
  void choose_variances();
  Ratio tail_variance(std::size_t k) const;
  Ratio share(
      std::size_t component) const;  ///< of the proposal, exactly; the tail's parts included
  void certify();
  long double tail_bound(long double radius) const;
  long double log_density(long double square) const;
  Interval density(const Integer& square, unsigned bits) const;

  std::uint32_t dimension;
  Ratio scale;
  long double radius_scale;             // the same
  std::vector<Ratio> variances;         // of the table
  std::vector<std::uint64_t> weights;   // table, then the tail as a whole; they sum to 2^64
  std::vector<AdditiveNoise> samplers;  // of the table
  std::vector<Component> components;    // table, then the first parts of the tail
  double log_kappa = 0;                 // acceptance is e^(log_kappa - |z|/scale) / density(|z|^2)
};

namespace {

// The tail is an endless list of Gaussians, variance 4 times the last, share 1/2, 1/4, ... of the
// tail's weight. So many of them leave out less than 2^-60 of any sum in extended precision.
constexpr std::size_t kTailTerms = 96;

Component component(const Ratio& variance, const Ratio& share, std::uint32_t dimension) {
  const Interval log_theta = log(theta(variance, 128));
  return {variance, 0.5L / variance.convert_to<long double>(),
          std::log(share.convert_to<long double>()) - dimension * log_theta.middle()};
}

Integer squared_norm(std::span<const std::int64_t> z) {
  __extension__ using Wide = unsigned __int128;
  Wide sum = 0;  // 2^16 squares below 2^110 fit
  for (const std::int64_t x : z) {
    const auto magnitude = static_cast<Wide>(x < 0 ? -static_cast<Wide>(x) : static_cast<Wide>(x));
    if (magnitude >> 55 != 0) {
      Integer exact = 0;
      for (const std::int64_t y : z) exact += Integer(y) * y;
      return exact;
    }
    sum += magnitude * magnitude;
  }
  return (Integer(static_cast<std::uint64_t>(sum >> 64)) << 64) + static_cast<std::uint64_t>(sum);
}

long double extended(const Integer& value) {
  if (value >> 128 != 0) return value.convert_to<double>();
  const Integer low_mask = (Integer(1) << 64) - 1;
  return std::ldexp(static_cast<long double>(Integer(value >> 64).convert_to<std::uint64_t>()),
                    64) +
         static_cast<long double>(Integer(value & low_mask).convert_to<std::uint64_t>());
}

}  // namespace

RadialNoise::Impl::Impl(std::uint32_t d, const Ratio& s)
    : dimension(d), scale(s), radius_scale(s.convert_to<long double>()) {
  choose_variances();
  for (const Ratio& v : variances) samplers.push_back(AdditiveNoise::discrete_gaussian(v));
  for (std::size_t i = 0; i < variances.size() + kTailTerms; ++i) {
    const Ratio v = i < variances.size() ? variances[i] : tail_variance(i - variances.size());
    components.push_back(component(v, share(i), dimension));
  }
  certify();
}

/// Variances 2 scale^2 e^l on a grid of l, weighted as the gamma law of shape (d+1)/2 says. Any
/// grid and weights are right; these accept most proposals. Far from the peak a weight cannot fall
/// below one unit, which is more than the law asks for, so there the grid may be coarse; it goes
/// down to the small variances that alone reach the peak at the origin.
void RadialNoise::Impl::choose_variances() {
  constexpr double kUnit = -44;  // ln 2^-64, about
  const double d = dimension;
  const double shape = (d + 1) / 2;
  const double unit = 2 * scale.convert_to<double>() * scale.convert_to<double>();
  const auto log_weight = [&](double l) {
    return shape * (l - std::log(shape)) - std::exp(l) + shape;
  };
  const auto step = [&](double l) {
    const double spare = std::max(0.0, kUnit - log_weight(l));
    return std::clamp(std::sqrt(4 * spare / d), 0.8 / std::sqrt(d), 1.0);
  };
  const double peak = std::log(shape);
  std::vector<double> grid;
  for (double l = peak; std::exp(l) > 0.05 && unit * std::exp(l) > 0.05; l -= step(l))
    grid.push_back(l);
  for (double l = peak + step(peak); log_weight(l) > 2 * kUnit - d; l += step(l)) grid.push_back(l);
  std::sort(grid.begin(), grid.end());
  std::vector<double> approximate;
  for (const double l : grid) {
    variances.push_back(ratio_of_bits(static_cast<float>(unit * std::exp(l))));
    approximate.push_back(std::exp(std::max(log_weight(l), kUnit)));
  }
  approximate.push_back(std::exp(kUnit));
  weights.resize(approximate.size());
  noise_internal::quantise(approximate, weights);
}

Ratio RadialNoise::Impl::tail_variance(std::size_t k) const {
  return variances.back() * power_of_two(2 * static_cast<int>(k + 1));
}

Ratio RadialNoise::Impl::share(std::size_t index) const {
  const std::size_t table = variances.size();
  const Ratio weight = Ratio(Integer(weights[std::min(index, table)])) / power_of_two(64);
  return index < table ? weight : Ratio(weight / power_of_two(static_cast<int>(index - table + 1)));
}

/// ln of the proposal's probability of one z with |z|^2 = square. Components e^-50 below the
/// largest contribute less than extended precision resolves.
long double RadialNoise::Impl::log_density(long double square) const {
  long double largest = -HUGE_VALL;
  for (const Component& c : components) {
    largest = std::max(largest, c.log_amplitude - square * c.per_square);
  }
  long double sum = 0;
  for (const Component& c : components) {
    const long double exponent = c.log_amplitude - square * c.per_square - largest;
    if (exponent > -50) sum += std::exp(exponent);
  }
  return largest + std::log(sum);
}

Interval RadialNoise::Impl::density(const Integer& square, unsigned bits) const {
  const Interval n(square, bits);
  const Interval d(static_cast<double>(dimension), bits);
  Interval sum(0.0, bits);
  const auto normaliser = [&](const Ratio& v) { return exp(-(d * log(theta(v, bits)))); };
  const std::size_t terms = variances.size() + bits;
  for (std::size_t i = 0; i < terms; ++i) {
    const Ratio v = i < variances.size() ? variances[i] : tail_variance(i - variances.size());
    sum = sum + Interval(share(i), bits) * normaliser(v) * exp(-(n / Interval(Ratio(2 * v), bits)));
  }
  // The parts of the tail left out have, together, the last one's share, and each is below its
  // peak.
  return sum + Interval(share(terms - 1), bits) * normaliser(tail_variance(bits)) *
                   Interval::zero_to_one(bits);
}

/// Below this at `radius` and, from (d+1) scale on, at every larger one: ln density + radius /
/// scale. The tail has a part with variance between r^2/d and 4 r^2/d (radial.md).
long double RadialNoise::Impl::tail_bound(long double radius) const {
  const long double d = dimension;
  const long double parts =
      std::log(radius * radius / (d * variances.back().convert_to<long double>())) /
      std::numbers::ln2_v<long double> / 2;
  const long double log_share = std::log(share(variances.size()).convert_to<long double>());
  return log_share - std::numbers::ln2_v<long double> * (parts + 1) -
         d / 2 * std::log(8 * std::numbers::pi_v<long double> * radius * radius / d) -
         d * (0.5L + 1e-7L) + radius / radius_scale;
}

/// The largest kappa that keeps acceptance a probability: kappa e^(-r/scale) <= density(r^2) for
/// every r. The density falls with r, so between two radii of a grid it is at least its value at
/// the farther one.
void RadialNoise::Impl::certify() {
  const long double step = radius_scale / 16;
  const auto gap = [&](long double r) { return log_density(r * r) + r / radius_scale; };
  const long double typical = gap(radius_scale * dimension);
  long double end = std::max((dimension + 1.0L) * radius_scale,
                             std::sqrt(dimension * variances.back().convert_to<long double>()));
  while (tail_bound(end) < typical) end *= 1.2L;
  long double least = tail_bound(end);
  for (long double r = step; r < end + step; r += step) least = std::min(least, gap(r) - 1.0L / 16);
  log_kappa = static_cast<double>(least - 1e-4L);  // the last term covers all rounding above
}

std::vector<std::int64_t> RadialNoise::Impl::draw(BitSource& bits) const {
  std::vector<std::int64_t> z(dimension);
  while (true) {
    std::uint64_t left = bits.next();
    std::size_t i = 0;
    while (left >= weights[i]) left -= weights[i++];
    if (i < variances.size()) {
      samplers[i].fill(z, bits);
    } else {
      std::size_t k = 0;
      while (bernoulli(bits, Ratio(1, 2))) ++k;
      AdditiveNoise::discrete_gaussian(tail_variance(k)).fill(z, bits);
    }
    const Integer square = squared_norm(z);
    const long double n = extended(square);
    const auto estimate =
        static_cast<double>(std::exp(log_kappa - std::sqrt(n) / radius_scale - log_density(n)));
    const bool accepted = LazyUniform(bits).below(estimate, [&](unsigned precision) {
      const unsigned more = precision + 64;  // exponents reach the thousands
      return exp(Interval(log_kappa, more) - sqrt(Interval(square, more)) / Interval(scale, more)) /
             density(square, more);
    });
    if (accepted) return z;
  }
}

RadialNoise::RadialNoise(std::uint32_t dimension, const Ratio& scale) {
  require(dimension >= 1 && dimension <= kMaxDimension, "radial: dimension must lie in [1, 65536]");
  require(scale >= 1 && scale <= power_of_two(kMaxLogScale),
          "radial: scale must lie in [1, 2^40] lattice steps; choose another lattice");
  impl_ = std::make_unique<const Impl>(dimension, scale);
}

RadialNoise::RadialNoise(RadialNoise&&) noexcept = default;
RadialNoise& RadialNoise::operator=(RadialNoise&&) noexcept = default;
RadialNoise::~RadialNoise() = default;

std::vector<std::int64_t> RadialNoise::draw(BitSource& bits) const {
  return impl_->draw(bits);
}

}  // namespace gauze
