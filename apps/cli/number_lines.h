#pragma once

#include <string>

#include "show.h"

namespace gauze::cli {

/// Answers each line of a file before it reads the next, and none after the last answer. The accuracy and
/// the cost follow at the end; as JSON everything does.
void converse_in_lines(const std::string& file, Quote quote, const Delivery& delivery);

}  // namespace gauze::cli
