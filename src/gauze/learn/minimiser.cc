#include "gauze/learn/minimiser.h"

#include <algorithm>
#include <cmath>

#include "gauze/base/error.h"
#include "gauze/learn/rows_internal.h"

namespace gauze {

namespace {

using Vector = std::vector<double>;

constexpr double kHalfUlp = 0x1p-53;
constexpr std::size_t kLeaf = 16;  // units whose gradients are added one after the other
constexpr int kMostSteps = 1'000'000;

double dot(const Vector& a, const Vector& b) {
  return internal::dot(a.data(), b.data(), a.size());
}

double norm(const Vector& a) {
  return std::sqrt(dot(a, a));
}

/// a + factor * b.
Vector moved(Vector a, double factor, const Vector& b) {
  for (std::size_t i = 0; i < a.size(); ++i) a[i] += factor * b[i];
  return a;
}

void check(const Objective& objective) {
  const Loss::Kind kind = objective.loss.kind();
  require(kind == Loss::Kind::kLogistic || kind == Loss::Kind::kHuber,
          "loss: the minimiser is for logistic and huber losses");
  require(objective.lambda > 0 && std::isfinite(objective.lambda),
          "lambda must be positive and finite");
  require(objective.records >= 1, "records must be at least 1");
}

/// How far a computed gradient may be off at a model of this norm.
double gradient_error(const Objective& objective, const Arithmetic& shape, double units,
                      double model_norm) {
  const LossBounds loss = objective.loss.bounds();
  const double dimension = shape.dimension;
  const double rows = static_cast<double>(shape.rows_per_unit);
  const double of_slope =
      loss.slope_error + loss.smoothness * (dimension + 4) * kHalfUlp * model_norm;
  const double of_sum = ((kLeaf + 1) * rows + 64) * kHalfUlp * loss.lipschitz;
  return 1.02 * (units / static_cast<double>(objective.records) * (of_slope + of_sum) +
                 4 * kHalfUlp * objective.lambda * model_norm);
}

/// The objective at one model after another.
template <class Rows>
class Slopes {
 public:
  Slopes(const Rows& rows, const Objective& objective)
      : rows_(rows),
        objective_(objective),
        scale_(1 / static_cast<double>(objective.records)),
        bends_(rows.examples.rows()) {}

  Vector gradient(const Vector& w) {
    const auto slope = [&](std::size_t row, double score) {
      const double label = rows_.examples.label(row);
      bends_[row] = objective_.loss.bend(score, label);
      return objective_.loss.slope(score, label);
    };
    return whole(w, slope);
  }

  /// The second derivative where `gradient` was asked last, times v.
  Vector curved(const Vector& v) const {
    return whole(v, [&](std::size_t row, double score) { return bends_[row] * score; });
  }

 private:
  template <class Slope>
  Vector whole(const Vector& w, const Slope& slope) const {
    Vector sum = added(0, rows_.examples.units(), w, slope);
    for (std::size_t i = 0; i < sum.size(); ++i) {
      sum[i] = scale_ * sum[i] + objective_.lambda * w[i];
    }
    return sum;
  }

  /// Adds units in pairs of pairs, so that rounding grows with the logarithm of their number.
  template <class Slope>
  Vector added(std::size_t first, std::size_t end, const Vector& w, const Slope& slope) const {
    if (end - first > kLeaf) {
      const std::size_t middle = first + (end - first) / 2;
      return moved(added(first, middle, w, slope), 1, added(middle, end, w, slope));
    }
    Vector sum(w.size(), 0);
    for (std::size_t unit = first; unit < end; ++unit) {
      internal::add_unit(rows_, unit, w, slope, sum);
    }
    return sum;
  }

  const Rows& rows_;
  const Objective& objective_;
  double scale_;
  Vector bends_;
};

/// Where conjugate gradients have come after some steps on (second derivative) p = -gradient.
template <class Rows>
Vector newton_direction(const Slopes<Rows>& slopes, const Vector& gradient, double accuracy) {
  Vector p(gradient.size(), 0);
  Vector residual = moved(p, -1, gradient);
  Vector direction = residual;
  double squares = dot(residual, residual);
  const double enough = accuracy * accuracy * squares;
  for (std::size_t i = 0; i < gradient.size() + 20 && squares > enough; ++i) {
    const Vector curved = slopes.curved(direction);
    const double length = squares / dot(direction, curved);
    p = moved(std::move(p), length, direction);
    residual = moved(std::move(residual), -length, curved);
    const double before = squares;
    squares = dot(residual, residual);
    direction = moved(residual, squares / before, direction);
  }
  return p;
}

template <class Rows>
Minimum descend(const Rows& rows, const Objective& objective, double distance,
                const std::function<void()>& at_step) {
  const Arithmetic shape{rows.examples.dimension(), rows.examples.rows_per_unit()};
  const auto units = static_cast<double>(rows.examples.units());
  const double steepest =
      objective.loss.bounds().smoothness * units / static_cast<double>(objective.records) +
      objective.lambda;
  Slopes<Rows> slopes(rows, objective);
  Vector w(shape.dimension, 0);
  Vector gradient = slopes.gradient(w);
  const double first = norm(gradient);
  for (int step = 0; step < kMostSteps; ++step) {
    if (at_step) at_step();
    const double length = norm(gradient);
    const double error = gradient_error(objective, shape, units, norm(w) * (1 + 1e-9));
    const double certified = (length * (1 + 1e-9) + error) / objective.lambda * (1 + 1e-9);
    if (certified <= distance) return {std::move(w), certified};
    // The direction is found while the second derivative is that of w.
    const Vector p = newton_direction(slopes, gradient, std::min(0.1, length / first));
    const Vector before = std::move(gradient);
    bool found = false;
    for (double share = 1; share >= 0x1p-6 && !found; share /= 2) {
      const Vector trial = moved(w, share, p);
      gradient = slopes.gradient(trial);
      found = norm(gradient) <= (1 - share / 8) * length;
      if (found) w = trial;
    }
    if (found) continue;
    w = moved(std::move(w), -1 / steepest, before);
    gradient = slopes.gradient(w);
  }
  throw Error(ErrorCode::kUnreachable,
              "the minimiser cannot be certified in double arithmetic: raise lambda");
}

}  // namespace

Minimum minimise(const Examples& examples, const Objective& objective, double distance,
                 const std::function<void()>& at_step) {
  check(objective);
  require(distance > 0, "distance must be positive");
  if (examples.is_sparse())
    return descend(internal::SparseRows{examples}, objective, distance, at_step);
  return descend(internal::DenseRows{examples}, objective, distance, at_step);
}

double certain_distance(const Objective& objective, const Arithmetic& shape, Relation relation) {
  check(objective);
  const LossBounds loss = objective.loss.bounds();
  const double ratio = relation == Relation::kReplace ? 1 : 2;
  const double lambda = objective.lambda;
  const double units = ratio * static_cast<double>(objective.records);
  const double steepest = loss.smoothness * ratio + lambda;
  const double condition = steepest / lambda;
  const double at_zero = std::max(objective.loss.value(0, 1), objective.loss.value(0, -1));
  const double largest = std::sqrt(2 * ratio * at_zero / lambda);
  const double error =
      gradient_error(objective, shape, units, largest) + 4 * steepest * kHalfUlp * largest;
  const double per_norm = gradient_error(objective, shape, units, 1) / lambda;
  require(per_norm * condition <= 1.0 / 16, "lambda is too small for double arithmetic");
  return 8 * condition * error / lambda;
}

}  // namespace gauze
