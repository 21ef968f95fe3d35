#pragma once

#include <string>

#include "gauze/histogram/histogram_view.h"

namespace gauze::cli {

/// Bars with error bars, as wide as the terminal.
std::string bars_text(const Answer& summary, std::size_t width);
/// The first axis from left to right, the second upwards.
std::string heat_text(const HistogramView& view, std::size_t width);
std::string heat_svg(const HistogramView& view);
std::string_view heat_style();

}  // namespace gauze::cli
