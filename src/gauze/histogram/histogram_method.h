#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "gauze/accounting/release.h"
#include "gauze/histogram/cells.h"
#include "gauze/histogram/range_histogram.h"
#include "gauze/registry/algorithm.h"

// Histogram methods by name:
//
//     const HistogramEntry entry = find_histogram("dawa");
//     HistogramMethod method = entry.on(OptionValues(entry.about.options, {...}), shape);
//     Release<RangeHistogram> released = method.run(points, context);
namespace gauze {

/// A histogram method with its options on a shape, ready to run.
struct HistogramMethod {
  Event event;
  std::function<Accuracy(double confidence)> accuracy;
  std::function<Release<RangeHistogram>(const Points& points, Context& context)> run;
};

/// What the error bars of a release leave out, in words; "" for nothing. `note` is the histogram's own.
using LeftOut = std::function<std::string(const OptionValues& values, const std::string& note)>;

/// A histogram method that can be asked for by name.
struct HistogramEntry {
  Algorithm about;  ///< texts and options
  std::function<HistogramMethod(const OptionValues& values, const Shape& shape)> on = {};
  LeftOut left_out = {};
  bool points = false;  ///< for points in space, whose cells are only a fine grid
};

/// All of them, in the order in which they are listed.
std::vector<HistogramEntry> histogram_entries();

/// Throws `kUnknownName`.
HistogramEntry find_histogram(std::string_view name);

}  // namespace gauze
