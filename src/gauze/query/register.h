#pragma once

#include <vector>

#include "gauze/registry/algorithm.h"

namespace gauze {

/// Questions in SQL about private tables: one entry, "sql".
std::vector<Family> query_families();

}  // namespace gauze
