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
/// Where few rows for a unit of noise are seen, more is spent on a closer look.
constexpr std::uint32_t kFirstLook = 1;
constexpr std::array<std::uint32_t, 2> kCloserLooks = {4, 8};
/// What is looked for with so many rows for a unit of noise and more: shares of the total, of blocks of about a
/// sixteenth of the domain, of smaller ones and of cells, and what a split has to show.
struct View {
  double from;
  std::array<int, 4> weights;
  double price;
  const char* rows;
};
constexpr View kMany = {4000, {0, 0, 0, 1}, 0.2, "many"};
constexpr View kSome = {400, {1, 2, 0, 29}, 0.4, "some"};
constexpr View kFew = {60, {2, 4, 0, 26}, 0.3, "few"};

/// With no fewer rows than `kSome` takes: in more dimensions most cells are empty, and few rows stand out in the others.
const View* many_or_some(double strength, const Shape& shape) {
  return shape.axes() > 1 || strength >= kMany.from ? &kMany : &kSome;
}

}  // namespace

struct CellsByRows::Look {
  const View* view;  // none where no cell stands out
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
    const View* view = known >= kSome.from  ? many_or_some(known, options_.shape)
                       : known >= kFew.from ? &kFew
                                            : nullptr;
    return {view, kShares, known};
  }
  const std::int64_t rows =
      std::accumulate(counts.begin(), counts.end(), std::int64_t{0}, saturating_add);
  std::uint32_t left = kShares - kFirstLook;
  double seen = strength(rows, kFirstLook, bits);
  if (seen >= kSome.from) return {many_or_some(seen, options_.shape), left, seen};
  for (const std::uint32_t parts : kCloserLooks) {
    left -= parts;
    seen = strength(rows, parts, bits);
    if (seen >= kFew.from) return {&kFew, left, seen};
  }
  return {nullptr, left, seen};
}

Release<RangeHistogram> CellsByRows::run(std::span<const std::int64_t> counts,
                                         Context& context) const {
  if (counts.size() != options_.shape->cells())
    throw Error(ErrorCode::kInvalidInput, "there must be one count for each cell of the shape");
  context.meter.charge(event());
  const auto [view, left, strength] = look(counts, context.bits);
  const double rows =
      strength / CountNoise::laplace(options_.epsilon, options_.rows_per_unit).rate();
  const std::string seen = view != nullptr ? view->rows : "too few";
  const auto released = [&](const auto& method) {
    Meter paid(method.event());
    Context rest{paid, context.bits};
    Release<RangeHistogram> result{method.run(counts, rest).value, accuracy(), event()};
    if (options_.expected_rows == 0)
      result.value.set_note(seen + " rows by a paid look, about " +
                            std::to_string(std::llround(rows)));
    return result;
  };
  if (view == nullptr)
    return released(AdaptiveHierarchy({.shape = options_.shape,
                                       .epsilon = share(left),
                                       .rows_per_unit = options_.rows_per_unit,
                                       .expected_rows = options_.expected_rows}));
  return released(PrunedHierarchy({.shape = options_.shape,
                                   .epsilon = share(left),
                                   .rows_per_unit = options_.rows_per_unit,
                                   .level_weights = {view->weights.begin(), view->weights.end()},
                                   .split_price = view->price}));
}

}  // namespace gauze
