#include "gauze/histogram/adaptive_grid.h"
#include "gauze/histogram/kd_tree.h"
#include "gauze/histogram/priv_tree.h"
#include "gauze/histogram/quadtree.h"
#include "gauze/histogram/register_internal.h"
#include "gauze/histogram/sparse.h"
#include "gauze/histogram/uniform_grid.h"

// Points in space, counted in boxes.
namespace gauze::internal {
namespace {

using Type = OptionSpec::Type;

HistogramEntry uniform_grid() {
  return entry({.name = "uniform_grid",
                .summary = "Points counted in equal boxes, as fine as their number allows",
                .guarantee = kPureOrNot,
                .accuracy = "The noise of each box; boxes that a range cuts count by area.",
                .cost = "Time proportional to points and boxes.",
                .source = "Qardaji, Yang and Li (2013).",
                .document = "src/gauze/histogram/uniform_grid.md",
                .options = histogram_options(
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
}

HistogramEntry adaptive_grid() {
  return entry(
      {.name = "adaptive_grid",
       .summary = "Points counted in boxes that are small where there are many; best for places",
       .guarantee = kPureOrNot,
       .accuracy = "The noise of each box; boxes that a range cuts count by area.",
       .cost = "Time proportional to points and boxes.",
       .source = "Qardaji, Yang and Li (2013), with the correction of its leaves.",
       .document = "src/gauze/histogram/adaptive_grid.md",
       .options =
           histogram_options(true, {expected_rows_option(),
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
}

HistogramEntry quadtree() {
  return entry(
      {.name = "quadtree",
       .summary = "Points counted in boxes, their quarters, and so on, fitted to each other",
       .guarantee = kPureOrNot,
       .accuracy = "The noise of any range; boxes that a range cuts count by area.",
       .cost = "Time proportional to points times height, and to boxes.",
       .source = "Cormode, Procopiuc, Srivastava, Shen and Yu (2012).",
       .document = "src/gauze/histogram/quadtree.md",
       .options = histogram_options(
           true, {expected_rows_option(),
                  count_share_option(),
                  {"branching", Type::kWhole, "parts of a box along each axis, 2 to 1024", "2"},
                  {"height", Type::kWhole, "levels; 0 lets the number of rows decide", "0"},
                  {"coarseness", Type::kNumber, "larger for a lower tree", "3"}})},
      [](const OptionValues& values, const Shape& shape) {
        const std::uint64_t height = values.whole("height");
        const std::uint64_t branching = values.whole("branching");
        require(height <= 64 && branching <= 1024,
                "height: must be at most 64, and branching at most 1024");
        return Quadtree({.shape = shape,
                         .epsilon = values.number("epsilon"),
                         .rows_per_unit = values.whole("rows_per_unit"),
                         .delta = values.number("delta"),
                         .expected_rows = values.whole("expected_rows"),
                         .count_share = values.number("count_share"),
                         .branching = static_cast<std::uint32_t>(branching),
                         .height = static_cast<std::uint32_t>(height),
                         .coarseness = values.number("coarseness")});
      });
}

KdSplit split_of(const std::string& word) {
  if (word == "median") return KdSplit::kMedian;
  if (word == "balanced") return KdSplit::kBalanced;
  if (word == "guided") return KdSplit::kGuided;
  throw Error(ErrorCode::kInvalidOption, "split: must be median, balanced or guided");
}

HistogramEntry kd_tree() {
  return entry(
      {.name = "kd_tree",
       .summary = "Cuts space where the points are, privately, then counts the boxes",
       .guarantee = kPure,
       .accuracy = "The noise of each box; boxes that a range cuts count by area.",
       .cost = "Time proportional to points times height times axes.",
       .source = "Cormode, Procopiuc, Srivastava, Shen and Yu (2012) for medians and hybrids, "
                 "Qardaji and "
                 "Li (2012) for balanced cuts, Xiao, Xiong and Yuan (2010) for guided ones.",
       .document = "src/gauze/histogram/kd_tree.md",
       .options = histogram_options(
           false,
           {{"split", Type::kText, "where to cut: median, balanced or guided (by a noisy grid)",
             "median"},
            expected_rows_option(),
            count_share_option(),
            {"height", Type::kWhole, "levels; 0 lets the number of rows decide", "0"},
            {"private_levels", Type::kWhole, "levels of private cuts, the others halve; 0 is all",
             "0"},
            {"private_first", Type::kFlag, "private cuts near the root, halves below", "true"},
            {"coarseness", Type::kNumber, "larger for a lower tree", "10"}})},
      [](const OptionValues& values, const Shape& shape) {
        const std::uint64_t height = values.whole("height");
        const std::uint64_t levels = values.whole("private_levels");
        require(height <= 64 && levels <= 64, "height: and private_levels must be at most 64");
        return KdTree({.shape = shape,
                       .epsilon = values.number("epsilon"),
                       .rows_per_unit = values.whole("rows_per_unit"),
                       .split = split_of(values.text("split")),
                       .expected_rows = values.whole("expected_rows"),
                       .count_share = values.number("count_share"),
                       .height = static_cast<std::uint32_t>(height),
                       .private_levels = static_cast<std::uint32_t>(levels),
                       .private_first = values.flag("private_first"),
                       .coarseness = values.number("coarseness")});
      });
}

HistogramEntry priv_tree() {
  return entry(
      {.name = "priv_tree",
       .summary = "Halves boxes as long as they seem to hold many points, then counts them",
       .guarantee = kPure,
       .accuracy = "The noise of each box; boxes that a range cuts count by area.",
       .cost = "Time proportional to points times depth.",
       .source = "Zhang, Xiao and Xie (2016), re-derived for whole-numbered noise.",
       .document = "src/gauze/histogram/priv_tree.md",
       .options = histogram_options(
           false, {{"structure_share", Type::kNumber,
                    "of epsilon, for the boxes; the rest for their counts", "1/3"},
                   {"axes_per_split", Type::kWhole,
                    "a box is halved along so many axes, in turn, 1 to 8", "2"},
                   {"max_depth", Type::kWhole, "0 allows boxes of a single cell", "0"}})},
      [](const OptionValues& values, const Shape& shape) {
        const std::uint64_t axes = values.whole("axes_per_split");
        const std::uint64_t depth = values.whole("max_depth");
        require(axes >= 1 && axes <= 8 && depth <= 1024,
                "axes_per_split: must be 1 to 8, and max_depth at most 1024");
        return PrivTree({.shape = shape,
                         .epsilon = values.number("epsilon"),
                         .rows_per_unit = values.whole("rows_per_unit"),
                         .structure_share = values.number("structure_share"),
                         .axes_per_split = static_cast<std::uint32_t>(axes),
                         .max_depth = static_cast<std::uint32_t>(depth)});
      });
}

ThresholdNoise noise_of(const std::string& word) {
  if (word == "best") return ThresholdNoise::kBest;
  if (word == "laplace") return ThresholdNoise::kLaplace;
  if (word == "gaussian") return ThresholdNoise::kGaussian;
  throw Error(ErrorCode::kInvalidOption, "noise: must be best, laplace or gaussian");
}

HistogramEntry sparse_histogram() {
  return entry(
      {.name = "sparse_histogram",
       .summary = "The full cells of a domain of any size, named where their noisy count allows it",
       .guarantee = "(epsilon, delta): the noise, and a cell of one person alone is named with "
                    "probability delta at most.",
       .accuracy = "Each named cell within its noise; others hold few rows or none.",
       .cost = "Time proportional to rows times their logarithm, whatever the domain.",
       .source = "Korolova, Kenthapadi, Mishra and Ntoulas (2009); Wilkins, Kifer, Zhang and "
                 "Karrer (2024).",
       .document = "src/gauze/histogram/sparse.md",
       .example = "gauze release sparse_histogram --epsilon 0.5 --delta 1e-6 --data hospital "
                  "--column age",
       .options = histogram_options(
           false,
           {{"delta", Type::kNumber, "above 0; no threshold is certain, so there is no default",
             ""},
            {"rows_per_cell", Type::kWhole,
             "at most so many rows of a person count in one cell (of a table; of points given "
             "otherwise it is a promise); 0 is all of them",
             "0"},
            {"noise", Type::kText, "best (the lower threshold), laplace or gaussian", "best"}})},
      [](const OptionValues& values, const Shape& shape) {
        return ThresholdHistogram({.shape = shape,
                                   .epsilon = values.number("epsilon"),
                                   .delta = values.number("delta"),
                                   .rows_per_unit = values.whole("rows_per_unit"),
                                   .rows_per_cell = values.whole("rows_per_cell"),
                                   .noise = noise_of(values.text("noise"))});
      },
      says("rows of cells that are not named are not in it"));
}

}  // namespace

std::vector<HistogramEntry> point_histograms() {
  std::vector<HistogramEntry> all = {adaptive_grid(), uniform_grid(), quadtree(),
                                     kd_tree(),       priv_tree(),    sparse_histogram()};
  for (HistogramEntry& each : all) each.points = true;
  return all;
}

}  // namespace gauze::internal
