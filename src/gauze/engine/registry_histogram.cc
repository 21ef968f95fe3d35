#include "gauze/base/error.h"
#include "gauze/engine/registry_internal.h"
#include "gauze/histogram/adaptive_grid.h"
#include "gauze/histogram/auto_histogram.h"
#include "gauze/histogram/dawa.h"
#include "gauze/histogram/flat.h"
#include "gauze/histogram/hierarchical.h"
#include "gauze/histogram/noise_first.h"
#include "gauze/histogram/pruned_hierarchy.h"
#include "gauze/histogram/uniform_grid.h"

// Counts over a domain, for ranges of cells.
namespace gauze::internal {
namespace {

using Type = OptionSpec::Type;

const char* const kInput =
    "a count for each cell, one per line, the last axis fastest; how many there are is public";

OptionSpec cells_option() {
  return {"cells", Type::kNumbers,
          "how many cells each axis has; on tables 0 takes categories, bins or values as they are",
          ""};
}
OptionSpec rows_per_unit_option() {
  return {"rows_per_unit", Type::kWhole,
          "at most so many rows of a person take part; on tables the schema's", ""};
}
OptionSpec delta_option() {
  return {"delta", Type::kNumber,
          "above 0 allows Gaussian noise where that is smaller; 0 promises most", "0"};
}

/// What all methods take, then their own.
std::vector<OptionSpec> options(bool delta, std::vector<OptionSpec> more = {}) {
  std::vector<OptionSpec> all = {epsilon_option(), rows_per_unit_option(), cells_option()};
  if (delta) all.push_back(delta_option());
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

Shape shape_of(const OptionValues& values) {
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
nlohmann::json json_of(const RangeHistogram& histogram) {
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

Job job_on_counts(HistogramMethod method, const Shape& shape) {
  return Job(
      method.event,
      [method](std::uint64_t, double confidence) { return method.accuracy(confidence); },
      [method, shape](const Rows& rows, Context& context) {
        auto released = method.run(points_of(shape, rows.integer_vector()), context);
        return Release<nlohmann::json>{json_of(released.value), std::move(released.accuracy),
                                       std::move(released.spent)};
      });
}

/// An entry whose method `make` builds from its options and a shape.
template <class Make>
Algorithm entry(Algorithm about, Make make) {
  about.input = kInput;
  about.histogram = [make](const OptionValues& values, const Shape& shape) {
    return method_of(make(values, shape), shape);
  };
  about.make = [make](const OptionValues& values) {
    const Shape shape = shape_of(values);
    return job_on_counts(method_of(make(values, shape), shape), shape);
  };
  return about;
}

const char* const kPure = "Pure differential privacy, epsilon.";
const char* const kPureOrNot =
    "Pure differential privacy, epsilon; with delta above 0 (epsilon, delta).";

OptionSpec aim_option() {
  return {"aim", Type::kText, "what to be good at: ranges or cells", "ranges"};
}
OptionSpec expected_rows_option() {
  return {"expected_rows", Type::kWhole,
          "about how many rows there are, if that is public; 0 pays for an estimate", "0"};
}
OptionSpec count_share_option() {
  return {"count_share", Type::kNumber, "of epsilon, for that estimate, between 0 and 1", "0.01"};
}

HistogramAim aim_of(const OptionValues& values) {
  const std::string word = values.text("aim");
  require(word == "ranges" || word == "cells", "aim: must be ranges or cells");
  return word == "cells" ? HistogramAim::kCells : HistogramAim::kRanges;
}

Algorithm flat() {
  return entry({.name = "flat_histogram",
                .summary = "Counts of all cells with noise on each; best for few cells",
                .guarantee = kPureOrNot,
                .accuracy = "Each cell within rows_per_unit ln(1/beta)/epsilon; the variance of a "
                            "range grows with its cells.",
                .cost = "Time and memory proportional to the cells.",
                .source = "Dwork, McSherry, Nissim and Smith (2006).",
                .document = "src/gauze/histogram/flat.md",
                .options = options(true)},
               [](const OptionValues& values, const Shape& shape) {
                 return FlatHistogram({.shape = shape,
                                       .epsilon = values.number("epsilon"),
                                       .rows_per_unit = values.whole("rows_per_unit"),
                                       .delta = values.number("delta")});
               });
}

Algorithm hierarchical() {
  return entry(
      {.name = "hierarchical_histogram",
       .summary = "Counts of cells and of blocks of cells, fitted to each other; good at ranges",
       .guarantee = kPureOrNot,
       .accuracy = "Any range; its variance grows with the cube of the logarithm of its length "
                   "at most, and every answer states its own.",
       .cost = "Time and memory proportional to the cells.",
       .source = "Hay, Rastogi, Miklau and Suciu (2010); Qardaji, Yang and Li (2013).",
       .document = "src/gauze/histogram/hierarchical.md",
       .options = options(
           true, {{"branching", Type::kWhole,
                   "children of a block along each axis, 2 or more; 0 chooses "
                   "by the exact error",
                   "0"},
                  {"budget", Type::kText, "how levels share it: equal or geometric", "equal"}})},
      [](const OptionValues& values, const Shape& shape) {
        const std::string budget = values.text("budget");
        require(budget == "equal" || budget == "geometric", "budget: must be equal or geometric");
        const std::uint64_t branching = values.whole("branching");
        require(branching <= 1u << 20, "branching: must be at most 2^20");
        return HierarchicalHistogram(
            {.shape = shape,
             .epsilon = values.number("epsilon"),
             .rows_per_unit = values.whole("rows_per_unit"),
             .delta = values.number("delta"),
             .branching = static_cast<std::uint32_t>(branching),
             .budget = budget == "equal" ? LevelBudget::kEqual : LevelBudget::kGeometric});
      });
}

Algorithm automatic() {
  return entry(
      {.name = "auto_histogram",
       .summary = "Counts over a domain by the method that suits its size and the questions",
       .guarantee = kPureOrNot,
       .accuracy = "That of the method it takes, which it names; every answer states its own.",
       .cost = "Time and memory proportional to rows and cells.",
       .source = "Chosen by measurements on public arrays: docs/histograms.md.",
       .document = "src/gauze/histogram/auto_histogram.md",
       .options = options(true, {aim_option(), expected_rows_option()})},
      [](const OptionValues& values, const Shape& shape) {
        return AutoHistogram({.shape = shape,
                              .epsilon = values.number("epsilon"),
                              .rows_per_unit = values.whole("rows_per_unit"),
                              .delta = values.number("delta"),
                              .aim = aim_of(values),
                              .expected_rows = values.whole("expected_rows")});
      });
}

Algorithm pruned() {
  return entry(
      {.name = "pruned_hierarchy",
       .summary =
           "Counts of cells and blocks, fitted; then blocks that look even are spread evenly",
       .guarantee = kPureOrNot,
       .accuracy = "The noise of each cell before pruning; every answer states its own.",
       .cost = "Time and memory proportional to the cells.",
       .source =
           "The hierarchy of Hay, Rastogi, Miklau and Suciu (2010) with the pruning of regression "
           "trees of Breiman, Friedman, Olshen and Stone (1984).",
       .document = "src/gauze/histogram/pruned_hierarchy.md",
       .options = options(
           true, {aim_option(),
                  {"split_price", Type::kNumber,
                   "what a split has to show, in variances of its noise; 0 prunes nothing", "8"}})},
      [](const OptionValues& values, const Shape& shape) {
        return PrunedHierarchy({.shape = shape,
                                .epsilon = values.number("epsilon"),
                                .rows_per_unit = values.whole("rows_per_unit"),
                                .delta = values.number("delta"),
                                .aim = aim_of(values),
                                .split_price = values.real("split_price")});
      });
}

Algorithm dawa() {
  return entry(
      {.name = "dawa",
       .summary = "Finds blocks of even counts first, then counts the blocks; for sparse or "
                  "clustered data",
       .guarantee = kPure,
       .accuracy = "The noise of each block; what spreading it evenly adds depends on the data.",
       .cost = "Time proportional to cells times their logarithm.",
       .source = "Li, Hay and Miklau (2014), with the noise of the first stage corrected.",
       .document = "src/gauze/histogram/dawa.md",
       .options = options(false, {{"partition_share", Type::kNumber,
                                   "of epsilon, for finding the blocks, between 0 and 1", "1/3"},
                                  aim_option()})},
      [](const OptionValues& values, const Shape& shape) {
        return DawaHistogram({.shape = shape,
                              .epsilon = values.number("epsilon"),
                              .rows_per_unit = values.whole("rows_per_unit"),
                              .partition_share = values.number("partition_share"),
                              .aim = aim_of(values)});
      });
}

Algorithm noise_first() {
  return entry({.name = "noise_first",
                .summary = "Noise on every cell, then neighbours that look alike are merged",
                .guarantee = kPureOrNot,
                .accuracy = "Noise of each cell before merging.",
                .cost = "Time proportional to the cells.",
                .source = "Xu, Zhang, Xiao, Yang, Yu and Winslett (2013).",
                .document = "src/gauze/histogram/noise_first.md",
                .options = options(
                    true, {{"segment_price", Type::kNumber,
                            "what another segment has to save, in variances of one cell", "16"}})},
               [](const OptionValues& values, const Shape& shape) {
                 return NoiseFirstHistogram({.shape = shape,
                                             .epsilon = values.number("epsilon"),
                                             .rows_per_unit = values.whole("rows_per_unit"),
                                             .delta = values.number("delta"),
                                             .segment_price = values.real("segment_price")});
               });
}

Algorithm uniform_grid() {
  Algorithm about =
      entry({.name = "uniform_grid",
             .summary = "Points counted in equal boxes, as fine as their number allows",
             .guarantee = kPureOrNot,
             .accuracy = "The noise of each box; boxes that a range cuts count by area.",
             .cost = "Time proportional to points and boxes.",
             .source = "Qardaji, Yang and Li (2013).",
             .document = "src/gauze/histogram/uniform_grid.md",
             .options = options(
                 true, {expected_rows_option(),
                        count_share_option(),
                        {"coarseness", Type::kNumber,
                         "larger for fewer boxes, for data that are spread evenly", "10"}})},
            [](const OptionValues& values, const Shape& shape) {
              return UniformGrid({.shape = shape,
                                  .epsilon = values.number("epsilon"),
                                  .rows_per_unit = values.whole("rows_per_unit"),
                                  .delta = values.number("delta"),
                                  .expected_rows = values.whole("expected_rows"),
                                  .count_share = values.number("count_share"),
                                  .coarseness = values.number("coarseness")});
            });
  about.points = true;
  return about;
}

Algorithm adaptive_grid() {
  Algorithm about = entry(
      {.name = "adaptive_grid",
       .summary = "Points counted in boxes that are small where there are many; best for places",
       .guarantee = kPureOrNot,
       .accuracy = "The noise of each box; boxes that a range cuts count by area.",
       .cost = "Time proportional to points and boxes.",
       .source = "Qardaji, Yang and Li (2013), with the correction of its leaves.",
       .document = "src/gauze/histogram/adaptive_grid.md",
       .options = options(true, {expected_rows_option(),
                                 count_share_option(),
                                 {"coarse_share", Type::kNumber,
                                  "of the rest, for the coarse grid, between 0 and 1", "1/2"},
                                 {"coarseness", Type::kNumber, "of the coarse grid", "10"},
                                 {"fine_coarseness", Type::kNumber, "of the fine grids", "3"}})},
      [](const OptionValues& values, const Shape& shape) {
        return AdaptiveGrid({.shape = shape,
                             .epsilon = values.number("epsilon"),
                             .rows_per_unit = values.whole("rows_per_unit"),
                             .delta = values.number("delta"),
                             .expected_rows = values.whole("expected_rows"),
                             .count_share = values.number("count_share"),
                             .coarse_share = values.number("coarse_share"),
                             .coarseness = values.number("coarseness"),
                             .fine_coarseness = values.number("fine_coarseness")});
      });
  about.points = true;
  return about;
}

}  // namespace

std::vector<Algorithm> histogram_algorithms() {
  return {automatic(), flat(),        hierarchical(), pruned(),
          dawa(),      noise_first(), uniform_grid(), adaptive_grid()};
}

}  // namespace gauze::internal
