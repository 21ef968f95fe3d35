#pragma once

#include "gauze/base/error.h"
#include "gauze/engine/registry_internal.h"
#include "gauze/histogram/buckets.h"
#include "gauze/histogram/cells.h"

// What the entries of histogram methods share.
namespace gauze::internal {

std::vector<Algorithm> cell_histograms();
std::vector<Algorithm> point_histograms();

inline const char* const kCounts =
    "a count for each cell, one per line, the last axis fastest; how many there are is public";

inline OptionSpec cells_option() {
  return {"cells", OptionSpec::Type::kNumbers,
          "how many cells each axis has; on tables 0 takes categories, bins or values as they are",
          ""};
}
inline OptionSpec rows_per_unit_option() {
  return {"rows_per_unit", OptionSpec::Type::kWhole,
          "at most so many rows of a person take part; on tables the schema's", ""};
}
inline OptionSpec delta_option() {
  return {"delta", OptionSpec::Type::kNumber,
          "above 0 allows Gaussian noise where that is smaller; 0 promises most", "0"};
}

/// What all methods take, then their own.
inline std::vector<OptionSpec> histogram_options(bool delta, std::vector<OptionSpec> more = {}) {
  std::vector<OptionSpec> all = {epsilon_option(), rows_per_unit_option(), cells_option()};
  if (delta) all.push_back(delta_option());
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

inline Shape shape_of(const OptionValues& values) {
  Shape shape;
  for (const std::uint64_t cells : values.wholes("cells")) {
    require(cells >= 1 && cells <= 1u << 31,
            "cells: must be how many cells each axis has, like 100 or 256,256");
    shape.extents.push_back(static_cast<std::uint32_t>(cells));
  }
  check_shape(shape);
  return shape;
}

/// Values by cell where there are few enough, else [first cell ..., end ..., value] of each leaf.
inline nlohmann::json json_of(const RangeHistogram& histogram) {
  if (histogram.shape().cells() <= 1u << 20) return histogram.cells();
  nlohmann::json leaves = nlohmann::json::array();
  for (const RangeHistogram::Leaf& leaf : histogram.partition())
    leaves.push_back({leaf.box.begin, leaf.box.end, leaf.value});
  return leaves;
}

template <class Method>
HistogramMethod method_of(Method method, const Shape& shape) {
  const auto shared = std::make_shared<const Method>(std::move(method));
  return {shared->event(), [shared](double confidence) { return shared->accuracy(confidence); },
          [shared, shape](const Points& points, Context& context) {
            if constexpr (requires { shared->run(points, context); }) {
              return shared->run(points, context);
            } else {
              const std::vector<std::int64_t> counts = counts_of(shape, points);
              return shared->run(std::span(counts), context);
            }
          }};
}

inline Job job_on_counts(HistogramMethod method, const Shape& shape) {
  return Job(
      method.event,
      [method](std::uint64_t, double confidence) { return method.accuracy(confidence); },
      [method, shape](const Rows& rows) {
        return [method, points = points_of(shape, rows.integer_vector())](Context& context) {
          auto released = method.run(points, context);
          return Release<nlohmann::json>{json_of(released.value), std::move(released.accuracy),
                                         std::move(released.spent)};
        };
      });
}

/// An entry whose method `make` builds from its options and a shape.
template <class Make>
Algorithm entry(Algorithm about, Make make) {
  about.input = kCounts;
  about.histogram = [make](const OptionValues& values, const Shape& shape) {
    return method_of(make(values, shape), shape);
  };
  about.make = [make](const OptionValues& values) {
    const Shape shape = shape_of(values);
    return job_on_counts(method_of(make(values, shape), shape), shape);
  };
  return about;
}

inline const char* const kPure = "Pure differential privacy, epsilon.";
inline const char* const kPureOrNot =
    "Pure differential privacy, epsilon; with delta above 0 (epsilon, delta).";

inline OptionSpec aim_option() {
  return {"aim", OptionSpec::Type::kText, "what to be good at: ranges or cells", "ranges"};
}
inline OptionSpec asked_option() {
  return {
      "asked", OptionSpec::Type::kNumbers,
      "with workload asked: the first and the last cell of a range along each axis, then of the "
      "next; on the command line --range says it",
      "0"};
}
/// Throws `kInvalidOption` when there is no range, or one that is not inside.
inline std::vector<Box> asked_of(const OptionValues& values, const Shape& shape) {
  const std::vector<std::uint64_t> ends = values.wholes("asked");
  const std::size_t each = 2 * shape.axes();
  require(ends.size() >= each && ends.size() % each == 0,
          "workload: asked needs what will be asked; say it with --range, as often as you like");
  std::vector<Box> boxes;
  for (std::size_t at = 0; at < ends.size(); at += each) {
    Box box;
    for (std::size_t axis = 0; axis < shape.axes(); ++axis) {
      const std::uint64_t first = ends[at + 2 * axis];
      const std::uint64_t last = ends[at + 2 * axis + 1];
      require(first <= last && last < shape.extents[axis],
              "asked: the last cell must not come before the first, and lie inside");
      box.begin.push_back(static_cast<std::uint32_t>(first));
      box.end.push_back(static_cast<std::uint32_t>(last + 1));
    }
    boxes.push_back(std::move(box));
  }
  return boxes;
}

inline OptionSpec expected_rows_option() {
  return {"expected_rows", OptionSpec::Type::kWhole,
          "about how many rows there are, if that is public; 0 pays for an estimate", "0"};
}
inline OptionSpec count_share_option() {
  return {"count_share", OptionSpec::Type::kNumber,
          "of epsilon, for that estimate, between 0 and 1", "0.01"};
}

inline HistogramAim aim_of(const OptionValues& values) {
  const std::string word = values.text("aim");
  require(word == "ranges" || word == "cells", "aim: must be ranges or cells");
  return word == "cells" ? HistogramAim::kCells : HistogramAim::kRanges;
}

}  // namespace gauze::internal
