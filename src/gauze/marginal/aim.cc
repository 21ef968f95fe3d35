#include "gauze/marginal/aim.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <optional>
#include <utility>

#include "gauze/base/error.h"
#include "gauze/histogram/count_noise.h"
#include "gauze/marginal/graphical_model.h"
#include "gauze/marginal/row_sampler.h"
#include "gauze/marginal/zcdp_budget.h"

// AIM after McKenna, Mullins, Sheldon and Miklau (2022), Algorithms 1 and 2, with sensitivities for several
// rows of a unit and misfits in whole steps.
namespace gauze {
namespace {

/// A table that may be measured, and in how many tables of the workload its columns are.
struct Candidate {
  Clique clique;
  std::int64_t weight = 0;
};

std::int64_t binomial(std::int64_t n, std::int64_t k) {
  std::int64_t product = 1;
  for (std::int64_t i = 1; i <= k; ++i) product = product * (n - k + i) / i;
  return product;
}

/// All tables of up to `way` of the columns. Its weight is the sum of the columns that it shares with each
/// table of `way` columns: |r| of its columns are in C(d - 1, way - 1) of them each.
std::vector<Candidate> candidates_of(std::size_t columns, std::size_t way) {
  const std::int64_t each =
      binomial(static_cast<std::int64_t>(columns) - 1, static_cast<std::int64_t>(way) - 1);
  std::vector<Candidate> all;
  std::vector<Clique> last = {{}};
  for (std::size_t size = 1; size <= way; ++size) {
    std::vector<Clique> next;
    for (const Clique& clique : last) {
      for (std::uint32_t column = clique.empty() ? 0 : clique.back() + 1; column < columns;
           ++column) {
        next.push_back(united(clique, {column}));
        all.push_back({next.back(), each * static_cast<std::int64_t>(size)});
      }
    }
    last = std::move(next);
  }
  return all;
}

/// What a round spends on a choice and on a table.
struct RoundPrice {
  Ratio choice, table;

  RoundPrice operator*(const Ratio& factor) const { return {choice * factor, table * factor}; }
  Ratio sum() const { return choice + table; }
};

constexpr int kTenthsForTables = 9;
/// A budget is made for so many rounds for each column; most end earlier, with less noise.
constexpr int kRoundsOfAColumn = 16;

RoundPrice price_of(const Ratio& rho) {
  return {rho * Ratio(10 - kTenthsForTables, 10), rho * Ratio(kTenthsForTables, 10)};
}

RoundPrice first_price(const Ratio& rho, std::size_t columns) {
  return price_of(Ratio(rho / Integer(kRoundsOfAColumn * columns)));
}

/// Columns that lie so far apart that a larger table is needed to compare them wait until they are closer.
constexpr std::uint64_t kMostCompared = 1u << 22;
/// A model answers for no larger table, also of columns that it holds together.
constexpr std::uint64_t kMostAnswered = 1u << 26;
/// Each round looks at all candidates.
constexpr std::int64_t kMostCandidates = 1'000'000;

/// How far noise alone moves a table, in rows.
double noise_of(const Ratio& sigma, std::size_t cells) {
  return std::sqrt(2 / std::numbers::pi) * round_up(sigma) * static_cast<double>(cells);
}

/// The rounds of one run.
class Rounds {
 public:
  Rounds(const CodedRows& rows, const Ratio& rho, std::uint64_t rows_per_unit, std::uint64_t way,
         std::uint64_t most_cells, Context& context)
      : rows_(rows),
        rho_(rho),
        rows_per_unit_(rows_per_unit),
        most_cells_(static_cast<double>(most_cells)),
        measurer_(rows_per_unit, context),
        candidates_(
            candidates_of(rows.domain.axes(), std::min<std::size_t>(way, rows.domain.axes()))),
        model_(rows.domain, 0) {}

  void measure_columns(const Ratio& rho) {
    for (std::uint32_t column = 0; column < rows_.domain.axes(); ++column) add({column}, rho, 0);
    refit({});
  }

  Ratio left() const { return rho_ - measurer_.measured() - measurer_.chosen(); }

  /// Chooses a table, measures it and fits the model again. True where the model moved by no more than
  /// noise does, so that the next rounds need less of it.
  bool round(const RoundPrice& price, std::uint32_t number, const FitOptions& how) {
    const std::size_t chosen = choose(price);
    const Clique& clique = candidates_[chosen].clique;
    const Factor before = model_.marginal(clique);
    add(clique, price.table, number);
    refit(how);
    Factor moved = model_.marginal(clique);
    double way = 0;
    for (std::size_t i = 0; i < moved.cells(); ++i) way += std::fabs(moved[i] - before[i]);
    return way <= noise_of(measurer_.log().back().sigma, moved.cells());
  }

  void refit(const FitOptions& how) {
    total_ = estimated_total(measurements_);
    Fit fitted = fit_to_total(rows_.domain, measurements_, total_.total, how, &model_);
    model_ = std::move(fitted.model);
  }

  const GraphicalModel& model() const { return model_; }
  const TotalEstimate& total() const { return total_; }
  const TableMeasurer& measurer() const { return measurer_; }

 private:
  void add(const Clique& clique, const Ratio& rho, std::uint32_t number) {
    measurements_.push_back(noisy_table(measurer_.measure(rows_, clique, rho, number)));
    if (std::find(measured_.begin(), measured_.end(), clique) == measured_.end())
      measured_.push_back(clique);
  }

  /// Whether the model can be compared with this table, and with it stays within what the budget that is spent allows.
  bool fits(const Clique& clique, const Ratio& price) const {
    const std::uint64_t cells = model_.cells_to_answer(clique);
    if (model_.tree().holder(clique) != JunctionTree::kNone) return cells <= kMostAnswered;
    if (cells > kMostCompared) return false;
    std::vector<Clique> cliques = measured_;
    cliques.push_back(clique);
    const double share = std::min(1.0, round_down(Ratio((rho_ - left() + price) / rho_)));
    return static_cast<double>(JunctionTree(rows_.domain, cliques).cells()) <= most_cells_ * share;
  }

  /// By the exponential mechanism: how much worse the model is at a table than noise would be, by weight.
  std::size_t choose(const RoundPrice& price) {
    const double sigma = round_up(sigma_for(price.table, rows_per_unit_));
    std::vector<std::size_t> open;
    std::vector<double> scores;
    std::int64_t heaviest = 1;
    for (std::size_t i = 0; i < candidates_.size(); ++i) {
      const auto& [clique, weight] = candidates_[i];
      if (!fits(clique, price.sum())) continue;
      const Factor expected = model_.marginal(clique);
      const std::int64_t noise = std::llround(
          std::min(0x1p52, kMisfitSteps * noise_of(ratio_of_bits(sigma), expected.cells())));
      // Whole numbers below 2^53: a row moves the score by at most the weight in steps.
      const std::int64_t most = (std::int64_t{1} << 52) / weight;
      scores.push_back(static_cast<double>(
          weight * std::clamp(misfit(rows_.counts(clique), expected) - noise, -most, most)));
      open.push_back(i);
      heaviest = std::max(heaviest, weight);
    }
    return open[measurer_.choose(scores, Ratio(Integer(heaviest) * kMisfitSteps), price.choice)];
  }

  const CodedRows& rows_;
  Ratio rho_;
  std::uint64_t rows_per_unit_;
  double most_cells_;
  TableMeasurer measurer_;
  std::vector<Candidate> candidates_;
  std::vector<Clique> measured_;
  std::vector<NoisyTable> measurements_;
  GraphicalModel model_;
  TotalEstimate total_;
};

}  // namespace

Aim::Aim(Options options)
    : options_(std::move(options)), rho_(rho_for(options_.epsilon, options_.delta)) {
  const Shape& domain = options_.domain;
  require(domain.axes() >= 1 && domain.axes() <= 200, "columns: must be from 1 to 200");
  require(options_.rows_per_unit >= 1 && options_.rows_per_unit <= 1u << 30,
          "rows_per_unit: must be from 1 to 2^30");
  require(options_.rows <= most_rows(domain.axes()),
          "rows: times columns must be at most 2^26; give fewer rows");
  require(options_.way >= 1 && options_.way <= 4, "way: must be from 1 to 4");
  require(options_.model_limit >= 1 && options_.model_limit <= 4096,
          "model_limit: must be from 1 to 4096");
  std::int64_t candidates = 0;
  for (std::uint64_t size = 1; size <= options_.way; ++size)
    candidates +=
        binomial(static_cast<std::int64_t>(domain.axes()), static_cast<std::int64_t>(size));
  require(
      candidates <= kMostCandidates,
      "way: makes more than 1,000,000 tables to choose from; give fewer columns or a smaller way");
  std::uint64_t cells = 0;
  for (const std::uint32_t extent : domain.extents) {
    require(extent >= 1, "cells: each column must have at least one value");
    cells += extent;
  }
  require(cells <= options_.model_limit << 17,
          "model_limit: is too small for the tables of single columns; give columns fewer bins");
}

Event Aim::event() const {
  return {events::Zcdp{rho_}, Relation::kAddRemove};
}

Accuracy Aim::accuracy(double confidence) const {
  const std::size_t columns = options_.domain->axes();
  const Ratio share = columns == 1 ? rho_ : first_price(rho_, columns).table;
  const Ratio sigma = sigma_for(share, options_.rows_per_unit);
  double weights = 0;
  for (const std::uint32_t extent : options_.domain->extents) weights += 1.0 / extent;
  const double variance = round_up(Ratio(sigma * sigma)) / weights;
  return {noise_half_width(variance, confidence, true), confidence, "the number of rows"};
}

Release<SyntheticRows> Aim::run(const CodedRows& rows, Context& context) const {
  if (rows.domain != options_.domain.get())
    throw Error(ErrorCode::kInvalidInput, "rows: must be of the domain that was declared");
  check_rows(rows);
  StepMeter paid(event(), context);
  Rounds rounds(rows, rho_, options_.rows_per_unit, options_.way, options_.model_limit << 17,
                paid.context());
  const std::size_t columns = rows.domain.axes();
  RoundPrice price = first_price(rho_, columns);
  rounds.measure_columns(columns == 1 ? rho_ : price.table);
  // On the way a rough fit tells which table is worst.
  constexpr FitOptions kRough{.tolerance = 0.05, .most_steps = 100};
  for (std::uint32_t number = 1; columns > 1; ++number) {
    const bool last = rounds.left() < 2 * price.sum();
    if (last) price = price_of(rounds.left());
    const bool settled = rounds.round(price, number, kRough);
    if (last) break;
    if (settled) price = price * 4;
    context.progress(round_down(Ratio(1 - rounds.left() / rho_)) * 0.8, "measuring");
  }
  context.progress(0.8, "fitting");
  rounds.refit({});

  context.progress(0.95, "writing");
  const GraphicalModel& model = rounds.model();
  SyntheticRows made{
      .rows = sampled_rows(model, rows_to_make(options_.rows, rounds.total(), rows.domain.axes()),
                           context.bits),
      .total = rounds.total(),
      .measured = rounds.measurer().log(),
      .budget = rho_,
      .measured_rho = rounds.measurer().measured(),
      .chosen_rho = rounds.measurer().chosen(),
      .cliques = {},
      .cells = model.tree().cells(),
      .fit = {}};
  for (const auto& node : model.tree().nodes()) made.cliques.push_back(node.clique);
  made.fit = fits_of(model, made.measured);
  return {std::move(made), accuracy(), event()};
}

}  // namespace gauze
