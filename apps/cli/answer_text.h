#pragma once

#include <string>

#include "gauze/registry/result.h"

namespace gauze::cli {

/// The answer for a person: keys to the left, numbers with their error bars, and a bar per row
/// where there is one number to a row, known well enough to compare, and room for it. Rows beyond
/// `most_rows` are only counted.
std::string answer_text(const Answer& answer, std::size_t width, std::size_t most_rows,
                        std::string_view indent = "  ");

}  // namespace gauze::cli
