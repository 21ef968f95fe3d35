#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "gauze/accounting/release.h"
#include "gauze/base/required.h"
#include "gauze/data/schema.h"
#include "gauze/data/source.h"
#include "gauze/histogram/axis.h"
#include "gauze/histogram/histogram_method.h"
#include "gauze/histogram/range_histogram.h"

namespace gauze {

/// A released histogram with the columns it is about.
struct ColumnHistogram {
  std::vector<Axis> axes;
  RangeHistogram histogram;
};

/// A histogram method on columns of a private table.
///
/// At most `rows_per_unit` rows of each privacy unit take part, chosen at random; it is the schema's
/// when it is not given; where the method knows `rows_per_cell`, at most so many of them in one cell. A
/// row that is null in one of the columns is not counted.
///
/// Privacy    that of the method, per privacy unit of the table, add_remove.
/// Accuracy   that of the method, on the rows that take part.
/// Time       O(rows) and the method's.
/// Argument   ../data/bound.md, axis.md and the method's page.
class HistogramJob {
 public:
  struct Options {
    Required<HistogramEntry> method;
    nlohmann::json options = nlohmann::json::object();  ///< of the method
    Required<TableSchema> table;
    Required<std::vector<std::string>> columns;  ///< one for each axis
  };

  /// Throws `kInvalidOption`, `kUnknownName`, `kMissingKnowledge` and `kUnboundedData`, and what the
  /// method throws.
  explicit HistogramJob(Options options);

  /// The axes that these options mean, before a method is made.
  static std::vector<Axis> axes_of(Options options);

  const HistogramMethod& method() const { return method_; }
  Event event() const { return method_.event; }
  Accuracy accuracy(double confidence) const { return method_.accuracy(confidence); }
  /// The options the method was made with, filled in.
  const nlohmann::json& options() const { return options_.options; }
  std::uint64_t rows_per_unit() const { return rows_per_unit_; }
  const std::vector<Axis>& axes() const { return axes_; }

  /// Throws `kUnknownName` where the source lacks a column that is read: before anything is paid.
  void expect_columns(Source& source) const;
  /// The rows that count, by their cells. Draws no noise.
  Points read(Source& source, Context& context) const;
  /// Reads, tells the watch, runs the method.
  Release<ColumnHistogram> run(Source& source, Context& context) const;

 private:
  Options options_;
  std::vector<Axis> axes_;
  std::vector<std::string> reads_;  ///< the columns, and the unit's where it is none of them
  std::uint64_t rows_per_unit_ = 0;
  std::uint64_t rows_per_cell_ = 0;
  HistogramMethod method_;
};

}  // namespace gauze
