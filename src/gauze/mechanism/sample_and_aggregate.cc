#include "gauze/mechanism/sample_and_aggregate.h"

#include <algorithm>
#include <cmath>

#include "gauze/base/error.h"
#include "gauze/mechanism/additive_internal.h"
#include "gauze/mechanism/quantile_internal.h"
#include "gauze/mechanism/range_internal.h"
#include "gauze/mechanism/selection_internal.h"
#include "gauze/numeric/exact_sum.h"
#include "gauze/random/uniform.h"

namespace gauze {
namespace {

constexpr std::uint64_t kMostBlocks = std::uint64_t{1} << 24;
constexpr std::uint64_t kMostNumbers = std::uint64_t{1} << 20;

std::uint64_t checked_numbers(std::uint64_t k, std::uint64_t dimension) {
  require(k >= 1 && k <= kMostNumbers, "k must lie between 1 and 2^20");
  require(dimension >= 1 && dimension <= kMostNumbers, "dimension must lie between 1 and 2^20");
  return k * dimension;
}

}  // namespace

SampleAndAggregate::SampleAndAggregate(Options options) : options_(std::move(options)) {
  internal::check_tabular(options_.epsilon, options_.relation);
  require(options_.blocks >= 1 && options_.blocks <= kMostBlocks,
          "blocks must lie between 1 and 2^24");
  require(options_.dimension >= 1 && options_.dimension <= kMostNumbers,
          "dimension must lie between 1 and 2^20");
  range_ = std::make_shared<const internal::RealRange>(options_.lower, options_.upper);
  // One record is in one block, which moves each coordinate of the sum by the width at most.
  const Ratio sensitivity = range_->width() * Ratio(Integer(options_.dimension));
  noise_ = std::make_shared<const internal::LatticeNoise>(internal::LatticeNoise::laplace(
      sensitivity, Ratio(sensitivity / options_.epsilon.get()), options_.dimension));
  domain_ = std::make_shared<const internal::QuantileDomain>(options_.lower, options_.upper, 0);
}

Event SampleAndAggregate::event() const {
  if (options_.aggregate == BlockAggregate::kMean) {
    return {noise_->laplace_event(), options_.relation};
  }
  const Ratio each = options_.epsilon.get() / Ratio(Integer(options_.dimension));
  return {events::Exponential{each}, options_.relation, options_.dimension};
}

/// One block's answer is replaced, which moves a rank by 1.
Ratio SampleAndAggregate::median_rate() const {
  return options_.epsilon.get() / Ratio(Integer(2 * options_.dimension));
}

Accuracy SampleAndAggregate::accuracy(double confidence) const {
  const double beta = internal::failure_probability(confidence);
  if (options_.aggregate == BlockAggregate::kMedian) {
    return {internal::selection_radius(median_rate(), domain_->size(), beta), confidence, "rank"};
  }
  const double sum = noise_->laplace_radius(beta);
  return {std::nextafter(sum / static_cast<double>(options_.blocks.get()), INFINITY), confidence,
          "average of the blocks"};
}

std::vector<std::vector<double>> SampleAndAggregate::answers(const BlockProgram& program,
                                                             BitSource& bits) const {
  std::vector<std::vector<std::uint64_t>> blocks(options_.blocks);
  for (std::uint64_t i = 0; i < program.records; ++i) {
    blocks[uniform_below(bits, options_.blocks)].push_back(i);
  }
  const double middle = nearest_double(range_->middle());
  std::vector<std::vector<double>> result;
  result.reserve(blocks.size());
  for (const std::vector<std::uint64_t>& block : blocks) {
    std::vector<double> answer;
    try {
      answer = program.answer(block);
    } catch (...) {  // an error must not tell of the records
      answer.clear();
    }
    answer.resize(options_.dimension, middle);
    for (double& each : answer) each = range_->clamp(std::isnan(each) ? middle : each);
    result.push_back(std::move(answer));
  }
  return result;
}

Release<std::vector<double>> SampleAndAggregate::run(const BlockProgram& program,
                                                     Context& context) const {
  context.meter.charge(event());
  const std::vector<std::vector<double>> blocks = answers(program, context.bits);
  std::vector<double> released;
  for (std::uint64_t i = 0; i < options_.dimension; ++i) {
    std::vector<double> coordinate;
    coordinate.reserve(blocks.size());
    for (const std::vector<double>& answer : blocks) coordinate.push_back(answer[i]);
    if (options_.aggregate == BlockAggregate::kMedian) {
      const std::vector<internal::Run> runs = domain_->runs(coordinate);
      released.push_back(domain_->value(internal::choose_quantile(
          runs, 0, domain_->size() - 1, {Ratio(1, 2)}, median_rate(), context.bits)));
    } else {
      const Integer sum = noise_->add(ExactSum(coordinate).value(), context.bits);
      released.push_back(noise_->lattice().value(sum) / static_cast<double>(options_.blocks.get()));
    }
  }
  return {released, accuracy(), event()};
}

namespace {

using Point = std::vector<double>;

double squared_distance(const Point& a, const Point& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return sum;
}

/// k points of the block, each as far as can be from those before it (Gonzalez 1985).
std::vector<Point> spread_out(const std::vector<Point>& points, std::uint64_t k) {
  std::vector<Point> chosen = {points.front()};
  std::vector<double> distance(points.size(), HUGE_VAL);
  while (chosen.size() < k) {
    for (std::size_t i = 0; i < points.size(); ++i) {
      distance[i] = std::min(distance[i], squared_distance(points[i], chosen.back()));
    }
    const auto farthest = std::max_element(distance.begin(), distance.end()) - distance.begin();
    chosen.push_back(points[static_cast<std::size_t>(farthest)]);
  }
  return chosen;
}

/// Lloyd's iterations. Any program would do: privacy asks nothing of it.
std::vector<Point> k_means(const std::vector<Point>& points, std::vector<Point> centres) {
  constexpr int kIterations = 20;
  for (int iteration = 0; iteration < kIterations; ++iteration) {
    std::vector<Point> sums(centres.size(), Point(centres.front().size(), 0));
    std::vector<double> counts(centres.size(), 0);
    for (const Point& point : points) {
      const auto nearest = static_cast<std::size_t>(
          std::min_element(centres.begin(), centres.end(),
                           [&](const Point& a, const Point& b) {
                             return squared_distance(point, a) < squared_distance(point, b);
                           }) -
          centres.begin());
      ++counts[nearest];
      for (std::size_t i = 0; i < point.size(); ++i) sums[nearest][i] += point[i];
    }
    for (std::size_t c = 0; c < centres.size(); ++c) {
      if (counts[c] == 0) continue;  // nobody's: it stays where it is
      for (std::size_t i = 0; i < sums[c].size(); ++i) centres[c][i] = sums[c][i] / counts[c];
    }
  }
  return centres;
}

}  // namespace

BlockKMeans::BlockKMeans(Options options)
    : options_(std::move(options)),
      aggregate_({.lower = options_.lower,
                  .upper = options_.upper,
                  .blocks = options_.blocks,
                  .epsilon = options_.epsilon,
                  .relation = options_.relation,
                  .dimension = checked_numbers(options_.k, options_.dimension)}) {}

Release<std::vector<double>> BlockKMeans::run(std::span<const double> points,
                                              Context& context) const {
  context.meter.charge(event());
  const internal::RealRange range(options_.lower, options_.upper);
  const std::uint64_t dimension = options_.dimension;
  const auto centres_of = [&](std::span<const std::uint64_t> block) {
    std::vector<Point> members;
    for (const std::uint64_t i : block) {
      Point point;
      for (std::uint64_t j = 0; j < dimension; ++j) {
        point.push_back(range.clamp(points[i * dimension + j]));
      }
      members.push_back(std::move(point));
    }
    if (members.empty()) return std::vector<double>();
    std::vector<Point> centres = k_means(members, spread_out(members, options_.k));
    // The same centre should have the same place in every block's answer.
    std::sort(centres.begin(), centres.end());
    std::vector<double> flat;
    for (const Point& centre : centres) flat.insert(flat.end(), centre.begin(), centre.end());
    return flat;
  };
  Meter own(aggregate_.event());
  Context paid{own, context.bits};
  auto answer = aggregate_.run({points.size() / dimension, centres_of}, paid);
  return {std::move(answer.value), accuracy(), event()};
}

}  // namespace gauze
