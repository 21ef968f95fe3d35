#include "gauze/histogram/lbfgs_internal.h"

#include <cmath>
#include <deque>

namespace gauze::internal {
namespace {

constexpr std::size_t kMemory = 12;
constexpr int kWindow = 5;

/// Steps and how the gradient changed over them.
struct Memory {
  struct Pair {
    Eigen::VectorXd step, change;
    double scale;  // 1 / (step . change)
  };
  std::deque<Pair> pairs;

  void add(Eigen::VectorXd step, Eigen::VectorXd change) {
    const double product = step.dot(change);
    if (!(product > 1e-12 * step.norm() * change.norm())) return;  // not convex along it
    pairs.push_back({std::move(step), std::move(change), 1 / product});
    if (pairs.size() > kMemory) pairs.pop_front();
  }

  /// The inverse Hessian as far as it is known, times the gradient.
  Eigen::VectorXd newton(Eigen::VectorXd gradient) const {
    std::vector<double> projections(pairs.size());
    for (std::size_t i = pairs.size(); i-- > 0;) {
      projections[i] = pairs[i].scale * pairs[i].step.dot(gradient);
      gradient -= projections[i] * pairs[i].change;
    }
    if (!pairs.empty()) {
      const Pair& last = pairs.back();
      gradient *= 1 / (last.scale * last.change.squaredNorm());
    }
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      const double back = pairs[i].scale * pairs[i].change.dot(gradient);
      gradient += (projections[i] - back) * pairs[i].step;
    }
    return gradient;
  }
};

}  // namespace

Minimum minimise(const Objective& objective, Eigen::VectorXd start, int iterations,
                 double tolerance) {
  Eigen::VectorXd x = std::move(start);
  Eigen::VectorXd gradient(x.size());
  double value = objective(x, gradient);
  Memory memory;
  double before = value;
  Eigen::VectorXd next_gradient(x.size());
  for (int i = 1; i <= iterations; ++i) {
    Eigen::VectorXd direction = -memory.newton(gradient);
    double slope = direction.dot(gradient);
    if (!(slope < 0)) {
      memory.pairs.clear();
      direction = -gradient;
      slope = -gradient.squaredNorm();
    }
    if (!(slope < 0)) break;
    // The first step is about as long as x; later ones know their length.
    double length = memory.pairs.empty() ? 0.1 * (x.norm() + 1e-3) / direction.norm() : 1;
    Eigen::VectorXd next;
    double next_value = 0;
    bool descends = false;
    for (int halving = 0; halving < 30 && !descends; ++halving, length /= 2) {
      next = x + length * direction;
      next_value = objective(next, next_gradient);
      descends = next_value <= value + 1e-4 * length * slope;
    }
    if (!descends) break;
    memory.add(next - x, next_gradient - gradient);
    x = std::move(next);
    std::swap(gradient, next_gradient);
    value = next_value;
    if (i % kWindow != 0) continue;
    if (before - value < tolerance * std::abs(before)) break;
    before = value;
  }
  return {std::move(x), value};
}

}  // namespace gauze::internal
