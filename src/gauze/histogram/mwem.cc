#include "gauze/histogram/mwem.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <memory>

#include "gauze/base/error.h"
#include "gauze/histogram/count_noise.h"
#include "gauze/mechanism/exponential.h"

namespace gauze {
namespace {

struct Range {
  std::uint32_t begin, end;
  bool operator==(const Range&) const = default;
};

/// One partition of the axis and its noisy counts.
struct MeasuredPieces {
  std::vector<std::uint32_t> begins;  // and the number of cells at the end
  std::vector<std::int64_t> values;
  double variance;  // of each
};

std::vector<Range> default_ranges(std::uint32_t cells) {
  std::vector<Range> ranges;
  for (std::uint32_t end = 1; end <= cells; ++end) ranges.push_back({0, end});
  for (std::uint32_t width = 1; width < cells; width *= 2)
    for (std::uint32_t begin = width; begin < cells; begin += width)
      ranges.push_back({begin, std::min(begin + width, cells)});
  return ranges;
}

/// The range, and blocks of `width` cells cut where they meet it.
std::vector<std::uint32_t> partition_around(const Range& range, std::uint32_t width,
                                            std::uint32_t cells) {
  std::vector<std::uint32_t> begins = {cells, range.begin};
  if (range.end < cells) begins.push_back(range.end);
  for (std::uint32_t at = 0; at < cells; at += width)
    if (at < range.begin || at >= range.end) begins.push_back(at);
  std::sort(begins.begin(), begins.end());
  begins.erase(std::unique(begins.begin(), begins.end()), begins.end());
  return begins;
}

std::vector<std::int64_t> running_sums(std::span<const std::int64_t> counts) {
  std::vector<std::int64_t> sums = {0};
  for (const std::int64_t count : counts)
    sums.push_back(std::min(saturating_add(sums.back(), std::max<std::int64_t>(count, 0)),
                            std::int64_t{1} << 52));
  return sums;
}

/// The total that all measurements together say, by inverse variances.
double fitted_total(const MeasuredPieces& total, std::span<const MeasuredPieces> rounds) {
  double weight = 1 / total.variance;
  double sum = static_cast<double>(total.values[0]) * weight;
  for (const MeasuredPieces& round : rounds) {
    double all = 0;
    for (const std::int64_t value : round.values) all += static_cast<double>(value);
    const double own = 1 / (round.variance * static_cast<double>(round.values.size()));
    weight += own;
    sum += all * own;
  }
  return std::max(sum / weight, 1.0);
}

/// How far the estimate is from the truth on each range, in whole rows.
std::vector<double> errors_of(std::span<const Range> ranges, std::span<const std::int64_t> sums,
                              std::span<const double> estimate) {
  std::vector<double> estimated = {0};
  for (const double cell : estimate) estimated.push_back(estimated.back() + cell);
  std::vector<double> errors;
  errors.reserve(ranges.size());
  for (const Range& range : ranges) {
    const double guess = std::round(estimated[range.end] - estimated[range.begin]);
    errors.push_back(std::abs(static_cast<double>(sums[range.end] - sums[range.begin]) -
                              std::min(guess, 0x1p52)));
  }
  return errors;
}

/// The squares of the mean weights of the pieces, and whether every piece has equal weights inside.
struct PieceSquares {
  double sum = 0;
  bool even = true;
};

PieceSquares squares_of(const MeasuredPieces& round, std::span<const double> weights) {
  PieceSquares squares;
  for (std::size_t piece = 0; piece < round.values.size(); ++piece) {
    const auto inside =
        weights.subspan(round.begins[piece], round.begins[piece + 1] - round.begins[piece]);
    double sum = 0;
    for (const double weight : inside) sum += weight;
    const double mean = sum / static_cast<double>(inside.size());
    for (const double weight : inside) squares.even = squares.even && weight == inside[0];
    squares.sum += mean * mean;
  }
  return squares;
}

/// The same of a range: pieces between those of its two ends have weight 1.
PieceSquares squares_of(const MeasuredPieces& round, const Range& range) {
  if (range.begin == range.end) return {};
  const auto piece_of = [&](std::uint32_t cell) {
    const auto after = std::upper_bound(round.begins.begin(), round.begins.end(), cell);
    return static_cast<std::size_t>(after - round.begins.begin() - 1);
  };
  const auto mean = [&](std::size_t piece) {
    const std::uint32_t begin = round.begins[piece];
    const std::uint32_t end = round.begins[piece + 1];
    return double(std::min(end, range.end) - std::max(begin, range.begin)) / double(end - begin);
  };
  const std::size_t first = piece_of(range.begin);
  const std::size_t last = piece_of(range.end - 1);
  const double low = mean(first);
  const double high = mean(last);
  if (first == last) return {low * low, low == 1};
  return {low * low + high * high + static_cast<double>(last - first - 1), low == 1 && high == 1};
}

/// The variance of the noise when the sum is answered from the measurements of one round: of the least
/// noisy round whose pieces have equal weights inside, or of the last when none is so.
template <class Question>
double best_variance(std::span<const MeasuredPieces> rounds, const Question& question) {
  double best = std::numeric_limits<double>::infinity();
  double last = 0;
  for (const MeasuredPieces& round : rounds) {
    const PieceSquares squares = squares_of(round, question);
    last = squares.sum * round.variance;
    if (squares.even) best = std::min(best, last);
  }
  return std::isinf(best) ? last : best;
}

/// Moves the estimate towards the measurements, `passes` times over all of them.
void move_towards(std::span<const MeasuredPieces> rounds, double total, int passes,
                  std::vector<double>& cells) {
  for (int pass = 0; pass < passes; ++pass) {
    for (const MeasuredPieces& round : rounds) {
      double all = 0;
      for (std::size_t piece = 0; piece < round.values.size(); ++piece) {
        const auto inside = std::span(cells).subspan(round.begins[piece],
                                                     round.begins[piece + 1] - round.begins[piece]);
        double sum = 0;
        for (const double cell : inside) sum += cell;
        const double gap = static_cast<double>(round.values[piece]) - sum;
        const double factor = std::exp(std::clamp(gap / (2 * total), -1.0, 1.0));
        for (double& cell : inside) cell *= factor;
        all += sum * factor;
      }
      for (double& cell : cells) cell *= total / all;
    }
  }
}

}  // namespace

MwemHistogram::MwemHistogram(Options options) : options_(std::move(options)) {
  check_budget({options_.epsilon, 0, options_.rows_per_unit});
  check_dense(options_.shape);
  require(options_.shape->axes() == 1 && options_.shape->cells() <= 1u << 20,
          "shape: must have one axis of at most 2^20 cells");
  for (const Ratio& share : {options_.total_share, options_.choice_share})
    require(share > 0 && share < 1,
            "total_share and choice_share must lie strictly between 0 and 1");
  require(options_.rounds <= 100, "rounds: must be at most 100; 0 chooses");
  for (const Box& box : options_.ranges)
    require(box.begin.size() == 1 && box.end.size() == 1 && box.begin[0] < box.end[0] &&
                box.end[0] <= options_.shape->extents[0],
            "ranges: must lie inside the histogram, none empty");
}

CountNoise MwemHistogram::total_noise() const {
  return CountNoise::laplace(Ratio(options_.epsilon.get() * options_.total_share),
                             options_.rows_per_unit);
}

// How many rounds there are is known only after the first measurement, hence a pure price for the rest.
Event MwemHistogram::event() const {
  const Event rounds{events::Pure{options_.epsilon.get() * (1 - options_.total_share)},
                     Relation::kAddRemove};
  return {events::Composed{{total_noise().event(), rounds}}, Relation::kAddRemove};
}

// The estimate has at least one row, hence the one more.
Accuracy MwemHistogram::accuracy(double confidence) const {
  return {noise_half_width(total_noise().variance(), confidence, false) + 1, confidence,
          "noise of the total"};
}

std::uint32_t MwemHistogram::rounds_for(double rows) const {
  if (options_.rounds > 0) return options_.rounds;
  const double scale =
      round_down(options_.epsilon) / static_cast<double>(options_.rows_per_unit.get());
  const int most = std::max(1, static_cast<int>(std::bit_width(options_.shape->cells() - 1)));
  const double wanted = std::round(std::log2(std::clamp(rows * scale, 4.0, 0x1p60)));
  return static_cast<std::uint32_t>(std::min<double>(wanted, most));
}

Release<RangeHistogram> MwemHistogram::run(std::span<const std::int64_t> counts,
                                           Context& context) const {
  if (counts.size() != options_.shape->cells())
    throw Error(ErrorCode::kInvalidInput, "there must be one count for each cell of the shape");
  StepMeter steps(event(), context);
  const auto cells = static_cast<std::uint32_t>(counts.size());
  std::vector<Range> ranges;
  for (const Box& box : options_.ranges) ranges.push_back({box.begin[0], box.end[0]});
  if (ranges.empty()) ranges = default_ranges(cells);
  const std::vector<std::int64_t> sums = running_sums(counts);

  const CountNoise total_noise = this->total_noise();
  const std::vector<std::int64_t> all = {sums.back()};
  const MeasuredPieces total{
      {0, cells}, total_noise.run(all, steps.context()), total_noise.variance()};
  const std::uint32_t rounds = rounds_for(static_cast<double>(total.values[0]));
  const Ratio round_epsilon = options_.epsilon.get() * (1 - options_.total_share) / rounds;
  const ExponentialMechanism choose({.epsilon = Ratio(round_epsilon * options_.choice_share),
                                     .sensitivity = Ratio(options_.rows_per_unit.get())});
  const CountNoise noise = CountNoise::laplace(Ratio(round_epsilon * (1 - options_.choice_share)),
                                               options_.rows_per_unit);

  std::vector<MeasuredPieces> measured;
  double rows = fitted_total(total, measured);
  std::vector<double> estimate(cells, rows / cells);
  for (std::uint32_t round = 1; round <= rounds; ++round) {
    const auto scores = errors_of(ranges, sums, estimate);
    const Range worst = ranges[choose.run(scores, steps.context()).value];
    const std::uint32_t width = std::max(1u, cells >> std::min(round, 31u));
    const auto begins = partition_around(worst, width, cells);
    std::vector<std::int64_t> values;
    for (std::size_t i = 0; i + 1 < begins.size(); ++i)
      values.push_back(sums[begins[i + 1]] - sums[begins[i]]);
    measured.push_back({begins, noise.run(values, steps.context()), noise.variance()});
    rows = fitted_total(total, measured);
    move_towards(measured, rows, round < rounds ? 50 : 100, estimate);
  }
  const auto all_measured =
      std::make_shared<const std::vector<MeasuredPieces>>(std::move(measured));
  return {RangeHistogram(
              options_.shape, estimate,
              [all_measured](std::span<const double> weights) {
                return best_variance(*all_measured, weights);
              },
              false,
              [all_measured](const Box& box) {
                return best_variance(*all_measured, Range{box.begin[0], box.end[0]});
              }),
          accuracy(), event()};
}

}  // namespace gauze
