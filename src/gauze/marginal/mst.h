#pragma once

#include <cstdint>
#include <vector>

#include "gauze/accounting/release.h"
#include "gauze/base/required.h"
#include "gauze/marginal/coded_rows.h"
#include "gauze/marginal/table_measurer.h"

namespace gauze {

/// Rows that look like the private ones in each column and in those pairs of columns that depend most on
/// each other, chosen so that they form a tree. A fast method that is hard to break.
///
///     const Mst mst({.domain = domain, .epsilon = 1, .delta = parse_ratio("1e-9"), .rows_per_unit = 1});
///     CodedRows made_up = mst.run(rows, context).value.rows;
///
/// Privacy    zero-concentrated DP, with the largest rho that (epsilon, delta) allows; add_remove.
/// Accuracy   the number of rows; how tables of columns that are no pair of the tree differ depends on
///            the data.
/// Numerics   noise and choices are exact; the model is fitted in doubles, which costs no privacy.
/// Time       O(rows columns^2) to compare pairs, then O(cells) for each step of the fit.
/// Argument   mst.md
class Mst {
 public:
  struct Options {
    Required<Shape> domain;  ///< how many values each column has; 1 to 1000 columns
    Required<Ratio> epsilon;
    Required<Ratio> delta;
    Required<std::uint64_t> rows_per_unit;
    std::uint64_t rows =
        0;  ///< how many to make up; 0: about as many as there are, by noisy counts
  };

  /// Throws `kInvalidOption`, also where two columns have together more than 2^24 cells.
  explicit Mst(Options options);

  Event event() const;
  Accuracy accuracy(double confidence = 0.95) const;

  /// Charges the meter, then releases. Throws `kInvalidInput` unless the rows are of the domain.
  Release<SyntheticRows> run(const CodedRows& rows, Context& context) const;

 private:
  Options options_;
  Ratio rho_;
};

}  // namespace gauze
