#pragma once

#include <vector>

#include "gauze/registry/algorithm.h"

namespace gauze {

/// Rows that look like those of a private table.
std::vector<Family> marginal_families();

}  // namespace gauze
