#pragma once

#include <vector>

#include "gauze/registry/algorithm.h"

// The parts of the table, one function per family.
namespace gauze::internal {

std::vector<Algorithm> history_algorithms();
std::vector<Algorithm> sequence_algorithms();

}  // namespace gauze::internal
