#pragma once

#include <cstdint>
#include <vector>

#include "gauze/numeric/ratio.h"
#include "gauze/random/bit_source.h"

namespace gauze {

/// Each of 0..population-1 independently with probability exactly `rate`, in increasing order. This
/// is the sampling that a `poisson_sampled` event is priced for. Time O(population).
std::vector<std::uint64_t> poisson_subsample(BitSource& bits, std::uint64_t population,
                                             const Ratio& rate);

/// `size` distinct elements of 0..population-1, every such set equally likely, in increasing order.
/// This is the sampling that a `sampled_without_replacement` event is priced for. Time O(size log
/// size).
std::vector<std::uint64_t> fixed_size_subsample(BitSource& bits, std::uint64_t population,
                                                std::uint64_t size);

}  // namespace gauze
