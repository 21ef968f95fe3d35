#include "gauze/mechanism/smooth_median.h"

#include <algorithm>

#include "gauze/mechanism/ranked_records_internal.h"
#include "gauze/numeric/exact_sum.h"

namespace gauze {

SmoothMedian::SmoothMedian(Options options)
    : options_(std::move(options)),
      domain_(std::make_shared<const internal::QuantileDomain>(
          internal::fine_domain(options_.lower, options_.upper))),
      noise_({.epsilon = options_.epsilon,
              .global_sensitivity = Ratio(options_.upper.get() - options_.lower.get()),
              .relation = Relation::kReplace,
              .noise = options_.noise,
              .delta = options_.delta}) {}

Release<double> SmoothMedian::run(std::span<const double> values, Context& context) const {
  context.meter.charge(event());
  const internal::RankedRecords records(*domain_, values);
  // Grid points are whole numbers below 2^42 times a power of two: exact as doubles.
  const double step = round_up(domain_->granularity());
  MovableAnswer answer{static_cast<double>(records.median()) * step, {}};
  // When all records have changed the median can be anywhere.
  const std::uint64_t needed = std::min(noise_.distances(), records.size());
  for (std::uint64_t k = 0; k < needed; ++k) {
    const std::int64_t move = records.median_move(static_cast<std::int64_t>(k));
    answer.moves.push_back(static_cast<double>(move) * step);
  }
  Meter own(noise_.event());
  Context paid{own, context.bits};
  const double above_lower = noise_.run(answer, paid).value;
  return {nearest_double(options_.lower) + above_lower, accuracy(), event()};
}

}  // namespace gauze
