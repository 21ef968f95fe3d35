#pragma once

#include <string>
#include <string_view>

#include "gauze/audit/outputs.h"
#include "gauze/audit/pairs.h"

// What a program has printed, which may be anything.
namespace gauze::audit {

/// Without their ends, of which the last may be missing.
Lines lines_in(std::string_view text);

/// A line of numbers between commas or blanks becomes a vector, another stays a text.
void add_line(Outputs& outputs, const std::string& line);

}  // namespace gauze::audit
