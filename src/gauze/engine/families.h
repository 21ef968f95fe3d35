#pragma once

#include "gauze/registry/algorithm.h"

// The registry of the program:
//
//     const Algorithm& median = built_in().find("median");
//     Task task = median.make({.options = {{"epsilon", 1}, ...}});
namespace gauze {

/// All families, in the order in which they are listed.
const Registry& built_in();

}  // namespace gauze
