#pragma once

#include <vector>

#include "gauze/registry/algorithm.h"

/// A family as small as one can be: an algorithm on a column that releases a table, a curve and an
/// artifact, and its twin that adds half the noise it claims. Copy this folder to begin a family of your
/// own: what is in toy.cc is all that there is to write.
std::vector<gauze::Family> toy_families();
