#include "gauze/histogram/cells_by_rows.h"

#include <array>
#include <cmath>
#include <numeric>
#include <string>

#include "gauze/base/error.h"
#include "gauze/histogram/adaptive_hierarchy.h"
#include "gauze/histogram/pruned_hierarchy.h"

namespace gauze {
namespace {

/// The budget comes in equal parts, so that what is spent adds up exactly.
constexpr std::uint32_t kShares = 64;
/// Where fewer rows for a unit of noise are seen, more is spent on a closer look.
constexpr std::uint32_t kFirstLook = 1;
constexpr std::array<std::uint32_t, 2> kCloserLooks = {4, 8};
/// Fewer rows for a unit of noise leave most cells below the noise of all; still fewer leave every cell there.
constexpr double kFewVisible = 400;
constexpr double kNoneVisible = 60;
/// Of the total, of blocks of about a sixteenth of the domain, of smaller ones and of cells, where few stand out;
/// and what a split has to show there.
constexpr std::array<int, 4> kWeightsForFew = {1, 4, 0, 27};
constexpr double kPriceForFew = 0.3;

}  // namespace

struct CellsByRows::Look {
  Sight sight;
  std::uint32_t left;
  double strength;  // the last that was seen
};

CellsByRows::CellsByRows(Options options) : options_(std::move(options)) {
  check_dense(options_.shape);
  require(options_.shape->cells() <= 1u << 24, "shape: must have at most 2^24 cells");
  check_budget({options_.epsilon, 0, options_.rows_per_unit});
}

Event CellsByRows::event() const {
  return {events::Pure{options_.epsilon}, Relation::kAddRemove};
}

Ratio CellsByRows::share(std::uint32_t parts) const {
  return Ratio(options_.epsilon.get() * Ratio(parts, kShares));
}

Accuracy CellsByRows::accuracy(double confidence) const {
  const CountNoise cells = CountNoise::laplace(share(kShares - kFirstLook), options_.rows_per_unit);
  return {noise_half_width(cells.variance(), confidence, false), confidence,
          "the noise of each cell before pruning, where there are many rows"};
}

double CellsByRows::strength(std::int64_t rows, std::uint32_t parts, BitSource& bits) const {
  const CountNoise noise = CountNoise::laplace(share(parts), options_.rows_per_unit);
  Meter paid(noise.event());
  Context context{paid, bits};
  const std::int64_t noisy = noise.run(std::span(&rows, 1), context).front();
  return static_cast<double>(noisy) * noise.rate() * kShares / parts;
}

CellsByRows::Look CellsByRows::look(std::span<const std::int64_t> counts, BitSource& bits) const {
  if (options_.expected_rows != 0) {
    const double rate = CountNoise::laplace(options_.epsilon, options_.rows_per_unit).rate();
    const double known = static_cast<double>(options_.expected_rows) * rate;
    const Sight sight = known >= kFewVisible    ? Sight::kMany
                        : known >= kNoneVisible ? Sight::kFew
                                                : Sight::kNone;
    return {sight, kShares, known};
  }
  const std::int64_t rows =
      std::accumulate(counts.begin(), counts.end(), std::int64_t{0}, saturating_add);
  std::uint32_t left = kShares - kFirstLook;
  double seen = strength(rows, kFirstLook, bits);
  if (seen >= kFewVisible) return {Sight::kMany, left, seen};
  for (const std::uint32_t parts : kCloserLooks) {
    left -= parts;
    seen = strength(rows, parts, bits);
    if (seen >= kNoneVisible) return {Sight::kFew, left, seen};
  }
  return {Sight::kNone, left, seen};
}

Release<RangeHistogram> CellsByRows::run(std::span<const std::int64_t> counts,
                                         Context& context) const {
  if (counts.size() != options_.shape->cells())
    throw Error(ErrorCode::kInvalidInput, "there must be one count for each cell of the shape");
  context.meter.charge(event());
  const auto [sight, left, strength] = look(counts, context.bits);
  const double rows =
      strength / CountNoise::laplace(options_.epsilon, options_.rows_per_unit).rate();
  const auto released = [&](const auto& method) {
    Meter paid(method.event());
    Context rest{paid, context.bits};
    Release<RangeHistogram> result{method.run(counts, rest).value, accuracy(), event()};
    if (options_.expected_rows == 0)
      result.value.set_note(std::string(sight == Sight::kMany  ? "many"
                                        : sight == Sight::kFew ? "few"
                                                               : "too few") +
                            " rows by a paid look, about " + std::to_string(std::llround(rows)));
    return result;
  };
  if (sight == Sight::kNone)
    return released(AdaptiveHierarchy({.shape = options_.shape,
                                       .epsilon = share(left),
                                       .rows_per_unit = options_.rows_per_unit,
                                       .expected_rows = options_.expected_rows}));
  PrunedHierarchy::Options cells{.shape = options_.shape,
                                 .epsilon = share(left),
                                 .rows_per_unit = options_.rows_per_unit,
                                 .aim = HistogramAim::kCells};
  if (sight == Sight::kFew) {
    cells.level_weights.assign(kWeightsForFew.begin(), kWeightsForFew.end());
    cells.split_price = kPriceForFew;
  }
  return released(PrunedHierarchy(std::move(cells)));
}

}  // namespace gauze
