#include "gauze/mechanism/scale_estimate.h"

#include <cmath>

#include "gauze/mechanism/additive_internal.h"
#include "gauze/mechanism/ranked_records_internal.h"
#include "gauze/mechanism/scale_estimate_internal.h"

namespace gauze {
namespace internal {
namespace {

Integer ceil_root_of_power(std::int64_t exponent) {
  const Integer square = Integer(1) << static_cast<unsigned>(exponent);
  const Integer root = sqrt(square);
  return root * root == square ? root : Integer(root + 1);
}

}  // namespace

ScaleBucket bucket_of(std::int64_t width, bool shifted) {
  if (width == 0) return {-1, 0, 1};
  // The ends are powers of the square root of 2, compared by their squares: even exponents of
  // width^2 begin a bucket, or odd ones.
  const auto log2_square = static_cast<std::int64_t>(msb(Integer(width) * width));
  const std::int64_t begin = shifted ? (log2_square + 1) / 2 * 2 - 1 : log2_square / 2 * 2;
  const std::int64_t low = begin < 0 ? 1 : saturate(ceil_root_of_power(begin));
  return {begin + 1, low, saturate(ceil_root_of_power(begin + 2))};
}

StableChoice stable_bucket(const RankedRecords& records, bool shifted) {
  const ScaleBucket bucket = bucket_of(records.quartile_distance(), shifted);
  // The first k at which some k changes leave the bucket, less the one that does.
  const std::uint64_t leaves = records.first_change([&](std::int64_t k) {
    return records.largest_quartile_distance(k) >= bucket.end ||
           records.smallest_quartile_distance(k) < bucket.begin;
  });
  return {bucket.twice_log2_centre, leaves == 0 ? 0 : leaves - 1};
}

}  // namespace internal

ScaleEstimate::ScaleEstimate(Options options)
    : options_(std::move(options)),
      domain_(std::make_shared<const internal::QuantileDomain>(
          internal::fine_domain(options_.lower, options_.upper))),
      half_({.epsilon = Ratio(options_.epsilon.get() / 2),
             .delta = Ratio(options_.delta.get() / 2),
             .relation = Relation::kReplace}) {}

Event ScaleEstimate::event() const {
  return {events::Approximate{options_.epsilon, options_.delta}, Relation::kReplace};
}

Accuracy ScaleEstimate::accuracy(double confidence) const {
  (void)internal::failure_probability(confidence);
  return {0.5, confidence, "log2 of the scale"};
}

Release<std::optional<double>> ScaleEstimate::run(std::span<const double> values,
                                                  Context& context) const {
  context.meter.charge(event());
  const internal::RankedRecords records(*domain_, values);
  Meter own({half_.event().kind, Relation::kReplace, 2});
  Context paid{own, context.bits};
  std::optional<std::int64_t> bucket;
  for (const bool shifted : {false, true}) {
    if (!bucket) bucket = half_.run(internal::stable_bucket(records, shifted), paid).value;
  }
  std::optional<double> scale;
  if (bucket) {
    const double steps = *bucket < 0 ? 0 : std::exp2(0.5 * static_cast<double>(*bucket));
    scale = steps * round_up(domain_->granularity());
  }
  return {scale, accuracy(), event()};
}

}  // namespace gauze
