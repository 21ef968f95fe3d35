#include "gauze/mechanism/noisy_order_internal.h"

#include <algorithm>
#include <numeric>

#include "gauze/mechanism/additive_internal.h"
#include "gauze/mechanism/selection_internal.h"

namespace gauze::internal {

std::shared_ptr<const AdditiveNoise> order_noise(MaxNoise kind, const Ratio& loss_per_sensitivity) {
  const Ratio scale = Ratio(kSensitivitySteps) / loss_per_sensitivity;
  return std::make_shared<const AdditiveNoise>(kind == MaxNoise::kGeometric
                                                   ? AdditiveNoise::geometric(scale)
                                                   : AdditiveNoise::discrete_laplace(scale));
}

std::vector<std::size_t> noisy_largest(std::span<const std::int64_t> scores, std::size_t k,
                                       const AdditiveNoise& noise, BitSource& bits) {
  // Sums are compared exactly: saturating them would turn distinct ones into ties.
  std::vector<Integer> noisy;
  noisy.reserve(scores.size());
  for (const std::int64_t score : scores) noisy.push_back(draw_exactly(noise, bits) + score);
  std::vector<std::size_t> order(scores.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(k), order.end(),
                    [&](std::size_t a, std::size_t b) {
                      return noisy[a] != noisy[b] ? noisy[a] > noisy[b] : a < b;
                    });
  order.resize(k);
  return order;
}

}  // namespace gauze::internal
