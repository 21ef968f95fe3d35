#pragma once

#include <vector>

#include "gauze/registry/algorithm.h"

namespace gauze {

/// Models that predict a column of a private table from others.
std::vector<Family> learn_families();

}  // namespace gauze
