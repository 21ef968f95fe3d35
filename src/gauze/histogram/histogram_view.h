#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "gauze/histogram/axis.h"
#include "gauze/histogram/range_histogram.h"
#include "gauze/registry/result.h"

namespace gauze {

/// A released histogram as it is shown: error bars are those of what was released, values may have been
/// rounded since.
struct HistogramView {
  std::vector<Axis> axes;
  RangeHistogram released;
  RangeHistogram values;
  bool leaves = false;  ///< show the boxes of the method's own partition, not the cells
  bool whole = false;   ///< values are whole numbers, in each cell or box

  Answer::Cell count(const Box& box) const;
  /// Of cells with these weights.
  Answer::Cell count(const std::vector<double>& weights) const;
  /// The method's own partition, without what it left uncounted.
  std::vector<Box> boxes() const;
};

/// What the columns of rows are called: `age` stands for age_from and age_to, `n` also for
/// n_half_width and n_variance. Where two would be the same, the later one has an underscore.
struct RowNames {
  std::vector<std::string> axes;
  std::string count;
};
RowNames row_names(const std::vector<Axis>& axes);

/// Every cell or leaf with its edges, category or truth value, `n`, its half width and its variance:
/// what files hold.
Answer rows_of(const HistogramView& view);

/// The same with few rows and one label each, cells taken together where there are too many; of many
/// categories the fullest boxes.
Answer summary_of(const HistogramView& view, std::size_t most);

/// What was asked: ranges by name, then conditions as they were written, each with its count.
struct Questions {
  std::vector<Box> ranges;
  std::vector<std::pair<std::string, std::vector<double>>>
      where;                         ///< with the weight of every cell
  std::vector<std::string> widened;  ///< what to say of ranges that cut through cells

  bool empty() const { return ranges.empty() && where.empty(); }
};
Answer answers_to(const HistogramView& view, const Questions& questions);

/// `18:65`, for several columns `18:65,0:100`; a category by its name, : for all. Cells are taken
/// whole. Throws `kInvalidOption`.
Box parse_range(const std::vector<Axis>& axes, const std::string& text);
/// Whether those cells hold values outside of the range.
bool is_widened(const std::vector<Axis>& axes, const std::string& text);
/// "18 to below 40 · flu": the cells of a box by name.
std::string label_of(const std::vector<Axis>& axes, const Box& box);

/// The first axis from left to right, the second upwards, in at most 64 by 64 spots.
Figure::Heat heat_of(const HistogramView& view);

}  // namespace gauze
