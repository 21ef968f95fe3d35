#pragma once

#include <string>

#include "question.h"

namespace gauze::cli {

/// The answer as one page of HTML that needs nothing else: no scripts, no fonts, no links out. It
/// shows the question, charts and the table with error bars, the cost, what that means for a
/// person, and how the answer was made.
std::string report(const Answered& answered);

}  // namespace gauze::cli
