#pragma once

#include <cstdint>
#include <vector>

#include "gauze/accounting/release.h"
#include "gauze/base/required.h"
#include "gauze/marginal/coded_rows.h"
#include "gauze/marginal/table_measurer.h"

namespace gauze {

/// Rows that look like the private ones in each column given up to three others, which are chosen by how
/// much it depends on them. No model is fitted, so that its time is known before.
///
///     const PrivBayes bayes({.domain = domain, .epsilon = 1, .delta = delta, .rows_per_unit = 1});
///     CodedRows made_up = bayes.run(rows, context).value.rows;
///
/// Privacy    zero-concentrated DP, with the largest rho that (epsilon, delta) allows; add_remove.
/// Accuracy   the number of rows; how far tables are off depends on the data.
/// Numerics   noise, scores and choices are exact.
/// Time       O(rows candidates) for each column; at most 10,000 candidates.
/// Argument   priv_bayes.md
class PrivBayes {
 public:
  struct Options {
    Required<Shape> domain;  ///< how many values each column has; 1 to 200 columns
    Required<Ratio> epsilon;
    Required<Ratio> delta;
    Required<std::uint64_t> rows_per_unit;
    std::uint64_t rows = 0;     ///< how many to make up; 0: as many as there are by a noisy count
    std::uint64_t parents = 3;  ///< at most so many columns decide another, 0 to 3
  };

  /// Throws `kInvalidOption`.
  explicit PrivBayes(Options options);

  Event event() const;
  Accuracy accuracy(double confidence = 0.95) const;

  /// Charges the meter, then releases. Throws `kInvalidInput` unless the rows are of the domain.
  Release<SyntheticRows> run(const CodedRows& rows, Context& context) const;

 private:
  Options options_;
  Ratio rho_;
};

}  // namespace gauze
