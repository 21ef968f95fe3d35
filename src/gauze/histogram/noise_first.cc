#include "gauze/histogram/noise_first.h"

#include <cmath>

#include "gauze/base/error.h"
#include "gauze/histogram/segments.h"

namespace gauze {

NoiseFirstHistogram::NoiseFirstHistogram(Options options)
    : options_(std::move(options)),
      noise_(split_budget({options_.epsilon, options_.delta, options_.rows_per_unit},
                          std::vector<Ratio>{1})
                 .front()) {
  check_dense(options_.shape);
  require(options_.shape->axes() == 1, "shape: must have one axis; cells are merged along it");
  require(options_.segment_price >= 0 && options_.segment_price <= 1e6,
          "segment_price must lie in [0, 10^6]");
}

Accuracy NoiseFirstHistogram::accuracy(double confidence) const {
  return {noise_half_width(noise_.variance(), confidence, noise_.is_gaussian()), confidence,
          "noise of each cell before merging"};
}

Release<RangeHistogram> NoiseFirstHistogram::run(std::span<const std::int64_t> counts,
                                                 Context& context) const {
  if (counts.size() != options_.shape->cells())
    throw Error(ErrorCode::kInvalidInput, "there must be one count for each cell of the shape");
  StepMeter steps(event(), context);
  const std::vector<std::int64_t> noisy = noise_.run(counts, steps.context());
  const std::vector<double> values(noisy.begin(), noisy.end());
  const auto begins = cut_into_segments(values, options_.segment_price * noise_.variance());

  const auto segments = static_cast<std::uint32_t>(begins.size() - 1);
  std::vector<TreeNode> nodes = {{.first_child = 1, .children = segments}};
  std::vector<std::uint32_t> bounds = {0, begins.back()};
  for (std::uint32_t i = 0; i < segments; ++i) {
    double sum = 0;
    for (std::uint32_t cell = begins[i]; cell < begins[i + 1]; ++cell) sum += values[cell];
    const double variance = noise_.variance() * (begins[i + 1] - begins[i]);
    nodes.push_back({.estimate = sum, .variance = variance});
    nodes.front().estimate += sum;
    nodes.front().variance += variance;
    bounds.insert(bounds.end(), {begins[i], begins[i + 1]});
  }
  return {RangeHistogram(options_.shape, std::move(nodes), std::move(bounds), noise_.is_gaussian()),
          accuracy(), event()};
}

}  // namespace gauze
