#pragma once

#include <vector>

#include "gauze/registry/algorithm.h"

namespace gauze {

/// Counts over a domain: histograms of columns of a private table, or of counts in a file.
std::vector<Family> histogram_families();

}  // namespace gauze
