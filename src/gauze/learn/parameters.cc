#include "gauze/learn/parameters.h"

#include <cmath>

#include "gauze/accounting/calibrate.h"
#include "gauze/base/error.h"

namespace gauze {

namespace {

void check(const PublicNumbers& numbers) {
  require(numbers.dimension >= 1, "dimension must be at least 1");
  require(numbers.records >= 1, "records must be at least 1");
  require(numbers.epsilon.get() > 0, "epsilon must be positive");
  require(numbers.delta >= 0 && numbers.delta < 1, "delta must lie in [0, 1)");
}

/// Of one coordinate of noise for a sensitivity of 1.
double variance(const PublicNumbers& numbers) {
  const double epsilon = round_down(numbers.epsilon);
  if (numbers.delta == 0) return (numbers.dimension + 1.0) / (epsilon * epsilon);
  const double sigma = calibrate(
      [](const Ratio& size) {
        return std::vector<Event>{{events::Gaussian{size, 1}, Relation::kReplace}};
      },
      {.epsilon = epsilon, .delta = round_down(numbers.delta)});
  return sigma * sigma;
}

}  // namespace

double simple_lambda(const PublicNumbers& numbers) {
  check(numbers);
  return std::sqrt(numbers.dimension /
                   (static_cast<double>(numbers.records) * round_down(numbers.epsilon)));
}

double balanced_lambda(const PublicNumbers& numbers, const LossBounds& loss, double change,
                       double norm) {
  check(numbers);
  require(norm > 0 && std::isfinite(norm), "norm must be positive and finite");
  require(change > 0 && std::isfinite(change), "change must be positive and finite");
  require(std::isfinite(loss.smoothness), "loss: needs smoothness; take huber");
  const double per_lambda = change / static_cast<double>(numbers.records);
  return std::cbrt(2 * loss.smoothness * variance(numbers) * per_lambda * per_lambda /
                   (norm * norm));
}

}  // namespace gauze
