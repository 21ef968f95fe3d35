#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace gauze {

/// Cuts a sequence into segments so that the sum of squared distances from the segment means plus
/// `price` for every segment is least. Returns where the segments begin, and the length at the end.
/// Not private by itself: for values that are released already. Time O(values) times the number of pieces
/// that compete, which is some tens whatever the length. Argument: segments.md
std::vector<std::uint32_t> cut_into_segments(std::span<const double> values, double price);

}  // namespace gauze
