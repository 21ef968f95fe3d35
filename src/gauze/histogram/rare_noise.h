#pragma once

#include <cstdint>
#include <vector>

#include "gauze/histogram/buckets.h"
#include "gauze/histogram/cells.h"

namespace gauze {

/// Counts of cells with whole-numbered Laplace noise that is hardly ever anything but 0 become what is to
/// be expected of them: a small count that stands alone in empty space may be noise, and how often it
/// is follows from how much empty space there is. Post-processing; O(cells). `alpha` is the chance of a
/// noise of k + 1 over that of k. Argument: rare_noise.md
std::vector<double> without_rare_noise(const Shape& shape, std::vector<double> counts, double alpha,
                                       HistogramAim aim);

}  // namespace gauze
