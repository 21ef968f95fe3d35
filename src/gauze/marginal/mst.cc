#include "gauze/marginal/mst.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "gauze/base/error.h"
#include "gauze/histogram/count_noise.h"
#include "gauze/marginal/graphical_model.h"
#include "gauze/marginal/rare_values.h"
#include "gauze/marginal/row_sampler.h"
#include "gauze/marginal/zcdp_budget.h"
#include "gauze/random/uniform.h"

// MST after McKenna, Miklau and Sheldon, Winning the NIST contest (2021), Algorithm 1, with sensitivities for
// several rows of a unit and with the number of rows released rather than read.
namespace gauze {
namespace {

/// How a budget is shared.
struct Shares {
  Ratio single;  // each column
  Ratio choice;  // each choice of a pair
  Ratio pair;    // each pair
};

Shares shares_of(const Ratio& rho, std::size_t columns) {
  const Integer singles = columns;
  if (columns == 1) return {rho, 0, 0};
  const Integer pairs = columns - 1;
  const Ratio third = rho / 3;
  // Of two columns there is one pair, and nothing to choose.
  if (columns == 2) return {Ratio(third / singles), 0, Ratio(2 * third)};
  return {Ratio(third / singles), Ratio(third / pairs), Ratio(third / pairs)};
}

std::vector<Clique> pairs_of(std::size_t columns) {
  std::vector<Clique> pairs;
  for (std::uint32_t a = 0; a < columns; ++a)
    for (std::uint32_t b = a + 1; b < columns; ++b) pairs.push_back({a, b});
  return pairs;
}

/// How far the columns of a pair are from independent, in steps.
double dependence(const CodedRows& rows, const Clique& pair, const GraphicalModel& independent) {
  return static_cast<double>(misfit(rows.counts(pair), independent.marginal(pair)));
}

/// Kruskal's tree of the pairs that depend most, each chosen by the exponential mechanism.
std::vector<Clique> chosen_tree(const CodedRows& rows, const GraphicalModel& independent,
                                const Ratio& rho, TableMeasurer& measurer) {
  std::vector<Clique> open = pairs_of(rows.domain.axes());
  if (open.size() <= 1) return open;
  std::vector<double> scores;
  for (const Clique& pair : open) scores.push_back(dependence(rows, pair, independent));
  std::vector<std::size_t> part(rows.domain.axes());
  std::iota(part.begin(), part.end(), std::size_t{0});
  std::vector<Clique> tree;
  while (!open.empty()) {
    const std::size_t next = measurer.choose(scores, kMisfitSteps, rho);
    tree.push_back(open[next]);
    const std::size_t from = part[open[next][0]], to = part[open[next][1]];
    std::replace(part.begin(), part.end(), from, to);
    std::size_t kept = 0;
    for (std::size_t i = 0; i < open.size(); ++i) {
      if (part[open[i][0]] == part[open[i][1]]) continue;
      scores[kept] = scores[i];
      open[kept++] = open[i];
    }
    scores.resize(kept);
    open.resize(kept);
  }
  return tree;
}

/// Of the total by the tables of single columns: each adds up to it with the variance of its cells.
double total_variance(const Shape& domain, const Ratio& sigma) {
  double weights = 0;
  for (const std::uint32_t extent : domain.extents) weights += 1.0 / extent;
  return round_up(Ratio(sigma * sigma)) / weights;
}

}  // namespace

Mst::Mst(Options options)
    : options_(std::move(options)), rho_(rho_for(options_.epsilon, options_.delta)) {
  const Shape& domain = options_.domain;
  require(domain.axes() >= 1 && domain.axes() <= 1000, "columns: must be from 1 to 1000");
  require(options_.rows_per_unit >= 1 && options_.rows_per_unit <= 1u << 30,
          "rows_per_unit: must be from 1 to 2^30");
  require(options_.rows <= most_rows(domain.axes()),
          "rows: times columns must be at most 2^26; give fewer rows");
  std::vector<std::uint32_t> extents = domain.extents;
  std::sort(extents.rbegin(), extents.rend());
  require(extents.back() >= 1, "cells: each column must have at least one value");
  extents.resize(std::min<std::size_t>(extents.size(), 2));
  require(Shape{extents}.cells() <= 1u << 24,
          "columns: two of them have together more than 2^24 cells; give them fewer bins, or leave "
          "the larger one out");
  require(
      Shape{extents}.cells() * domain.axes() <= 1u << 26,
      "columns: a tree of their largest tables has more than 2^26 cells; give columns fewer bins");
}

Event Mst::event() const {
  return {events::Zcdp{rho_}, Relation::kAddRemove};
}

Accuracy Mst::accuracy(double confidence) const {
  const Ratio share = shares_of(rho_, options_.domain->axes()).single;
  const double variance = total_variance(options_.domain, sigma_for(share, options_.rows_per_unit));
  return {noise_half_width(variance, confidence, true), confidence, "the number of rows"};
}

Release<SyntheticRows> Mst::run(const CodedRows& rows, Context& context) const {
  if (rows.domain != options_.domain.get())
    throw Error(ErrorCode::kInvalidInput, "rows: must be of the domain that was declared");
  check_rows(rows);
  StepMeter paid(event(), context);
  TableMeasurer measurer(options_.rows_per_unit, paid.context());
  const Shares shares = shares_of(rho_, rows.domain.axes());

  std::vector<MeasuredTable> singles;
  for (std::uint32_t column = 0; column < rows.domain.axes(); ++column) {
    singles.push_back(measurer.measure(rows, {column}, shares.single, 0));
    context.progress(0.3 * (column + 1) / static_cast<double>(rows.domain.axes()), "measuring");
  }
  const RareValues rare(rows.domain, singles);
  const CodedRows merged = rare.merged(rows);
  std::vector<NoisyTable> measurements = rare.merged_measurements();
  const TotalEstimate total = estimated_total(measurements);
  const GraphicalModel independent = fit_to_total(merged.domain, measurements, total.total).model;

  context.progress(0.4, "choosing");
  std::uint32_t round = 0;
  for (const Clique& pair : chosen_tree(merged, independent, shares.choice, measurer))
    measurements.push_back(noisy_table(measurer.measure(merged, pair, shares.pair, ++round)));
  context.progress(0.6, "fitting");
  const Fit fitted = fit_to_total(merged.domain, measurements, total.total, {}, &independent);

  context.progress(0.9, "writing");
  const std::uint64_t wanted = rows_to_make(options_.rows, total, rows.domain.axes());
  SyntheticRows made{
      .rows = rare.parted(sampled_rows(fitted.model, wanted, context.bits), context.bits),
      .total = total,
      .measured = measurer.log(),
      .budget = rho_,
      .measured_rho = measurer.measured(),
      .chosen_rho = measurer.chosen(),
      .cliques = {},
      .cells = fitted.model.tree().cells(),
      .fit = {}};
  for (const auto& node : fitted.model.tree().nodes()) made.cliques.push_back(node.clique);
  const std::span<const MeasuredTable> tables(made.measured);
  made.fit = fits_of(fitted.model, tables.subspan(singles.size()));
  made.note = rare.note();
  return {std::move(made), accuracy(), event()};
}

}  // namespace gauze
