#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gauze/base/error.h"
#include "gauze/histogram/buckets.h"
#include "gauze/histogram/cells.h"
#include "gauze/histogram/histogram_method.h"
#include "gauze/registry/common_options.h"

// What the entries of histogram methods share.
namespace gauze::internal {

std::vector<HistogramEntry> cell_histograms();
std::vector<HistogramEntry> point_histograms();

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

/// The same whatever was released.
inline LeftOut says(const char* text) {
  return [text](const OptionValues&, const std::string&) { return std::string(text); };
}
inline const char* const kNothing = "";
inline const char* const kEvenBoxes = "what spreading a box evenly adds is not in it";

/// An entry whose method `make` builds from its options and a shape.
template <class Make>
HistogramEntry entry(Algorithm about, Make make, LeftOut left_out = says(kEvenBoxes)) {
  about.input = kCounts;
  if (about.example.empty())
    about.example = "gauze release " + about.name + " --epsilon 0.5 --data hospital --column age";
  return {.about = std::move(about),
          .on = [make](const OptionValues& values,
                       const Shape& shape) { return method_of(make(values, shape), shape); },
          .left_out = std::move(left_out)};
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
