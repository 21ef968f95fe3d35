#include "gauze/marginal/table_measurer.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numbers>

#include "gauze/marginal/zcdp_budget.h"
#include "gauze/mechanism/discrete_gaussian.h"
#include "gauze/mechanism/exponential.h"

namespace gauze {

NoisyTable noisy_table(const MeasuredTable& table) {
  return noisy_table(table.clique, {table.values.begin(), table.values.end()},
                     round_up(table.sigma));
}

MeasuredTable TableMeasurer::measure(const CodedRows& rows, const Clique& clique, const Ratio& rho,
                                     std::uint32_t round) {
  const Ratio sensitivity = Integer(rows_per_unit_);
  const Ratio sigma = sigma_for(rho, rows_per_unit_);
  const DiscreteGaussian noise({.l2_sensitivity = sensitivity, .sigma = sigma});
  auto values = noise.run(std::span<const std::int64_t>(rows.counts(clique)), context_).value;
  const Ratio price = sensitivity * sensitivity / (2 * sigma * sigma);
  measured_ += price;
  log_.push_back({clique, round, std::move(values), sigma, price});
  return log_.back();
}

std::size_t TableMeasurer::choose(std::span<const double> scores, const Ratio& step,
                                  const Ratio& rho) {
  const Ratio epsilon = choice_epsilon_for(rho);
  const ExponentialMechanism choice(
      {.epsilon = epsilon, .sensitivity = Ratio(step * Integer(rows_per_unit_))});
  const std::size_t chosen = choice.run(scores, context_).value;
  chosen_ += epsilon * epsilon / 8;
  return chosen;
}

std::uint64_t most_rows(std::size_t columns) {
  return (std::uint64_t{1} << 26) / std::max<std::size_t>(columns, 1);
}

std::uint64_t rows_to_make(std::uint64_t asked, const TotalEstimate& total, std::size_t columns) {
  const auto most = static_cast<double>(most_rows(columns));
  return asked != 0 ? asked : static_cast<std::uint64_t>(std::llround(std::min(total.total, most)));
}

std::int64_t misfit(std::span<const std::int64_t> counts, const Factor& expected) {
  constexpr std::int64_t kMost = std::int64_t{1} << 52;
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const double wanted = std::isnan(expected[i]) ? 0 : expected[i];
    const double steps = std::clamp(wanted * kMisfitSteps, -0x1p52, 0x1p52);
    const std::int64_t count = std::clamp(counts[i], -(kMost >> 10), kMost >> 10);
    // Below 2^54 before, and at most 2^52 after: no sum overflows, and no bound moves further than a row does.
    const std::int64_t away = count * kMisfitSteps - std::llround(steps);
    sum = std::min(kMost, sum + std::abs(away));
  }
  return sum;
}

std::int64_t dependence(std::span<const std::int64_t> counts, std::size_t cells) {
  __extension__ using Wide = __int128;
  std::vector<std::int64_t> of_one(cells, 0), of_other(counts.size() / cells, 0);
  std::int64_t rows = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    of_one[i % cells] += counts[i];
    of_other[i / cells] += counts[i];
    rows += counts[i];
  }
  if (rows == 0) return 0;
  Wide sum = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const Wide away = Wide{rows} * counts[i] - Wide{of_one[i % cells]} * of_other[i / cells];
    sum += away < 0 ? -away : away;
  }
  return static_cast<std::int64_t>(sum * (kDependenceSteps / 4) / rows);
}

std::vector<TableFit> fits_of(const GraphicalModel& model, std::span<const MeasuredTable> tables) {
  std::vector<TableFit> fits;
  for (const MeasuredTable& table : tables) {
    const Factor counts = model.marginal(table.clique);
    TableFit fit{table.clique};
    for (std::size_t i = 0; i < counts.cells(); ++i)
      fit.distance += std::fabs(counts[i] - static_cast<double>(table.values[i]));
    fit.expected = static_cast<double>(counts.cells()) * round_up(table.sigma) *
                   std::sqrt(2 / std::numbers::pi);
    fits.push_back(std::move(fit));
  }
  return fits;
}

}  // namespace gauze
