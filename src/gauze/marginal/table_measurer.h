#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "gauze/accounting/release.h"
#include "gauze/marginal/coded_rows.h"
#include "gauze/marginal/graphical_model.h"

namespace gauze {

/// A table as it was released.
struct MeasuredTable {
  Clique clique;
  std::uint32_t round = 0;
  std::vector<std::int64_t> values;
  Ratio sigma;
  Ratio rho;  ///< what it cost
  bool operator==(const MeasuredTable&) const = default;
};

/// As estimation takes it.
NoisyTable noisy_table(const MeasuredTable& table);

/// Measures tables of rows and chooses among candidates, and pays for each before it draws: there is no
/// other way from the rows to a release. What was paid stands in the log.
///
///     TableMeasurer measurer(rows_per_unit, context);
///     const MeasuredTable table = measurer.measure(rows, {0, 2}, share, 1);
///
/// Privacy    what it charges: rows_per_unit^2 / (2 sigma^2) for a table, epsilon^2 / 8 for a choice.
/// Argument   table_measurer.md
class TableMeasurer {
 public:
  TableMeasurer(std::uint64_t rows_per_unit, Context& context)
      : rows_per_unit_(rows_per_unit), context_(context) {}

  /// Spends at most `rho` on counts with discrete Gaussian noise.
  MeasuredTable measure(const CodedRows& rows, const Clique& clique, const Ratio& rho,
                        std::uint32_t round);
  /// Spends at most `rho` on choosing a large one of scores that a row moves by at most `step`.
  std::size_t choose(std::span<const double> scores, const Ratio& step, const Ratio& rho);

  const std::vector<MeasuredTable>& log() const { return log_; }
  /// What tables and what choices have cost so far.
  const Ratio& measured() const { return measured_; }
  const Ratio& chosen() const { return chosen_; }

 private:
  std::uint64_t rows_per_unit_;
  Context& context_;
  std::vector<MeasuredTable> log_;
  Ratio measured_ = 0, chosen_ = 0;
};

/// A row moves a misfit by at most so many of its steps.
inline constexpr std::int64_t kMisfitSteps = 1024;

/// How far counts are from a table that was computed from released numbers: the sum of absolute
/// differences in whole steps, exactly, of the table rounded to steps; at most 2^52.
std::int64_t misfit(std::span<const std::int64_t> counts, const Factor& expected);

/// Adding a row moves a dependence by less than so many of its steps.
inline constexpr std::int64_t kDependenceSteps = 2048;

/// How far columns are from independent of others, in rows: half the sum of |n_xy - n_x n_y / n| over the
/// cells of their common table, times 1024 and rounded down, exactly; 0 where there are no rows. `counts`
/// has `cells` of the one for each of the other. Argument: priv_bayes.md
std::int64_t dependence(std::span<const std::int64_t> counts, std::size_t cells);

/// A table of the model beside what was measured, in rows.
struct TableFit {
  Clique clique;
  double distance = 0;  ///< the sum of absolute differences
  double expected = 0;  ///< of the noise alone
  bool operator==(const TableFit&) const = default;
};

/// Rows made up from what was released, and all that was.
struct SyntheticRows {
  CodedRows rows;
  TotalEstimate total;                  ///< of the private rows
  std::vector<MeasuredTable> measured;  ///< in order
  Ratio budget, measured_rho, chosen_rho;
  std::vector<Clique> cliques;  ///< of the model's tree
  std::uint64_t cells = 0;      ///< of all of them
  std::vector<TableFit> fit;
  std::string note = {};
  bool operator==(const SyntheticRows&) const = default;
};

/// How many rows to make up: as many as were asked for, else as many as there are by noisy counts, but no
/// more than `most_rows`, for a number that is mostly noise must not fill a machine.
std::uint64_t rows_to_make(std::uint64_t asked, const TotalEstimate& total, std::size_t columns);
/// How many rows of so many columns may be made up: 2^26 cells, which take some gigabytes.
std::uint64_t most_rows(std::size_t columns);

/// How each measured table fits the model over the same columns.
std::vector<TableFit> fits_of(const GraphicalModel& model, std::span<const MeasuredTable> tables);

}  // namespace gauze
