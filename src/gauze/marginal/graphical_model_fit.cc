#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "gauze/base/error.h"
#include "gauze/marginal/graphical_model.h"

// Entropic mirror descent (Beck and Teboulle 2003) on the marginals of a graphical model (McKenna, Sheldon
// and Miklau 2019), with steps as long as the loss is known to be smooth: graphical_model.md.
namespace gauze {
namespace {

using Potentials = GraphicalModel::Potentials;

/// How many steps there are between two looks at how far the smallest loss can be.
constexpr std::size_t kStepsBetweenLooks = 10;

/// Loss and gradient at a model, for a table of each measured clique.
struct Slope {
  double loss = 0;
  Potentials marginals;
  Potentials gradient;
};

Slope slope_at(const GraphicalModel& model, std::span<const NoisyTable> measurements) {
  Slope slope;
  for (const auto& [clique, factor] : model.potentials()) {
    slope.marginals.emplace(clique, model.marginal(clique));
    slope.gradient.emplace(clique, Factor(model.domain(), clique));
  }
  for (const NoisyTable& each : measurements) {
    const std::span<const double> values = slope.marginals.at(each.clique).values();
    const std::span<double> gradient = slope.gradient.at(each.clique).values();
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double off = values[i] - each.values[i];
      slope.loss += each.weights[i] * off * off / 2;
      gradient[i] += each.weights[i] * off;
    }
  }
  return slope;
}

/// Half of the weighted squared way from one model's tables to another's.
double squared_way(const Slope& from, const Slope& to, std::span<const NoisyTable> measurements) {
  double sum = 0;
  for (const NoisyTable& each : measurements) {
    const Factor& a = from.marginals.at(each.clique);
    const Factor& b = to.marginals.at(each.clique);
    for (std::size_t i = 0; i < a.cells(); ++i)
      sum += each.weights[i] * (a[i] - b[i]) * (a[i] - b[i]) / 2;
  }
  return sum;
}

double product(const Potentials& a, const Potentials& b) {
  double sum = 0;
  for (const auto& [clique, factor] : a) sum += factor.dot(b.at(clique));
  return sum;
}

Potentials scaled(Potentials potentials, double factor) {
  for (auto& [clique, each] : potentials) each *= factor;
  return potentials;
}

/// How much smaller the loss of any distribution can be: by convexity no more than the slope towards the
/// best row for it (Jaggi 2013).
double gap_at(const GraphicalModel& model, const Slope& slope) {
  const double least = -model.largest(scaled(slope.gradient, -1));
  return std::max(0.0, product(slope.gradient, slope.marginals) - model.total() * least);
}

/// What the potentials of the start become over the cliques that are measured.
Potentials started(const Shape& domain, std::span<const NoisyTable> measurements,
                   const GraphicalModel* start) {
  Potentials potentials;
  if (start != nullptr) potentials = start->potentials();
  for (const NoisyTable& each : measurements)
    potentials.try_emplace(each.clique, Factor(domain, each.clique));
  return potentials;
}

void check(const Shape& domain, std::span<const NoisyTable> measurements) {
  const auto refuse = [](const char* why) { throw Error(ErrorCode::kInvalidInput, why); };
  for (const NoisyTable& each : measurements) {
    if (!each.clique.empty() && each.clique.back() >= domain.axes())
      refuse("measurements: a column is not in the domain");
    if (each.values.size() != cells_of(domain, each.clique) ||
        each.weights.size() != each.values.size())
      refuse("measurements: need one value and one weight for each cell");
    for (std::size_t i = 0; i < each.values.size(); ++i)
      if (!std::isfinite(each.values[i]) || !(each.weights[i] >= 0) ||
          !std::isfinite(each.weights[i]))
        refuse("measurements: values must be finite, weights finite and 0 or more");
  }
}

/// A first length: no cell's loss curves more than this along the way of the entropy.
double first_length(std::span<const NoisyTable> measurements, double total) {
  double curve = 0;
  for (const NoisyTable& each : measurements)
    curve += each.weights.empty() ? 0 : *std::max_element(each.weights.begin(), each.weights.end());
  return curve > 0 && total > 0 ? 1 / (curve * total) : 0;
}

/// How large the loss is when the distribution is the true one, about.
double loss_of_noise(std::span<const NoisyTable> measurements) {
  double cells = 0;
  for (const NoisyTable& each : measurements) cells += static_cast<double>(each.values.size());
  return std::max(cells, 1.0) / 2;
}

}  // namespace

NoisyTable noisy_table(Clique clique, std::vector<double> values, double sigma) {
  const std::size_t cells = values.size();
  return {std::move(clique), std::move(values), std::vector<double>(cells, 1 / (sigma * sigma))};
}

TotalEstimate estimated_total(std::span<const NoisyTable> measurements) {
  double sum = 0, weights = 0;
  for (const NoisyTable& each : measurements) {
    double variance = 0;
    for (const double weight : each.weights) variance += 1 / weight;
    if (!std::isfinite(variance) || variance <= 0) continue;
    sum += std::accumulate(each.values.begin(), each.values.end(), 0.0) / variance;
    weights += 1 / variance;
  }
  if (weights == 0) return {};
  return {std::max(0.0, sum / weights), 1 / weights};
}

Fit fit(const Shape& domain, std::span<const NoisyTable> measurements, const FitOptions& options,
        const GraphicalModel* start) {
  return fit_to_total(domain, measurements, estimated_total(measurements).total, options, start);
}

Fit fit_to_total(const Shape& domain, std::span<const NoisyTable> measurements, double total,
                 const FitOptions& options, const GraphicalModel* start) {
  check(domain, measurements);
  if (!(total >= 0) || !std::isfinite(total))
    throw Error(ErrorCode::kInvalidInput, "the total of a model must be 0 or more");
  Fit found{GraphicalModel(domain, started(domain, measurements, start), total)};
  GraphicalModel& model = found.model;
  Slope slope = slope_at(model, measurements);
  double length = first_length(measurements, total);
  found.gap = gap_at(model, slope);
  const double enough = options.tolerance * loss_of_noise(measurements);
  GraphicalModel next = model;
  while (found.gap > enough && found.steps < options.most_steps && length > 0) {
    Potentials potentials = model.potentials();
    for (auto& [clique, factor] : potentials) {
      Factor step = slope.gradient.at(clique);
      step *= -length;
      factor += step;
    }
    next.update(std::move(potentials));
    Slope there = slope_at(next, measurements);
    // The relative entropy of the next model, from the potentials that differ.
    const double entropy = -length * product(slope.gradient, there.marginals) -
                           total * (next.log_partition() - model.log_partition());
    ++found.steps;
    const double slack = 1e-12 * (1 + slope.loss);
    if (length * squared_way(slope, there, measurements) > entropy + length * slack) {
      length /= 2;
      continue;
    }
    std::swap(model, next);
    slope = std::move(there);
    length *= 1.5;
    if (found.steps % kStepsBetweenLooks == 0) found.gap = gap_at(model, slope);
  }
  found.loss = slope.loss;
  found.gap = gap_at(model, slope);
  return found;
}

}  // namespace gauze
