#pragma once

#include <vector>

#include "gauze/registry/algorithm.h"

// The registry's entries of this folder:
//
//     const Registry registry(adaptive_families());
//     registry.find("change_point").make({.options = {...}});
namespace gauze {

std::vector<Family> adaptive_families();

}  // namespace gauze
