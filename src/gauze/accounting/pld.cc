#include "gauze/accounting/pld.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <functional>
#include <optional>

#include "gauze/numeric/fft.h"
#include "gauze/numeric/infinity.h"

namespace gauze {
namespace {

using View = DominatingPair::View;

// A tilt a little below the saddle point: there the law may be spread over two far modes.
constexpr double kEase = 0.8;
constexpr double kLeastLogDelta = -690;
constexpr std::size_t kFewestPoints = 1u << 16;
constexpr std::size_t kMostPoints = 1u << 20;

/// Cumulants of the composed loss under the law tilted by e^(t loss).
struct Cumulants {
  double log_mass = 0;
  double mean = 0;
  double variance = 0;

  /// The epsilon whose delta this tilt bounds best: (1 - e^-y)+ <= e^(ty) t^t / (1+t)^(1+t) gives
  /// ln delta(epsilon) <= log_mass - t epsilon + t ln t - (1+t) ln(1+t), least where
  /// epsilon = mean - ln(1 + 1/t), and there equal to `log_delta`.
  double epsilon(double t) const { return mean - std::log1p(1 / t); }
  double log_delta(double t) const { return log_mass - t * mean - std::log1p(t); }
};

/// How far the law of one part may be tilted: as far as the quadrature reaches. Sixty standard
/// deviations for Gaussian noise; a sampled loss grows only `rate` times as fast near zero, so noise
/// that stays there, mu small, bears more.
double largest_tilt(const DominatingPair& pair) {
  const double per_mu = std::sqrt(pair.curve->curvature);
  const double near_zero = std::min(60.0, 0.3 * per_mu) / pair.rate;
  return std::max(60.0, near_zero) * per_mu;
}

class Law {
 public:
  explicit Law(const std::vector<PairCount>& parts) {
    for (const PairCount& part : parts) {
      double reach = 1;
      if (part.pair.curve && part.pair.curve->curvature > 0) {
        max_tilt_ = std::min(max_tilt_, largest_tilt(part.pair));
        // Near zero a tilt t moves the base loss as rate * t does, at most a little more than 60/mu.
        reach = 200 * std::sqrt(part.pair.curve->curvature);
      }
      nodes_.push_back(loss_nodes(part.pair, reach, 4096));
      counts_.push_back(part.count);
      lowest_ += part.count * part.pair.smallest();
      highest_ += part.count * part.pair.largest();
    }
    const double spread = std::sqrt(at(0).variance);
    max_tilt_ = std::min(max_tilt_, 60 / std::max(spread, 1e-300));
  }

  double log_mass(std::size_t part, double t) const { return part_at(part, t).log_mass; }
  double max_tilt() const { return max_tilt_; }
  double lowest() const { return lowest_; }
  double highest() const { return highest_; }

  Cumulants at(double t) const {
    Cumulants total;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      const Cumulants one = part_at(i, t);
      total.log_mass += counts_[i] * one.log_mass;
      total.mean += counts_[i] * one.mean;
      total.variance += counts_[i] * one.variance;
    }
    return total;
  }

 private:
  Cumulants part_at(std::size_t part, double t) const {
    double top = -kInfinity;
    for (const LossNode& node : nodes_[part]) {
      top = std::max(top, node.log_weight + t * node.loss);
    }
    double mass = 0;
    double first = 0;
    double second = 0;
    for (const LossNode& node : nodes_[part]) {
      const double exponent = node.log_weight + t * node.loss - top;
      if (exponent < -45) continue;
      const double weight = std::exp(exponent);
      mass += weight;
      first += weight * node.loss;
      second += weight * node.loss * node.loss;
    }
    const double mean = first / mass;
    return {top + std::log(mass), mean, std::max(0.0, second / mass - mean * mean)};
  }

  std::vector<std::vector<LossNode>> nodes_;
  std::vector<double> counts_;
  double max_tilt_ = 1e300;
  double lowest_ = 0;
  double highest_ = 0;
};

/// The largest t in [0, most] at which `holds` (true first, then false).
double last_true(double most, const std::function<bool(double)>& holds) {
  if (holds(most)) return most;
  double low = 0;
  double high = most;
  for (int i = 0; i < 32; ++i) {
    const double middle = low == 0 && high > 1e-9 * most ? high / 16 : (low + high) / 2;
    (holds(middle) ? low : high) = middle;
  }
  return low;
}

/// Where to look, how finely, and under which tilt.
struct Plan {
  double tilt = 0;
  double top_tilt = 0;  ///< for the Chernoff bound on what lies above the window
  double step = 0;
  double first = 0;  ///< lowest multiple of `step` in the window
  std::size_t size = 0;
  double tail = 0;
  Cells cells = Cells::kGraded;
};

/// Where the tilted loss is, but for a probability below e^-28 at either end.
struct Window {
  double low;
  double high;
  double top_tilt;
};

/// `log_delta` is about the logarithm of the delta that will be read; what lies above the window must
/// not show in it.
Window window(const Law& law, double tilt, double log_delta) {
  const Cumulants there = law.at(tilt);
  // Chernoff bound on the tilted probability beyond the mean under a tilt that differs by `change`.
  const auto matters = [&](double change) {
    const Cumulants c = law.at(tilt + change);
    return c.log_mass - there.log_mass - change * c.mean > -28;
  };
  const double most_fall = 80 / std::max(std::sqrt(there.variance), 1e-300);
  const double rise = last_true(law.max_tilt(), matters);
  const double fall = last_true(most_fall, [&](double change) { return matters(-change); });
  const bool bounded = rise == law.max_tilt() && std::isfinite(law.highest());
  const Cumulants top = law.at(tilt + rise);
  const double unseen = (top.log_mass - log_delta + 28) / (tilt + rise);
  const double high = bounded ? law.highest() : std::max(top.mean, unseen);
  const bool floored = fall == most_fall && std::isfinite(law.lowest());
  const double low = floored ? law.lowest() : law.at(tilt - fall).mean;
  return {std::max(low, law.lowest()), std::min(high, law.highest()), tilt + rise};
}

/// How far one step's kept losses reach from end to end, about.
double reach(const DominatingPair& pair, double tail) {
  if (!pair.curve || pair.curve->curvature == 0) return pair.largest() - pair.smallest();
  const double mu = 1 / std::sqrt(pair.curve->curvature);
  const double end = mu * mu / 2 + mu * (std::sqrt(-2 * std::log(tail)) + 0.2);
  return std::abs(pair.loss(end) - pair.loss(-end));
}

/// `log_delta` is about the logarithm of the delta that will be read.
Plan make_plan(const std::vector<PairCount>& parts, const Law& law, double tilt, Window range,
               double log_delta, std::size_t most_points) {
  Plan plan;
  plan.tilt = tilt;
  plan.top_tilt = range.top_tilt;
  double count = 0;
  for (const PairCount& part : parts) count += part.count;
  plan.tail = std::clamp(std::exp(log_delta - 28) / count, 1e-305, 1e-6);
  const double width = std::max(range.high - range.low, 1e-12 * std::abs(range.high) + 1e-290);
  // Splitting losses between grid points adds about step^2/6 to the variance of every part; at
  // this step that is 4e-6 of the whole, about 1e-6 in epsilon.
  const double variance = std::min(law.at(tilt).variance, law.at(0).variance);
  const double wanted = width / (std::sqrt(variance * 2.4e-5 / count) + 1e-300);
  const auto fewest = static_cast<double>(std::min(kFewestPoints, most_points));
  const double points = std::clamp(wanted, fewest, static_cast<double>(most_points));
  plan.step = width / points;
  for (const PairCount& part : parts) {
    plan.step = std::max(plan.step, reach(part.pair, plan.tail) / (1 << 22));
  }
  // One kind of loss on a lattice: losses that lie on grid points are not rounded at all.
  if (const double spacing = parts[0].pair.spacing; parts.size() == 1 && spacing > 0) {
    const bool fits = width / spacing < static_cast<double>(most_points);
    if (parts[0].pair.curve ? spacing > plan.step : !fits && spacing > plan.step) {
      plan.step = spacing / std::ceil(spacing / plan.step);
    } else if (fits) {
      plan.step = spacing;
    }
  }
  plan.first = std::floor(range.low / plan.step) - 2;
  plan.size = fft_size(static_cast<std::size_t>(width / plan.step) + 8);
  return plan;
}

/// Probabilities of first * step, (first + 1) * step, ... under the tilted law, none too small.
struct Composed {
  Plan plan;
  double log_scale = 0;  ///< P-probability at x is weight * e^(log_scale - tilt x)
  std::vector<double> weights;
  double infinite = 0;  ///< probability of infinite loss
  double above = 0;     ///< bound on the probability of finite losses above the window
  double loss_slack = 0;
};

std::size_t wrapped(double index, std::size_t size) {
  const auto n = static_cast<double>(size);
  return static_cast<std::size_t>(index - std::floor(index / n) * n) % size;
}

/// One part on the grid, normalised, folded to the window's length, transformed.
struct Spectrum {
  std::vector<std::complex<double>> values;
  double count;
};

/// Multiplies the powers of the spectra; returns per-entry error of the inverse transform too.
double multiply(const std::vector<Spectrum>& spectra, const RealFft& fft,
                std::vector<std::complex<double>>& product) {
  const std::size_t size = fft.size();
  // The inverse goes through sums of real and imaginary parts, at most sqrt(2) larger.
  const double rounding = 1.5 * fft.rounding() + 0x1p-50;
  double count = 0;
  for (const Spectrum& s : spectra) count += s.count;
  // A factor below this makes the product smaller than e^-80, and no factor exceeds 1.
  std::vector<double> negligible;
  for (const Spectrum& s : spectra) {
    const double magnitude = std::max(0.0, std::exp(-80 / s.count) - rounding);
    negligible.push_back(magnitude * magnitude);
  }
  double error = 0;
  for (std::size_t k = 0; k < product.size(); ++k) {
    const double multiplicity = k == 0 || 2 * k == size ? 1 : 2;
    bool skip = false;
    for (std::size_t i = 0; i < spectra.size(); ++i) {
      skip = skip || std::norm(spectra[i].values[k]) < negligible[i];
    }
    if (skip) {
      error += multiplicity * 2e-35;
      continue;
    }
    double log_size = 0;
    double smallest = 1;
    for (const Spectrum& s : spectra) {
      const double magnitude = std::abs(s.values[k]) + rounding;
      smallest = std::min(smallest, magnitude);
      log_size += s.count * std::log(magnitude);
    }
    std::complex<double> value = 1;
    for (const Spectrum& s : spectra) {
      const double log_power = s.count * std::log(std::abs(s.values[k]));
      value *= std::polar(std::exp(log_power), s.count * std::arg(s.values[k]));
    }
    product[k] = value;
    error += multiplicity * std::exp(log_size) * (count * rounding / smallest + rounding);
  }
  return error / static_cast<double>(size);
}

double sum_of(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum;
}

/// ln sum of weights e^(more * loss) over the grid.
double log_moment(const GridLoss& grid, double step, double more) {
  const double last = static_cast<double>(grid.first) + static_cast<double>(grid.weights.size());
  double sum = 0;
  // Horner from the top: every factor is at most 1.
  const double ratio = std::exp(-more * step);
  double scaled = 0;
  for (std::size_t i = 0; i < grid.weights.size(); ++i) {
    scaled = scaled * ratio + grid.weights[i];
  }
  sum = scaled;
  return std::log(sum) + more * (last - 1) * step;
}

Composed compose(const std::vector<PairCount>& parts, const Law& law, const Plan& plan) {
  Composed result;
  result.plan = plan;
  RealFft fft(plan.size);
  std::vector<Spectrum> spectra;
  double log_finite = 0;
  double log_above = 0;
  double support_top = 0;
  double log_factor = 1e-12 + 4e-16 * static_cast<double>(plan.size);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto& [pair, count] = parts[i];
    GridLoss grid =
        discretize(pair, plan.step, plan.tilt, law.log_mass(i, plan.tilt), plan.tail, plan.cells);
    const double mass = sum_of(grid.weights);
    if (!(mass > 0)) {
      result.infinite = 1;
      return result;
    }
    log_finite += count * std::log1p(-std::min(1.0, grid.infinite));
    result.log_scale += count * (grid.log_scale + std::log(mass));
    log_above += count * (grid.log_scale + log_moment(grid, plan.step, plan.top_tilt - plan.tilt));
    support_top +=
        count * (static_cast<double>(grid.first) + static_cast<double>(grid.weights.size()) - 1);
    log_factor += count * (pair.relative_error() + pair.mass_slack);
    result.loss_slack += count * pair.loss_slack;
    std::vector<double> folded(plan.size, 0.0);
    std::size_t at = wrapped(static_cast<double>(grid.first), plan.size);
    for (const double weight : grid.weights) {
      folded[at] += weight / mass;
      if (++at == plan.size) at = 0;
    }
    spectra.push_back({fft.forward(folded), count});
  }
  std::vector<std::complex<double>> product(plan.size / 2 + 1);
  const double error = multiply(spectra, fft, product);
  const std::vector<double> cyclic = fft.inverse(product);
  result.weights.resize(plan.size);
  std::size_t at = wrapped(plan.first, plan.size);
  for (double& weight : result.weights) {
    weight = std::max(0.0, cyclic[at]) + error;
    if (++at == plan.size) at = 0;
  }
  result.log_scale += log_factor;
  result.infinite = -std::expm1(log_finite) * (1 + 1e-12);
  const double top = plan.first + static_cast<double>(plan.size);
  if (support_top >= top) {
    result.above = std::exp(log_above + log_factor - plan.top_tilt * top * plan.step);
  }
  return result;
}

/// Walks down the grid with A = P(loss >= x) and D = delta(x), both times e^(tilt x - log_scale).
class Descent {
 public:
  explicit Descent(const Composed& composed)
      : composed_(&composed),
        at_(composed.weights.size() - 1),
        mass_(composed.weights.back()),
        fall_(std::exp(-composed.plan.tilt * composed.plan.step)),
        keep_(std::exp(-composed.plan.step)),
        gain_(-std::expm1(-composed.plan.step)) {}

  bool down() {
    if (at_ == 0) return false;
    --at_;
    delta_ = fall_ * (keep_ * delta_ + gain_ * mass_);
    mass_ = mass_ * fall_ + composed_->weights[at_];
    return true;
  }

  double x() const {
    return (composed_->plan.first + static_cast<double>(at_)) * composed_->plan.step;
  }
  double unscale() const { return std::exp(composed_->log_scale - composed_->plan.tilt * x()); }
  double mass() const { return mass_; }
  double delta() const { return delta_; }
  double fall() const { return fall_; }

 private:
  const Composed* composed_;
  std::size_t at_;
  double mass_;
  double delta_ = 0;
  double fall_;
  double keep_;
  double gain_;
};

double read_delta(const Composed& composed, double epsilon) {
  if (composed.weights.empty()) return 1;
  const double at = epsilon - composed.loss_slack;
  double finite = 0;
  Descent descent(composed);
  if (descent.x() > at) {
    Descent above = descent;
    while (descent.down() && descent.x() > at) above = descent;
    // x <= epsilon below, `above` is the first grid point over it.
    const double gap = above.x() - at;
    finite = above.unscale() * (std::exp(-gap) * above.delta() - std::expm1(-gap) * above.mass());
  }
  return std::min(1.0, (composed.infinite + composed.above + finite) * (1 + 1e-14));
}

double read_epsilon(const Composed& composed, double delta) {
  const double target = delta * (1 - 1e-14) - composed.infinite - composed.above;
  if (!(target > 0)) return kInfinity;
  Descent descent(composed);
  Descent above = descent;
  const auto threshold_here = [&] {
    return std::exp(std::log(target) - composed.log_scale + composed.plan.tilt * descent.x());
  };
  double threshold = threshold_here();
  bool crossed = false;
  while (!crossed && descent.down()) {
    // Far above all losses it may be infinite, and would stay so.
    threshold = std::isinf(threshold) ? threshold_here() : threshold * descent.fall();
    crossed = descent.delta() > threshold;
    if (!crossed) above = descent;
  }
  if (!crossed) return std::max(0.0, above.x() + composed.loss_slack);
  const double goal = target / above.unscale();
  const double gap = -std::log1p(-(goal - above.delta()) / (above.mass() - above.delta()));
  const double epsilon = above.x() - std::clamp(gap, 0.0, composed.plan.step);
  return std::max(0.0, epsilon + composed.loss_slack + 4e-16 * std::abs(epsilon));
}

/// Sum of the largest losses, which is pure DP; infinite when something has infinite loss.
double pure_bound(const std::vector<PairCount>& parts) {
  double total = 0;
  for (const PairCount& part : parts) {
    const double largest = part.pair.largest();
    total += part.count * (largest + part.pair.loss_slack) * (1 + 1e-15);
    const bool endless = part.pair.lattice_mu > 0 && part.pair.view != View::kPoissonAdd;
    if (part.pair.p_only > 0 || endless) return kInfinity;
  }
  return std::max(0.0, total);
}

std::size_t most_points(const std::vector<PairCount>& parts) {
  return std::max<std::size_t>(1u << 14, std::min(kMostPoints, (kMostPoints << 2) / parts.size()));
}

/// Probability that some part has infinite loss, rounded up.
double leaked(const std::vector<PairCount>& parts) {
  double log_kept = 0;
  for (const PairCount& part : parts) log_kept += part.count * std::log1p(-part.pair.p_only);
  return -std::expm1(log_kept) * (1 + 1e-14);
}

/// False when there is nothing to convolve, or only numbers no double arithmetic can handle.
bool usable(const Law& law) {
  const Cumulants c = law.at(0);
  return c.variance > 1e-280 && c.variance < 1e280 && std::isfinite(c.mean);
}

/// The parts, but those sampled so rarely that all of them together are seen with probability at most
/// `most` as if they told everything then. Mixtures (1 - q) Q + q P lie within q of Q, whatever P
/// is, so this dominates. Nothing when there are no such parts.
std::optional<std::vector<PairCount>> with_leaks(std::vector<PairCount> parts, double most) {
  bool any = false;
  for (auto& [pair, count] : parts) {
    if (pair.view == View::kPlain || !(count * pair.rate <= most)) continue;
    most -= count * pair.rate;
    const double rate = pair.rate;
    pair = DominatingPair{};
    pair.atoms = {{0, 1 - rate, 1 - rate}};
    pair.p_only = pair.q_only = rate * (1 + 1e-15);
    any = true;
  }
  if (!any) return std::nullopt;
  return parts;
}

double grid_epsilon(const std::vector<PairCount>& parts, double delta) {
  const double pure = pure_bound(parts);
  if (parts.empty() || pure == 0 || delta == 0) return pure;
  const Law law(parts);
  if (!usable(law)) {
    const bool silent = std::all_of(parts.begin(), parts.end(), [](const PairCount& part) {
      return !part.pair.curve && part.pair.largest() == 0;
    });
    return silent && leaked(parts) <= delta ? 0 : pure;
  }
  const double target = std::log(delta);
  const double saddle =
      last_true(law.max_tilt(), [&](double t) { return law.at(t).log_delta(t) > target; });
  const double tilt = kEase * saddle;
  const Plan plan =
      make_plan(parts, law, tilt, window(law, tilt, target), target, most_points(parts));
  return std::min(pure, read_epsilon(compose(parts, law, plan), delta));
}

double grid_delta(const std::vector<PairCount>& parts, double epsilon) {
  const double pure = pure_bound(parts);
  if (parts.empty() || pure <= epsilon) return 0;
  const Law law(parts);
  if (!usable(law)) return 1;
  // Beyond the least double a tilt would leave nothing of what is kept.
  const double saddle = last_true(law.max_tilt(), [&](double t) {
    const Cumulants c = law.at(t);
    return c.epsilon(t) < epsilon && c.log_delta(t) > kLeastLogDelta;
  });
  const double tilt = kEase * saddle;
  const double log_delta = law.at(saddle).log_delta(saddle);
  Window range = window(law, tilt, log_delta);
  range.low = std::min(range.low, epsilon);
  // Delta falls with epsilon: above the window it is at most what it is at the top.
  const Plan plan = make_plan(parts, law, tilt, range, log_delta, most_points(parts));
  return read_delta(compose(parts, law, plan), std::min(epsilon, range.high));
}

}  // namespace

// A rare huge loss stretches the grid until small ones are read coarsely; as a leak it does not.
double pld_epsilon(const std::vector<PairCount>& parts, double delta) {
  const double whole = grid_epsilon(parts, delta);
  const auto leaky = delta > 0 ? with_leaks(parts, delta / 4) : std::nullopt;
  return leaky ? std::min(whole, grid_epsilon(*leaky, delta)) : whole;
}

double pld_delta(const std::vector<PairCount>& parts, double epsilon) {
  const double whole = grid_delta(parts, epsilon);
  const auto leaky = with_leaks(parts, whole / 4);
  return leaky ? std::min(whole, grid_delta(*leaky, epsilon)) : whole;
}

DominatingPair composed_pair(const std::vector<PairCount>& parts) {
  constexpr std::size_t kPoints = 1u << 17;
  DominatingPair result;
  const Law law(parts);
  if (!usable(law)) {
    const double pure = pure_bound(parts);
    if (std::isinf(pure)) {
      result.p_only = result.q_only = 1;
    } else {
      const double likely = 1 / (1 + std::exp(-pure));
      result.atoms = {{pure, likely, 1 - likely}, {-pure, 1 - likely, likely}};
    }
    return result;
  }
  // The law as it is serves low losses, a tilted one high losses: each is an upper bound at every
  // point of the same grid law (so its cells must not depend on the tilt), and so is the smaller.
  const double tilt =
      last_true(law.max_tilt(), [&](double t) { return law.at(t).log_delta(t) > -35; });
  const Window here = window(law, 0, -40);
  const Window there = window(law, tilt, -40);
  Plan plan = make_plan(parts, law, tilt,
                        {here.low, std::max(here.high, there.high), there.top_tilt}, -40, kPoints);
  plan.cells = Cells::kEqual;
  const Composed high = compose(parts, law, plan);
  plan.tilt = 0;
  const Composed low = compose(parts, law, plan);
  double p_sum = 0;
  double q_sum = 0;
  for (std::size_t i = 0; i < plan.size; ++i) {
    const double x = (plan.first + static_cast<double>(i)) * plan.step;
    const double p = std::min(low.weights[i] * std::exp(low.log_scale),
                              high.weights[i] * std::exp(high.log_scale - tilt * x));
    if (!(p > 0)) continue;
    result.atoms.push_back({x, p, p * std::exp(-x)});
    p_sum += p;
    q_sum += result.atoms.back().q;
  }
  result.p_only = std::min(1.0, high.infinite + std::min(high.above, low.above));
  result.q_only = std::max(0.0, 1 - q_sum);
  if (!result.atoms.empty()) {
    // What is missing lay below the window.
    result.atoms.front().p += std::max(0.0, 1 - p_sum - result.p_only);
  }
  result.spacing = plan.step;
  result.loss_slack = high.loss_slack;
  return result;
}

}  // namespace gauze
