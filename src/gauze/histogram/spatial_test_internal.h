#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <vector>

#include "gauze/histogram/range_histogram.h"
#include "gauze/random/uniform.h"
#include "gauze/testing/contract.h"
#include "gauze/testing/seeded_bits.h"

namespace gauze::testing {

/// `rows` points, nine in ten of them in clusters of a 64th of each axis, the rest anywhere.
inline Points clustered(const Shape& shape, std::size_t rows, std::uint64_t seed) {
  SeededBits bits(seed);
  std::vector<std::uint32_t> centres;
  for (int cluster = 0; cluster < 20; ++cluster)
    for (const std::uint32_t extent : shape.extents)
      centres.push_back(static_cast<std::uint32_t>(uniform_below(bits, extent)));
  Points points;
  for (std::size_t row = 0; row < rows; ++row) {
    const bool anywhere = uniform_below(bits, 10) == 0;
    const std::size_t cluster = uniform_below(bits, uniform_below(bits, 20) + 1);
    for (std::size_t axis = 0; axis < shape.axes(); ++axis) {
      const std::uint64_t extent = shape.extents[axis];
      const std::uint64_t spread = extent / 64 + 1;
      std::uint64_t at = uniform_below(bits, extent);
      if (!anywhere) {
        at = centres[cluster * shape.axes() + axis] + uniform_below(bits, spread) +
             uniform_below(bits, spread);
      }
      points.coordinates.push_back(static_cast<std::uint32_t>(std::min(at, extent - 1)));
    }
  }
  return points;
}

inline double rows_in(const Shape& shape, const Points& points, const Box& box) {
  double sum = 0;
  for (std::size_t row = 0; row < points.rows(shape); ++row) {
    bool inside = true;
    for (std::size_t axis = 0; axis < shape.axes(); ++axis) {
      const std::uint32_t at = points.coordinates[row * shape.axes() + axis];
      inside = inside && box.begin[axis] <= at && at < box.end[axis];
    }
    sum += inside ? double(points.weight(row)) : 0;
  }
  return sum;
}

/// The mean over `runs` of squared error over stated variance: 1 when variances are right and the box
/// cuts no leaf. It deviates by more than 5 sqrt(5 / runs) with probability below 10^-6: the fourth
/// moment of any of these noises is at most 6 times the squared variance.
template <class Method>
double variance_ratio(const Method& method, const Points& points, const Box& box, int runs,
                      std::uint64_t seed) {
  SeededBits bits(seed);
  const double truth = rows_in(Shape{box.end}, points, box);  // only the number of axes matters
  double sum = 0;
  for (int run = 0; run < runs; ++run) {
    const RangeEstimate estimate = release_once(method, points, bits).range(box);
    const double error = estimate.value - truth;
    sum += error * error / estimate.variance;
  }
  return sum / runs;
}

/// True when the leaves do not overlap and cover every cell of a dense shape.
inline bool leaves_partition(const RangeHistogram& histogram) {
  const Shape& shape = histogram.shape();
  std::vector<int> seen(shape.cells(), 0);
  double volume = 0;
  for (const auto& leaf : histogram.partition()) {
    volume += leaf.box.volume();
    std::vector<std::uint32_t> at = leaf.box.begin;
    for (std::size_t left = static_cast<std::size_t>(leaf.box.volume()); left > 0; --left) {
      std::size_t cell = 0;
      for (std::size_t axis = 0; axis < at.size(); ++axis)
        cell = cell * shape.extents[axis] + at[axis];
      ++seen[cell];
      for (std::size_t axis = at.size(); axis-- > 0;) {
        if (++at[axis] < leaf.box.end[axis]) break;
        at[axis] = leaf.box.begin[axis];
      }
    }
  }
  return volume == double(shape.cells()) &&
         std::all_of(seen.begin(), seen.end(), [](int times) { return times == 1; });
}

/// Data that have broken methods of this kind: nothing, one cell, one cell holding everything, sums
/// beyond 64 bits, axes that no power divides, many axes, many empty cells.
template <class Make>
void expect_edge_cases(const Make& make) {
  const auto run = [&](const Shape& shape, const Points& points) {
    SeededBits bits(7);
    const auto method = make(shape);
    const RangeHistogram histogram = release_once(method, points, bits);
    EXPECT_TRUE(std::isfinite(histogram.total().value));
    EXPECT_TRUE(std::isfinite(histogram.total().half_width));
    EXPECT_TRUE(shape.cells() > 1u << 16 || leaves_partition(histogram));
    return histogram.total();
  };
  const auto near = [](const RangeEstimate& total, double truth) {
    // Eight times the half width of 95 % fails with probability below 10^-9.
    EXPECT_NEAR(total.value, truth, 8 * total.half_width + 1e-9 * truth);
  };
  near(run(Shape{{1, 1}}, {}), 0);
  near(run(Shape{{1}}, {{0, 0, 0}}), 3);
  near(run(Shape{{37, 5}}, {}), 0);
  near(run(Shape{{37, 5}}, {{36, 4}, {1'000'000}}), 1e6);
  near(run(Shape{{3, 2, 5, 7}}, {{2, 1, 4, 6, 0, 0, 0, 0}, {1000, 2000}}), 3000);
  near(run(Shape{{1000, 1000}}, {{999, 999}, {1'000'000}}), 1e6);
  near(run(Shape{{8, 8}}, {{0, 0}, {std::int64_t{1} << 62}}), 0x1p62);
  near(run(Shape{{8, 8}}, {{0, 0, 0, 0}, {std::int64_t{1} << 62, std::int64_t{1} << 62}}), 0x1p63);
  near(run(Shape{{1u << 20, 1u << 20}}, {{0, 0, 1048575, 1048575}, {5000, 5000}}), 1e4);
}

}  // namespace gauze::testing
