#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "gauze/data/value.h"
#include "gauze/registry/result.h"

// Cells of answers in words. All texts are UTF-8 with ± and the like; a front end makes them fit a
// terminal without.
namespace gauze {

/// A released cell as people read numbers: thousands apart, no more digits than the error bar
/// leaves meaning to. Texts lose their control characters, so that no key can steer a terminal.
std::string value_text(const Answer::Cell& cell, Type type);
/// Two significant digits, rounded up: "± 12.3"; of dates and times with their unit: "± 3 days".
std::string half_width_text(double half_width, Type type);
/// "" for keys.
std::string half_width_text(const Answer::Cell& cell);

/// "1 row", "2,000 rows".
std::string many(std::uint64_t count, const char* one);

/// The cell as a number to draw; nothing for texts, nulls and what is not finite.
std::optional<double> drawn(const Value& value);

}  // namespace gauze
