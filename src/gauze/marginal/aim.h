#pragma once

#include <cstdint>
#include <vector>

#include "gauze/accounting/release.h"
#include "gauze/base/required.h"
#include "gauze/marginal/coded_rows.h"
#include "gauze/marginal/table_measurer.h"

namespace gauze {

/// Rows that look like the private ones in tables of several columns, measured where a model of what was
/// measured before is worst at them. More accurate than MST, and slower.
///
///     const Aim aim({.domain = domain, .epsilon = 1, .delta = parse_ratio("1e-9"), .rows_per_unit = 1});
///     CodedRows made_up = aim.run(rows, context).value.rows;
///
/// Privacy    zero-concentrated DP, with the largest rho that (epsilon, delta) allows; add_remove.
/// Accuracy   the number of rows; how far tables are off depends on the data.
/// Numerics   noise and choices are exact; the model is fitted in doubles, which costs no privacy.
/// Time       up to 16 columns rounds; in each O(rows) for every table of up to `way` columns, and a fit
///            in O(cells of the model) for each step.
/// Argument   aim.md
class Aim {
 public:
  struct Options {
    Required<Shape> domain;  ///< how many values each column has; 1 to 200 columns
    Required<Ratio> epsilon;
    Required<Ratio> delta;
    Required<std::uint64_t> rows_per_unit;
    std::uint64_t rows = 0;  ///< how many to make up; 0: as many as there are by noisy counts
    std::uint64_t way = 3;   ///< of how many columns the tables are that shall be right, 1 to 4
    std::uint64_t model_limit = 80;  ///< MiB that the tables of the model may take, 1 to 4096
  };

  /// Throws `kInvalidOption`.
  explicit Aim(Options options);

  Event event() const;
  Accuracy accuracy(double confidence = 0.95) const;

  /// Charges the meter, then releases. Throws `kInvalidInput` unless the rows are of the domain.
  Release<SyntheticRows> run(const CodedRows& rows, Context& context) const;

 private:
  Options options_;
  Ratio rho_;
};

}  // namespace gauze
