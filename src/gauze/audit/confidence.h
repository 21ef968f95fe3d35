#pragma once

#include <cstdint>

namespace gauze::audit {

/// Confidence bounds for a probability of which `hits` of `trials` were seen (Clopper and Pearson
/// 1934): each is wrong with probability at most `failure`.
double probability_at_least(std::uint64_t hits, std::uint64_t trials, double failure);
double probability_at_most(std::uint64_t hits, std::uint64_t trials, double failure);

}  // namespace gauze::audit
