#include "gauze/histogram/adaptive_hierarchy.h"
#include "gauze/histogram/auto_histogram.h"
#include "gauze/histogram/dawa.h"
#include "gauze/histogram/flat.h"
#include "gauze/histogram/fourier.h"
#include "gauze/histogram/hdmm.h"
#include "gauze/histogram/hierarchical.h"
#include "gauze/histogram/matrix_mechanism.h"
#include "gauze/histogram/mwem.h"
#include "gauze/histogram/noise_first.h"
#include "gauze/histogram/php.h"
#include "gauze/histogram/pruned_hierarchy.h"
#include "gauze/histogram/register_internal.h"
#include "gauze/histogram/structure_first.h"
#include "gauze/histogram/wavelet.h"

// Counts over a domain, for ranges of cells.
namespace gauze::internal {
namespace {

using Type = OptionSpec::Type;

HistogramEntry flat() {
  return entry(
      {.name = "flat_histogram",
       .summary = "Counts of all cells with noise on each; best for few cells",
       .guarantee = kPureOrNot,
       .accuracy = "Each cell within rows_per_unit ln(1/beta)/epsilon; the variance of a "
                   "range grows with its cells.",
       .cost = "Time and memory proportional to the cells.",
       .source = "Dwork, McSherry, Nissim and Smith (2006).",
       .document = "src/gauze/histogram/flat.md",
       .options = histogram_options(true)},
      [](const OptionValues& values, const Shape& shape) {
        return FlatHistogram({.shape = shape,
                              .epsilon = values.number("epsilon"),
                              .rows_per_unit = values.whole("rows_per_unit"),
                              .delta = values.number("delta")});
      },
      says(kNothing));
}

HistogramEntry hierarchical() {
  return entry(
      {.name = "hierarchical_histogram",
       .summary = "Counts of cells and of blocks of cells, fitted to each other; good at ranges",
       .guarantee = kPureOrNot,
       .accuracy = "Any range; its variance grows with the cube of the logarithm of its length "
                   "at most, and every answer states its own.",
       .cost = "Time and memory proportional to the cells.",
       .source = "Hay, Rastogi, Miklau and Suciu (2010); Qardaji, Yang and Li (2013).",
       .document = "src/gauze/histogram/hierarchical.md",
       .options = histogram_options(
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
      },
      says(kNothing));
}

/// One question each; along one axis as one set.
Workload workload_of(const std::vector<Box>& asked, const Shape& shape) {
  if (shape.axes() == 1) {
    CellRanges ranges;
    for (const Box& box : asked) ranges.emplace_back(box.begin[0], box.end[0]);
    return Workload({{1.0, {AxisWorkload::ranges(shape.extents[0], std::move(ranges))}}});
  }
  std::vector<Workload::Product> products;
  for (const Box& box : asked) {
    Workload::Product product{1.0, {}};
    for (std::size_t axis = 0; axis < shape.axes(); ++axis)
      product.axes.push_back(
          AxisWorkload::ranges(shape.extents[axis], {{box.begin[axis], box.end[axis]}}));
    products.push_back(std::move(product));
  }
  return Workload(std::move(products));
}

Workload workload_of(const OptionValues& values, const Shape& shape) {
  const std::string word = values.text("workload");
  if (word == "cells") return Workload::identity(shape);
  if (word == "prefixes") return Workload::prefix(shape);
  if (word == "ranges") return Workload::all_ranges(shape);
  if (word == "asked") return workload_of(asked_of(values, shape), shape);
  if (word == "marginals") {
    require(shape.axes() > 1,
            "workload: marginals are tables of some of several columns; of one column say cells");
    const std::uint64_t way = values.whole("way");
    require(way >= 1 && way <= shape.axes(),
            "way: must be from 1 to the number of columns: of how many each table is");
    return Workload::marginals(shape, way);
  }
  throw Error(ErrorCode::kInvalidOption,
              "workload: must be cells, prefixes, ranges, marginals or asked");
}

std::vector<OptionSpec> workload_options() {
  return {
      {"workload", Type::kText,
       "what will be asked: cells, prefixes or ranges along each axis; marginals, tables of some "
       "of the columns; asked, what --range asks and nothing else",
       "ranges"},
      {"way", Type::kWhole, "of how many columns each table of marginals is", "2"},
      asked_option()};
}

std::vector<OptionSpec> with(std::vector<OptionSpec> options, OptionSpec more) {
  options.push_back(std::move(more));
  return options;
}

/// What there is a strategy of its own for; cells and ranges are aims.
std::optional<Workload> declared_of(const OptionValues& values, const Shape& shape) {
  const std::string word = values.text("workload");
  Workload workload = workload_of(values, shape);
  if (word == "asked" || word == "marginals") return workload;
  return {};
}

/// What a strategy for declared questions leaves out.
std::string left_out_by_strategy(const OptionValues& values, const std::string& /*note*/) {
  const std::string word = values.text("workload");
  if (word == "marginals") return "what spreading tables evenly over their cells adds is not in it";
  if (word == "asked")
    return "cells that no question tells apart are spread evenly, which is not in it";
  return "";
}

/// By the method that was taken, which its note begins with.
std::string left_out_by_choice(const OptionValues& values, const std::string& note) {
  const std::string by_strategy =
      note.starts_with("strategy") ? left_out_by_strategy(values, note) : "";
  if (!by_strategy.empty()) return by_strategy;
  if (note.find("taken out") != std::string::npos)
    return "rows that were taken for noise are not in it";
  return note.starts_with("flat") ? kNothing : kEvenBoxes;
}

HistogramEntry automatic() {
  return entry(
      {.name = "auto_histogram",
       .summary =
           "Counts over a domain by the method that suits its size, the budget and the questions",
       .guarantee = kPureOrNot,
       .accuracy = "That of the method it takes, which it names; every answer states its own.",
       .cost =
           "Time and memory proportional to rows and cells; for asked and marginals a search of "
           "seconds at most, once.",
       .source = "Chosen by measurements on public arrays: docs/histograms.md.",
       .document = "src/gauze/histogram/auto_histogram.md",
       .options = histogram_options(true, with(workload_options(), expected_rows_option()))},
      [](const OptionValues& values, const Shape& shape) {
        const bool cells = values.text("workload") == "cells";
        return AutoHistogram({.shape = shape,
                              .epsilon = values.number("epsilon"),
                              .rows_per_unit = values.whole("rows_per_unit"),
                              .delta = values.number("delta"),
                              .aim = cells ? HistogramAim::kCells : HistogramAim::kRanges,
                              .workload = declared_of(values, shape),
                              .expected_rows = values.whole("expected_rows")});
      },
      left_out_by_choice);
}

HistogramEntry adaptive() {
  return entry(
      {.name = "adaptive_hierarchy",
       .summary = "Counts of blocks that are parted as long as they are full for the noise, fitted",
       .guarantee = kPure,
       .accuracy = "The number of rows; every answer states its own noise.",
       .cost = "Time and memory proportional to the cells.",
       .source = "The hierarchy of Hay, Rastogi, Miklau and Suciu (2010), grown by its own noisy "
                 "counts as the second level of the grids of Qardaji, Yang and Li (2013) is.",
       .document = "src/gauze/histogram/adaptive_hierarchy.md",
       .options = histogram_options(false, {expected_rows_option()})},
      [](const OptionValues& values, const Shape& shape) {
        return AdaptiveHierarchy({.shape = shape,
                                  .epsilon = values.number("epsilon"),
                                  .rows_per_unit = values.whole("rows_per_unit"),
                                  .expected_rows = values.whole("expected_rows")});
      });
}

HistogramEntry pruned() {
  return entry(
      {.name = "pruned_hierarchy",
       .summary =
           "Counts of cells and blocks, fitted; then blocks that look even are spread evenly",
       .guarantee = kPureOrNot,
       .accuracy = "The noise of each cell before pruning; every answer states its own.",
       .cost = "Time and memory proportional to the cells.",
       .source = "The hierarchy of Hay, Rastogi, Miklau and Suciu (2010), the mixture of "
                 "prunings of Willems, Shtarkov and Tjalkens (1995), the shrinking of James and "
                 "Stein (1961) and of Johnstone and Silverman (2005).",
       .document = "src/gauze/histogram/pruned_hierarchy.md",
       .options = histogram_options(true, {aim_option(),
                                           {"split_price", Type::kNumber,
                                            "how much more a split has to show than one of a block "
                                            "twice as large, in variances of "
                                            "its noise; 0 believes all",
                                            "0.2"}})},
      [](const OptionValues& values, const Shape& shape) {
        return PrunedHierarchy({.shape = shape,
                                .epsilon = values.number("epsilon"),
                                .rows_per_unit = values.whole("rows_per_unit"),
                                .delta = values.number("delta"),
                                .aim = aim_of(values),
                                .split_price = values.real("split_price")});
      });
}

CellRanges asked_of_one_axis(const OptionValues& values, const Shape& shape) {
  const std::string word = values.text("workload");
  require(word == "any" || word == "asked", "workload: must be any or asked");
  CellRanges ranges;
  if (word == "any") return ranges;
  require(shape.axes() == 1, "workload: dawa is told what is asked for one column only");
  for (const Box& box : asked_of(values, shape)) ranges.emplace_back(box.begin[0], box.end[0]);
  return ranges;
}

HistogramEntry dawa() {
  return entry(
      {.name = "dawa",
       .summary = "Finds blocks of even counts first, then counts the blocks; for sparse or "
                  "clustered data",
       .guarantee = kPure,
       .accuracy = "The noise of each block; what spreading it evenly adds depends on the data.",
       .cost = "Time proportional to cells times their logarithm.",
       .source = "Li, Hay and Miklau (2014), with the noise of the first stage corrected.",
       .document = "src/gauze/histogram/dawa.md",
       .options =
           histogram_options(false, {{"partition_share", Type::kNumber,
                                      "of epsilon, for finding the blocks, between 0 and 1", "1/3"},
                                     aim_option(),
                                     {"workload", Type::kText,
                                      "what will be asked: any range, or asked, those of --range "
                                      "and nothing else",
                                      "any"},
                                     asked_option()})},
      [](const OptionValues& values, const Shape& shape) {
        return DawaHistogram({.shape = shape,
                              .epsilon = values.number("epsilon"),
                              .rows_per_unit = values.whole("rows_per_unit"),
                              .partition_share = values.number("partition_share"),
                              .aim = aim_of(values),
                              .asked = asked_of_one_axis(values, shape)});
      });
}

HistogramEntry noise_first() {
  return entry({.name = "noise_first",
                .summary = "Noise on every cell, then neighbours that look alike are merged",
                .guarantee = kPureOrNot,
                .accuracy = "Noise of each cell before merging.",
                .cost = "Time proportional to the cells.",
                .source = "Xu, Zhang, Xiao, Yang, Yu and Winslett (2013).",
                .document = "src/gauze/histogram/noise_first.md",
                .options = histogram_options(
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

HistogramEntry wavelet() {
  return entry(
      {.name = "wavelet_histogram",
       .summary = "Noise on Haar's sums and differences; a hierarchy of halves in disguise",
       .guarantee = kPureOrNot,
       .accuracy = "Any range; every answer states its own variance.",
       .cost = "Time and memory proportional to the cells.",
       .source = "Xiao, Wang and Gehrke (2010).",
       .document = "src/gauze/histogram/wavelet.md",
       .options = histogram_options(true)},
      [](const OptionValues& values, const Shape& shape) {
        return WaveletHistogram({.shape = shape,
                                 .epsilon = values.number("epsilon"),
                                 .rows_per_unit = values.whole("rows_per_unit"),
                                 .delta = values.number("delta")});
      },
      says(kNothing));
}

HistogramEntry hdmm() {
  return entry(
      {.name = "hdmm",
       .summary = "Measures what is best for the questions you declare, found by optimisation",
       .guarantee = kPureOrNot,
       .accuracy = "The least total variance found for the workload; every answer states its own.",
       .cost = "Time proportional to the cube of the cells along an axis, once.",
       .source = "Li, Miklau, Hay, McGregor and Rastogi (2015) for the matrix mechanism; McKenna, "
                 "Miklau, Hay and Machanavajjhala (2018) for the search.",
       .document = "src/gauze/histogram/hdmm.md",
       .options = histogram_options(true, workload_options())},
      [](const OptionValues& values, const Shape& shape) {
        return HdmmHistogram({.shape = shape,
                              .epsilon = values.number("epsilon"),
                              .rows_per_unit = values.whole("rows_per_unit"),
                              .delta = values.number("delta"),
                              .workload = workload_of(values, shape)});
      },
      left_out_by_strategy);
}

Strategy strategy_of(const OptionValues& values, const Shape& shape) {
  const std::vector<Ratio> weights = values.numbers("strategy");
  const std::size_t cells = shape.cells();
  require(weights.size() >= cells && weights.size() % cells == 0,
          "strategy: must be a weight for every cell in the first sum, then in the second, ...; as "
          "many sums as determine all cells");
  DenseMatrix rows{weights.size() / cells, cells};
  for (const Ratio& weight : weights) rows.values.push_back(round_down(weight));
  return Strategy::matrix(std::move(rows));
}

HistogramEntry matrix() {
  return entry(
      {.name = "matrix_mechanism",
       .summary = "Measures the weighted sums of cells that you give, then fits all cells to them",
       .guarantee = kPureOrNot,
       .accuracy = "Each cell; every answer states its own, the least that these sums allow.",
       .cost = "Time proportional to the cube of the cells, once, then to cells times sums.",
       .source = "Li, Miklau, Hay, McGregor and Rastogi (2015).",
       .document = "src/gauze/histogram/matrix_mechanism.md",
       .example = "gauze release matrix_mechanism --epsilon 0.5 --rows-per-unit 1 --cells 2 "
                  "--strategy 1,1,0,1 counts.txt",
       .options = histogram_options(
           true, {{"strategy", Type::kNumbers,
                   "the weight of every cell in the first sum, then in the second, ...; as many "
                   "sums as determine all cells",
                   ""}})},
      [](const OptionValues& values, const Shape& shape) {
        return MatrixMechanism({.shape = shape,
                                .epsilon = values.number("epsilon"),
                                .rows_per_unit = values.whole("rows_per_unit"),
                                .strategy = strategy_of(values, shape),
                                .delta = values.number("delta")});
      },
      says(kNothing));
}

HistogramEntry php() {
  return entry(
      {.name = "php",
       .summary = "Bisects the cells where that helps most, then counts the parts",
       .guarantee = kPure,
       .accuracy = "The noise of each part; what spreading it evenly adds depends on the data.",
       .cost = "Time proportional to cells times the depth.",
       .source = "Acs, Castelluccia and Chen (2012).",
       .document = "src/gauze/histogram/php.md",
       .options = histogram_options(
           false,
           {{"depth", Type::kWhole,
             "levels of bisection, at most 24; 0 is 4 more than the logarithm of the cells", "0"},
            {"partition_share", Type::kNumber, "of epsilon, for finding the parts, between 0 and 1",
             "1/2"},
            aim_option()})},
      [](const OptionValues& values, const Shape& shape) {
        const std::uint64_t depth = values.whole("depth");
        require(depth <= 24, "depth: must be at most 24");
        return PhpHistogram({.shape = shape,
                             .epsilon = values.number("epsilon"),
                             .rows_per_unit = values.whole("rows_per_unit"),
                             .depth = static_cast<std::uint32_t>(depth),
                             .partition_share = values.number("partition_share"),
                             .aim = aim_of(values)});
      });
}

HistogramEntry structure_first() {
  return entry(
      {.name = "structure_first",
       .summary = "Chooses the ends of a few buckets one by one, then counts the buckets",
       .guarantee = kPure,
       .accuracy = "The noise of each bucket; many ends make each choice nearly random.",
       .cost = "Time proportional to the square of the cells.",
       .source = "Xu, Zhang, Xiao, Yang, Yu and Winslett (2013), with a public limit of counts.",
       .document = "src/gauze/histogram/structure_first.md",
       .example = "gauze release structure_first --epsilon 0.5 --count-limit 1000 --data hospital "
                  "--column age",
       .options = histogram_options(
           false, {{"count_limit", Type::kWhole,
                    "counts above this are taken for this in the search for buckets", ""},
                   {"buckets", Type::kWhole,
                    "at most so many; 0 is a tenth of the cells, at most 16", "0"},
                   {"partition_share", Type::kNumber,
                    "of epsilon, for finding the buckets, between 0 and 1", "1/2"}})},
      [](const OptionValues& values, const Shape& shape) {
        const std::uint64_t buckets = values.whole("buckets");
        require(buckets <= 1u << 14, "buckets: must be at most 2^14");
        return StructureFirstHistogram({.shape = shape,
                                        .epsilon = values.number("epsilon"),
                                        .rows_per_unit = values.whole("rows_per_unit"),
                                        .count_limit = values.whole("count_limit"),
                                        .buckets = static_cast<std::uint32_t>(buckets),
                                        .partition_share = values.number("partition_share")});
      });
}

std::string left_out_of_waves(const OptionValues& /*values*/, const std::string& note) {
  return note.ends_with("dropped") ? "what the dropped frequencies held is not in it" : "";
}

HistogramEntry fourier() {
  return entry(
      {.name = "fourier_histogram",
       .summary = "Keeps the slow waves of a series of counts; for smooth data",
       .guarantee = kPure,
       .accuracy = "The noise of any range; what the waves left out add depends on the data.",
       .cost = "Time proportional to cells times frequencies kept.",
       .source = "Rastogi and Nath (2010); Acs, Castelluccia and Chen (2012), with noise on "
                 "real and imaginary parts.",
       .document = "src/gauze/histogram/fourier.md",
       .options = histogram_options(
           false,
           {{"frequencies", Type::kWhole, "how many to keep; 0 chooses with a part of epsilon",
             "0"},
            {"most_frequencies", Type::kWhole, "of that choice", "2048"},
            {"choice_share", Type::kNumber, "of epsilon, for choosing, between 0 and 1", "1/4"}})},
      [](const OptionValues& values, const Shape& shape) {
        const std::uint64_t kept = values.whole("frequencies");
        const std::uint64_t most = values.whole("most_frequencies");
        require(kept <= 1u << 20 && most <= 1u << 20, "frequencies: must be at most 2^20");
        return FourierHistogram({.shape = shape,
                                 .epsilon = values.number("epsilon"),
                                 .rows_per_unit = values.whole("rows_per_unit"),
                                 .frequencies = static_cast<std::uint32_t>(kept),
                                 .most_frequencies = static_cast<std::uint32_t>(most),
                                 .choice_share = values.number("choice_share")});
      },
      left_out_of_waves);
}

HistogramEntry mwem() {
  return entry(
      {.name = "mwem",
       .summary = "Learns the counts from the ranges that are answered worst, round by round",
       .guarantee = kPure,
       .accuracy = "Depends on the data; the noise of what was measured is stated.",
       .cost = "Time proportional to cells times rounds squared.",
       .source = "Hardt, Ligett and McSherry (2012).",
       .document = "src/gauze/histogram/mwem.md",
       .options = histogram_options(
           false,
           {{"rounds", Type::kWhole, "0 chooses by a noisy number of rows", "0"},
            {"total_share", Type::kNumber, "of epsilon, for that number", "1/20"},
            {"choice_share", Type::kNumber, "of a round's budget, for finding the range", "1/4"}})},
      [](const OptionValues& values, const Shape& shape) {
        const std::uint64_t rounds = values.whole("rounds");
        require(rounds <= 1u << 16, "rounds: must be at most 2^16");
        return MwemHistogram({.shape = shape,
                              .epsilon = values.number("epsilon"),
                              .rows_per_unit = values.whole("rows_per_unit"),
                              .rounds = static_cast<std::uint32_t>(rounds),
                              .total_share = values.number("total_share"),
                              .choice_share = values.number("choice_share")});
      },
      says("what no round has measured is not in it"));
}

}  // namespace

std::vector<HistogramEntry> cell_histograms() {
  return {automatic(), adaptive(),        flat(),    hierarchical(), wavelet(),
          hdmm(),      matrix(),          pruned(),  dawa(),         noise_first(),
          php(),       structure_first(), fourier(), mwem()};
}

}  // namespace gauze::internal
