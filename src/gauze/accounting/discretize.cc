#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "gauze/accounting/pld.h"
#include "gauze/base/error.h"

// Connect-the-dots, written without cancellation. A loss L in the cell [low, low + step] is split
// between the two ends so that its probabilities under P and under Q = e^-L P are both kept:
// the upper end gets the share (1 - e^-(L - low)) / (1 - e^-step) of its P-probability.
namespace gauze {
namespace {

constexpr long long kMostCells = 1LL << 23;

class Grid {
 public:
  Grid(double step, double tilt, double log_scale, double low, double high)
      : step_(step), tilt_(tilt), log_scale_(log_scale), whole_(-std::expm1(-step)) {
    const double first = std::floor(low / step) - 1;
    const double last = std::ceil(high / step) + 1;
    if (!(last - first < static_cast<double>(kMostCells))) {
      throw Error(ErrorCode::kInternal, "privacy loss grid too fine for the range of losses");
    }
    result_.first = static_cast<long long>(first);
    result_.weights.assign(static_cast<std::size_t>(last - first) + 1, 0.0);
    climb_ = std::exp(tilt * step);
  }

  double step() const { return step_; }
  long long cell(double loss) const { return static_cast<long long>(std::floor(loss / step_)); }

  /// P-probability e^log_density * weight at `loss`, which lies in `cell` up to rounding.
  void add(double loss, double log_density, double weight, long long cell) {
    const double low = static_cast<double>(cell) * step_;
    // Rounding of `loss` and `low` moves the share by at most this; it goes to the upper end.
    const double slack = 1e-15 * (std::abs(static_cast<double>(cell)) + 16);
    const double share = std::clamp(rise(loss - low) / whole_ + slack, 0.0, 1.0);
    const double mass = weight * std::exp(log_density + tilt_ * low - log_scale_);
    const auto at = static_cast<std::size_t>(cell - result_.first);
    result_.weights[at] += mass * (1 - share);
    result_.weights[at + 1] += mass * share * climb_;
  }
  void add(double loss, double mass) {
    if (mass > 0) add(loss, std::log(mass), 1, cell(loss));
  }

  GridLoss take(double infinite) {
    result_.log_scale = log_scale_;
    result_.infinite = infinite;
    return std::move(result_);
  }

 private:
  /// 1 - e^-x.
  static double rise(double x) {
    if (std::abs(x) > 1e-4) return -std::expm1(-x);
    return x * (1 - x / 2 * (1 - x / 3 * (1 - x / 4)));
  }

  double step_;
  double tilt_;
  double log_scale_;
  double whole_;
  double climb_;
  GridLoss result_;
};

/// Gauss-Legendre rules on [0, 1]: two points for short cells, five for long ones.
struct Point {
  double at;
  double weight;
};
constexpr std::array<Point, 2> kTwo = {{{0.2113248654051871, 0.5}, {0.7886751345948129, 0.5}}};
constexpr std::array<Point, 5> kFive = {{{0.0469100770306680, 0.1184634425280945},
                                         {0.2307653449471585, 0.2393143352496832},
                                         {0.5, 0.2844444444444444},
                                         {0.7692346550528415, 0.2393143352496832},
                                         {0.9530899229693320, 0.1184634425280945}}};

template <std::size_t N>
void integrate(const DominatingPair& pair, const std::array<Point, N>& rule, double from, double to,
               long long cell, Grid& grid) {
  const double width = to - from;
  for (const Point& point : rule) {
    const double l = from + width * point.at;
    grid.add(pair.loss(l), pair.log_p(l), width * point.weight, cell);
  }
}

/// Integrates the curve over base losses [from, to], which all lie in one cell.
void add_stretch(const DominatingPair& pair, double from, double to, long long cell, Grid& grid) {
  if (!(to > from)) return;
  // Length relative to the scale on which the density changes.
  const double c = pair.curve->curvature;
  const double change = std::sqrt(c) + c * std::max(std::abs(from), std::abs(to)) + 1;
  const double length = (to - from) * change;
  if (length < 3e-3) {
    integrate(pair, kTwo, from, to, cell, grid);
    return;
  }
  const double pieces = std::ceil(length / 0.25);
  for (double i = 0; i < pieces; ++i) {
    integrate(pair, kFive, from + (to - from) * (i / pieces),
              from + (to - from) * ((i + 1) / pieces), cell, grid);
  }
}

/// The part of the curve that is kept, and atoms that stand for the rest.
struct Kept {
  double low;
  double high;
  double infinite = 0;
  std::vector<LossAtom> tails;
};

Kept keep(const DominatingPair& pair, double tail) {
  using View = DominatingPair::View;
  const LossCurve& curve = *pair.curve;
  if (curve.curvature == 0) return {curve.low, curve.high, 0, {}};
  const double mu = 1 / std::sqrt(curve.curvature);
  const double z = std::sqrt(-2 * std::log(std::max(tail, 1e-306))) + 0.1;
  const double end = mu * mu / 2 + mu * z;
  // Probability of a base loss beyond `end` under P (near) and under Q (far), and mirrored.
  const double near = std::erfc(z / std::sqrt(2.0)) / 2 * (1 + 1e-10);
  const double far = std::erfc((z + mu) / std::sqrt(2.0)) / 2 * (1 + 1e-10);
  Kept kept{-end, end, 0, {}};
  switch (pair.view) {
    case View::kPlain:
      kept.infinite = near;
      kept.tails = {{-end, far, near}};
      break;
    case View::kPoissonRemove:
      kept.infinite = pair.rate * near + (1 - pair.rate) * far;
      kept.tails = {{pair.loss(-end), near, near}};
      break;
    case View::kPoissonAdd:
      kept.infinite = near;
      kept.tails = {{pair.loss(end), far, near}};
      break;
    case View::kWithoutReplacement:
      kept.infinite = pair.rate * near + (1 - pair.rate) * far;
      kept.tails = {{pair.loss(-end), far, near}};
      break;
  }
  return kept;
}

void add_curve(const DominatingPair& pair, const Kept& kept, Grid& grid) {
  const double a = pair.loss(kept.low);
  const double b = pair.loss(kept.high);
  const long long last = grid.cell(std::max(a, b));
  long long cell = grid.cell(std::min(a, b));
  const bool rising = a <= b;
  const auto clipped = [&](double l) { return std::clamp(l, kept.low, kept.high); };
  double edge = rising ? kept.low : kept.high;
  for (; cell <= last; ++cell) {
    double next = cell == last ? (rising ? kept.high : kept.low)
                               : clipped(pair.base(static_cast<double>(cell + 1) * grid.step()));
    if (rising) {
      // The view without replacement has a kink at zero.
      if (edge < 0 && next > 0) {
        add_stretch(pair, edge, 0, cell, grid);
        edge = 0;
      }
      add_stretch(pair, edge, next, cell, grid);
    } else {
      add_stretch(pair, next, edge, cell, grid);
    }
    edge = next;
  }
}

}  // namespace

GridLoss discretize(const DominatingPair& pair, double step, double tilt, double log_scale,
                    double tail) {
  Kept kept{0, 0, 0, {}};
  double low = std::numeric_limits<double>::infinity();
  double high = -low;
  const auto include = [&](double loss) {
    low = std::min(low, loss);
    high = std::max(high, loss);
  };
  for (const LossAtom& atom : pair.atoms) {
    if (atom.p > 0) include(atom.loss);
  }
  if (pair.curve) {
    kept = keep(pair, tail);
    include(pair.loss(kept.low));
    include(pair.loss(kept.high));
    for (const LossAtom& atom : kept.tails) include(atom.loss);
  }
  if (low > high) include(0);
  Grid grid(step, tilt, log_scale, low, high);
  for (const LossAtom& atom : pair.atoms) grid.add(atom.loss, atom.p);
  for (const LossAtom& atom : kept.tails) grid.add(atom.loss, atom.p);
  if (pair.curve) add_curve(pair, kept, grid);
  return grid.take(kept.infinite + pair.p_only);
}

}  // namespace gauze
