#pragma once

#include <cstddef>
#include <span>

namespace gauze {

/// What is known of the number of rows in a block: an estimate and the variance of its noise.
struct BlockCount {
  double estimate = 0;
  double variance = 0;
};

/// Counts of blocks of which many may be empty become what is to be expected of them, with the variance
/// that remains: how many are empty is told by the counts themselves. They stay as they are if together
/// they hold more rows than noise would show; counts that stand out stay in any case. `of` is the number
/// of all blocks that are tested like this, these included. Post-processing; O(blocks).
/// Argument: empty_blocks.md
void clear_empty(std::span<BlockCount> blocks, std::size_t of);

}  // namespace gauze
