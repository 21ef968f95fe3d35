#pragma once

#include <string_view>
#include <vector>

#include "gauze/histogram/axis.h"

namespace gauze {

/// Which cells of a histogram a condition in SQL holds for: 1 or 0 for each, the last axis fastest, as
/// weights for `RangeHistogram::weighted`. It compares columns with values by = <> < <= > >=, BETWEEN and
/// IN, joined by AND, OR and NOT; a truth value may stand alone. Values outside of the declared range are
/// counted at its end, and rows with nulls not at all, as the histogram does.
///
/// Throws `kInvalidOption` for a condition that cuts through a cell, for a category that is none, and for
/// more than 2^24 cells; `kSyntax`, `kUnsupported` and `kUnknownName` for what is no such condition. Time
/// O(cells), each times the length of the condition.
std::vector<double> cells_where(const std::vector<Axis>& axes, std::string_view condition);

}  // namespace gauze
