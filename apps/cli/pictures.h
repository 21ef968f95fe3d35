#pragma once

#include <string>

#include "gauze/registry/result.h"

// Figures as lines of text.
namespace gauze::cli {

/// Bars with error bars, as wide as the terminal, of answers with a label and a number.
std::string bars_text(const Answer& summary, std::size_t width);
/// The first axis from left to right, the second upwards.
std::string heat_text(const Figure::Heat& heat, std::size_t width);
/// A curve a few lines high.
std::string curve_text(const Figure::Curve& curve, const std::string& title);

}  // namespace gauze::cli
