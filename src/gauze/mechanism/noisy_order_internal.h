#pragma once

#include <memory>
#include <span>
#include <vector>

#include "gauze/mechanism/noisy_max.h"
#include "gauze/noise/additive.h"

namespace gauze::internal {

/// Noise for scores in steps (`scores_in_steps`) with which a shift by one sensitivity costs
/// `loss_per_sensitivity`.
std::shared_ptr<const AdditiveNoise> order_noise(MaxNoise kind, const Ratio& loss_per_sensitivity);

/// Positions of the k largest values of score + noise, largest first, ties to the lower position.
std::vector<std::size_t> noisy_largest(std::span<const std::int64_t> scores, std::size_t k,
                                       const AdditiveNoise& noise, BitSource& bits);

}  // namespace gauze::internal
