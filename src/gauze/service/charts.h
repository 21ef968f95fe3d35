#pragma once

#include <string>
#include <string_view>

#include "gauze/registry/result.h"

namespace gauze::service {

/// The answer as charts, one per numeric column, as HTML with inline SVG and no script: a line with
/// its band over dates, bars with their whiskers elsewhere. The first key is the axis; the other
/// keys are colours when they are few, and part of the label when not. "" when nothing can be drawn.
/// All words are HTML text, so that they stay readable on a narrow screen.
std::string charts(const Answer& answer);

/// A figure as HTML: bars as above, a heat map, a curve with its band.
std::string figure_html(const Figure& figure);

/// The rules that both need in the page's style sheet.
std::string_view chart_style();

}  // namespace gauze::service
