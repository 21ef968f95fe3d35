#pragma once

#include <string>

#include "gauze/service/ask.h"

namespace gauze::service {

/// The answer as one page of HTML that needs nothing else: no scripts, no fonts, no links out. It
/// shows the question, what it cost, pictures, the table with error bars, what the cost means for a
/// person, and how the answer was made.
std::string report(const Outcome& outcome);

}  // namespace gauze::service
