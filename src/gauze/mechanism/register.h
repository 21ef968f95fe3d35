#pragma once

#include <vector>

#include "gauze/registry/algorithm.h"

// The registry's entries of this folder:
//
//     const Registry registry(mechanism_families());
//     registry.find("median").make({.options = {...}});
namespace gauze {

std::vector<Family> mechanism_families();

}  // namespace gauze
