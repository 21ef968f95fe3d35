#include "gauze/histogram/flat.h"

#include "gauze/base/error.h"

namespace gauze {

FlatHistogram::FlatHistogram(Options options)
    : options_(std::move(options)),
      noise_(split_budget({options_.epsilon, options_.delta, options_.rows_per_unit},
                          std::vector<Ratio>{1})
                 .front()) {
  check_dense(options_.shape);
}

Accuracy FlatHistogram::accuracy(double confidence) const {
  return {noise_half_width(noise_.variance(), confidence, noise_.is_gaussian()), confidence,
          "each cell"};
}

Release<RangeHistogram> FlatHistogram::run(std::span<const std::int64_t> counts,
                                           Context& context) const {
  if (counts.size() != options_.shape->cells())
    throw Error(ErrorCode::kInvalidInput, "there must be one count for each cell of the shape");
  const std::vector<std::int64_t> noisy = noise_.run(counts, context);
  return {RangeHistogram(options_.shape, std::vector<double>(noisy.begin(), noisy.end()),
                         noise_.variance(), noise_.is_gaussian()),
          accuracy(), event()};
}

}  // namespace gauze
