#include "gauze/audit/divergence.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "gauze/numeric/infinity.h"

namespace gauze::audit {
namespace {

double one_way_hockey_stick(std::span<const double> p, std::span<const double> q, double epsilon) {
  double delta = 0;
  for (std::size_t i = 0; i < p.size(); ++i) {
    delta += std::max(0.0, p[i] - std::exp(epsilon) * q[i]);
  }
  return delta;
}

}  // namespace

double max_log_ratio(std::span<const double> p, std::span<const double> q) {
  double largest = 0;
  for (std::size_t i = 0; i < p.size(); ++i) {
    if (p[i] == 0 && q[i] == 0) continue;
    largest = std::max(largest, std::abs(std::log(p[i] / q[i])));
  }
  return largest;
}

double hockey_stick(std::span<const double> p, std::span<const double> q, double epsilon) {
  return std::max(one_way_hockey_stick(p, q, epsilon), one_way_hockey_stick(q, p, epsilon));
}

// delta(epsilon) = sum of (p - e^epsilon q) over the outputs of ratio above e^epsilon: with outputs
// sorted by ratio it is P - e^epsilon Q of a prefix, so the root lies where prefix and epsilon agree.
double epsilon_one_way(std::span<const double> p, std::span<const double> q, double delta) {
  std::vector<std::size_t> order(p.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return p[a] * q[b] > p[b] * q[a]; });
  double likely = -delta;
  double unlikely = 0;
  double epsilon = 0;
  for (const std::size_t i : order) {
    likely += p[i];
    unlikely += q[i];
    if (likely > 0)
      epsilon = std::max(epsilon, unlikely > 0 ? std::log(likely / unlikely) : kInfinity);
  }
  return epsilon;
}

double renyi_divergence(std::span<const double> p, std::span<const double> q, double alpha) {
  double moment = 0;
  for (std::size_t i = 0; i < p.size(); ++i) {
    if (p[i] > 0) moment += q[i] * std::pow(p[i] / q[i], alpha);
  }
  return std::log(moment) / (alpha - 1);
}

}  // namespace gauze::audit
