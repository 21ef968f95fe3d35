#include "gauze/marginal/priv_bayes.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <utility>

#include "gauze/base/error.h"
#include "gauze/histogram/count_noise.h"
#include "gauze/marginal/row_sampler.h"
#include "gauze/marginal/zcdp_budget.h"
#include "gauze/random/uniform.h"

// PrivBayes after Zhang, Cormode, Procopiuc, Srivastava and Xiao (2017), with their score R in rows, whose
// sensitivity needs no number of rows, and with Gaussian noise.
namespace gauze {
namespace {

constexpr std::size_t kMostCandidates = 10'000;
/// How many rows a cell should have on average for each row that noise moves it by.
constexpr double kUseful = 4;
constexpr std::uint64_t kMostCells = 1u << 22;

/// How a budget is shared.
struct Shares {
  Ratio count;   // of all rows
  Ratio choice;  // of each column's parents, but the first's
  Ratio table;   // of each column given its parents
};

Shares shares_of(const Ratio& rho, std::size_t columns, std::uint64_t parents) {
  const Ratio count = rho / 50, rest = rho - count;
  if (columns == 1 || parents == 0) return {count, 0, Ratio(rest / Integer(columns))};
  return {count, Ratio(rest * Ratio(3, 10) / Integer(columns - 1)),
          Ratio(rest * Ratio(7, 10) / Integer(columns))};
}

/// A column and those that decide it.
struct Link {
  std::uint32_t column = 0;
  Clique parents;

  Clique both() const { return united(parents, {column}); }
};

/// Adds the sets of up to `size` of `known` from `from` on that leave the table below `most` cells.
void add_parents(const Shape& domain, const Clique& known, std::size_t from, std::uint64_t size,
                 double most, Link link, std::vector<Link>& links) {
  if (links.size() > kMostCandidates) return;  // the caller asks again with fewer parents
  links.push_back(link);
  if (size == 0) return;
  for (std::size_t i = from; i < known.size(); ++i) {
    Link more{link.column, united(link.parents, {known[i]})};
    if (static_cast<double>(cells_of(domain, more.both())) <= most)
      add_parents(domain, known, i + 1, size - 1, most, std::move(more), links);
  }
}

/// What may come next: with fewer parents where there would be too many to look at.
std::vector<Link> candidates_of(const Shape& domain, const Clique& known, std::uint64_t parents,
                                double most) {
  for (;; --parents) {
    std::vector<Link> links;
    for (std::uint32_t column = 0; column < domain.axes(); ++column)
      if (!contains(known, {column}))
        add_parents(domain, known, 0, parents, most, {column, {}}, links);
    if (links.size() <= kMostCandidates || parents == 0) return links;
  }
}

/// How much a column depends on its parents, in steps.
double dependence_of(const CodedRows& rows, const Link& link) {
  std::vector<std::uint32_t> order = link.parents;
  order.push_back(link.column);
  return static_cast<double>(
      dependence(rows.counts_in_order(order), rows.domain.extents[link.column]));
}

/// How many cells a table may have for its counts to be useful.
double most_cells(double rows, const Ratio& table, std::uint64_t rows_per_unit) {
  const double noise = round_up(sigma_for(table, rows_per_unit)) * std::sqrt(2 / std::numbers::pi);
  return std::min(static_cast<double>(kMostCells), rows / (kUseful * noise));
}

}  // namespace

PrivBayes::PrivBayes(Options options)
    : options_(std::move(options)), rho_(rho_for(options_.epsilon, options_.delta)) {
  const Shape& domain = options_.domain;
  require(domain.axes() >= 1 && domain.axes() <= 200, "columns: must be from 1 to 200");
  require(options_.rows_per_unit >= 1 && options_.rows_per_unit <= 1u << 30,
          "rows_per_unit: must be from 1 to 2^30");
  require(options_.rows <= most_rows(domain.axes()),
          "rows: times columns must be at most 2^26; give fewer rows");
  require(options_.parents <= 3, "parents: must be from 0 to 3");
  for (const std::uint32_t extent : domain.extents)
    require(extent >= 1 && extent <= kMostCells,
            "cells: each column must have from 1 to 2^22 values");
}

Event PrivBayes::event() const {
  return {events::Zcdp{rho_}, Relation::kAddRemove};
}

Accuracy PrivBayes::accuracy(double confidence) const {
  const Shares shares = shares_of(rho_, options_.domain->axes(), options_.parents);
  const Ratio sigma = sigma_for(shares.count, options_.rows_per_unit);
  return {noise_half_width(round_up(Ratio(sigma * sigma)), confidence, true), confidence,
          "the number of rows"};
}

Release<SyntheticRows> PrivBayes::run(const CodedRows& rows, Context& context) const {
  if (rows.domain != options_.domain.get())
    throw Error(ErrorCode::kInvalidInput, "rows: must be of the domain that was declared");
  check_rows(rows);
  StepMeter paid(event(), context);
  TableMeasurer measurer(options_.rows_per_unit, paid.context());
  const std::size_t columns = rows.domain.axes();
  const Shares shares = shares_of(rho_, columns, options_.parents);

  const std::vector<NoisyTable> count = {noisy_table(measurer.measure(rows, {}, shares.count, 0))};
  const TotalEstimate total = estimated_total(count);
  const double most = most_cells(total.total, shares.table, options_.rows_per_unit);
  std::vector<Link> network = {
      {static_cast<std::uint32_t>(uniform_below(context.bits, columns)), {}}};
  Clique known = {network[0].column};
  while (network.size() < columns) {
    context.progress(0.9 * static_cast<double>(network.size()) / static_cast<double>(columns),
                     "choosing");
    const std::vector<Link> open = candidates_of(rows.domain, known, options_.parents, most);
    std::size_t next = 0;
    if (options_.parents > 0) {
      std::vector<double> scores;
      for (const Link& link : open) scores.push_back(dependence_of(rows, link));
      next = measurer.choose(scores, kDependenceSteps, shares.choice);
    }
    network.push_back(open[next]);
    known = united(known, {open[next].column});
  }

  SyntheticRows made{.rows = {rows.domain, {}},
                     .total = total,
                     .measured = {},
                     .budget = rho_,
                     .measured_rho = 0,
                     .chosen_rho = 0,
                     .cliques = {},
                     .cells = 0,
                     .fit = {}};
  made.rows.columns.assign(columns,
                           std::vector<std::uint32_t>(rows_to_make(options_.rows, total, columns)));
  std::uint32_t round = 0;
  for (const Link& link : network) {
    const MeasuredTable table = measurer.measure(rows, link.both(), shares.table, ++round);
    Factor counts(rows.domain, table.clique, {table.values.begin(), table.values.end()});
    for (double& value : counts.values()) value = std::max(0.0, value);
    deal(counts, link.parents, made.rows, context.bits);
    made.cliques.push_back(table.clique);
    made.cells += counts.cells();
  }
  made.measured = measurer.log();
  made.measured_rho = measurer.measured();
  made.chosen_rho = measurer.chosen();
  return {std::move(made), accuracy(), event()};
}

}  // namespace gauze
