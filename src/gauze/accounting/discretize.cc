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
// Weights below this are computed afresh before they are raised by the tilt.
constexpr double kTiny = 1e-280;
// Stretches with less than e^this of tilted probability are not integrated.
constexpr double kNoTrace = -690;

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
  double at(long long cell) const { return static_cast<double>(cell) * step_; }

  /// The stretch from grid point `first` to `first + width`, between whose ends losses are split.
  struct Cell {
    long long first;
    long long width;
    double low;
    double whole;
    double slack;
    double scale;
    double lift;
    double climb;
  };
  Cell open(long long first, long long width) const {
    const double length = static_cast<double>(width) * step_;
    const double low = at(first);
    // Rounding of a loss and of `low` moves its share by at most the slack; that goes upward.
    return {first,
            width,
            low,
            width == 1 ? whole_ : -std::expm1(-length),
            1e-15 * (std::abs(static_cast<double>(first)) + 16),
            tilt_ * low - log_scale_,
            tilt_ * length,
            width == 1 ? climb_ : std::exp(tilt_ * length)};
  }

  /// P-probability e^log_density * weight at `loss`, which lies in `cell` up to rounding.
  void add(double loss, double log_density, double weight, const Cell& cell) {
    const double share = std::clamp(rise(loss - cell.low) / cell.whole + cell.slack, 0.0, 1.0);
    const double mass = weight * std::exp(log_density + cell.scale);
    const auto place = static_cast<std::size_t>(cell.first - result_.first);
    result_.weights[place] += mass * (1 - share);
    const double climbed = mass > kTiny && cell.climb < 1 / kTiny
                               ? mass * cell.climb
                               : weight * std::exp(log_density + cell.scale + cell.lift);
    result_.weights[place + static_cast<std::size_t>(cell.width)] += climbed * share;
  }
  void add(double loss, double mass) {
    if (mass > 0) add(loss, std::log(mass), 1, open(cell(loss), 1));
  }

  /// Less than e^kNoTrace of tilted probability somewhere in `cell`.
  void add_trace(const Cell& cell) {
    const auto upper = cell.first - result_.first + cell.width;
    result_.weights[static_cast<std::size_t>(upper)] += 1e-299;
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
               const Grid::Cell& cell, Grid& grid) {
  const double width = to - from;
  for (const Point& point : rule) {
    const double l = from + width * point.at;
    const auto [loss, log_p] = pair.loss_and_log_p(l);
    grid.add(loss, log_p, width * point.weight, cell);
  }
}

/// Integrates the curve over base losses [from, to], which all lie in one cell.
void add_stretch(const DominatingPair& pair, double from, double to, const Grid::Cell& cell,
                 Grid& grid) {
  if (!(to > from)) return;
  // Length relative to the scale on which the density changes.
  const double c = pair.curve->curvature;
  const double change = std::sqrt(c) + c * std::max(std::abs(from), std::abs(to)) + 1;
  const double length = (to - from) * change;
  if (length < 3e-3) {
    integrate(pair, kTwo, from, to, cell, grid);
    return;
  }
  if (length <= 0.25) {
    integrate(pair, kFive, from, to, cell, grid);
    return;
  }
  // No logarithm of a density is steeper than `change` + 1.
  const double middle = from + (to - from) / 2;
  const double top = pair.log_p(middle) + (change + 1) * (to - from) / 2 + std::log(to - from);
  if (top + cell.scale + std::max(0.0, cell.lift) < kNoTrace) {
    grid.add_trace(cell);
    return;
  }
  add_stretch(pair, from, middle, cell, grid);
  add_stretch(pair, middle, to, cell, grid);
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

/// How many grid steps a cell may span without adding noticeable variance: the less tilted
/// probability lies beyond, the more.
class Coarseness {
 public:
  /// One step everywhere.
  Coarseness() {
    below_.fill(-std::numeric_limits<double>::infinity());
    above_.fill(std::numeric_limits<double>::infinity());
  }

  Coarseness(const DominatingPair& pair, double tilt, double log_scale) : Coarseness() {
    tilt_ = tilt;
    DominatingPair curve = pair;
    curve.atoms.clear();
    std::vector<LossNode> nodes = loss_nodes(curve, 1);
    std::sort(nodes.begin(), nodes.end(),
              [](const LossNode& a, const LossNode& b) { return a.loss < b.loss; });
    const auto scan = [&](auto from, auto to, std::array<double, kLevels>& bounds) {
      double beyond = 0;
      for (auto node = from; node != to; ++node) {
        beyond += std::exp(node->log_weight + tilt * node->loss - log_scale);
        for (std::size_t level = 0; level < kLevels; ++level) {
          const double width = std::exp2(static_cast<double>(level + 1));
          if (beyond < 1e-3 / (width * width * width)) bounds[level] = node->loss;
        }
      }
    };
    scan(nodes.begin(), nodes.end(), below_);
    scan(nodes.rbegin(), nodes.rend(), above_);
  }

  long long width(double loss, double step) const {
    for (std::size_t level = kLevels; level > 0; --level) {
      const double reach = std::exp2(static_cast<double>(level));
      if (tilt_ * reach * step > kMostLift) continue;
      if (loss > above_[level - 1] || loss + reach * step < below_[level - 1]) {
        return 1LL << level;
      }
    }
    return 1;
  }

 private:
  static constexpr std::size_t kLevels = 12;
  // The upper end of a cell has at most e^this times the tilted probability that was split.
  static constexpr double kMostLift = 30;
  double tilt_ = 0;
  std::array<double, kLevels> below_;
  std::array<double, kLevels> above_;
};

void add_curve(const DominatingPair& pair, const Kept& kept, const Coarseness& coarseness,
               Grid& grid) {
  const double a = pair.loss(kept.low);
  const double b = pair.loss(kept.high);
  const long long last = grid.cell(std::max(a, b));
  const bool rising = a <= b;
  const auto clipped = [&](double l) { return std::clamp(l, kept.low, kept.high); };
  double edge = rising ? kept.low : kept.high;
  for (long long first = grid.cell(std::min(a, b)); first <= last;) {
    const long long width =
        std::min(coarseness.width(grid.at(first), grid.step()), last + 1 - first);
    const Grid::Cell cell = grid.open(first, width);
    first += width;
    const double next =
        first > last ? (rising ? kept.high : kept.low) : clipped(pair.base(grid.at(first)));
    if (!rising) {
      add_stretch(pair, next, edge, cell, grid);
    } else if (edge < 0 && next > 0) {
      // The view without replacement has a kink at zero.
      add_stretch(pair, edge, 0, cell, grid);
      add_stretch(pair, 0, next, cell, grid);
    } else {
      add_stretch(pair, edge, next, cell, grid);
    }
    edge = next;
  }
}

}  // namespace

GridLoss discretize(const DominatingPair& pair, double step, double tilt, double log_scale,
                    double tail, Cells cells) {
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
  if (pair.curve) {
    const Coarseness coarseness =
        cells == Cells::kEqual ? Coarseness() : Coarseness(pair, tilt, log_scale);
    add_curve(pair, kept, coarseness, grid);
  }
  // Unlisted atoms have together less than this.
  const double unlisted = pair.lattice_mu > 0 ? std::numeric_limits<double>::min() : 0;
  return grid.take(kept.infinite + pair.p_only + unlisted);
}

}  // namespace gauze
