#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <optional>

#include "gauze/base/error.h"
#include "gauze/data/source.h"
#include "gauze/histogram/histogram_job.h"
#include "gauze/histogram/histogram_method.h"
#include "gauze/testing/seeded_bits.h"

namespace gauze {
namespace {

using testing::SeededBits;

/// Data that have broken methods of this kind.
struct Edge {
  std::string name;
  Shape shape;
  Points points;
  double rows;
};

std::vector<Edge> edges() {
  return {{"one empty cell", {{1}}, {}, 0},
          {"one cell with three rows", {{1}}, {{0}, {3}}, 3},
          {"one cell of two axes", {{1, 1}}, {}, 0},
          {"empty, no power of anything", {{1000}}, {}, 0},
          {"empty plane, no power of anything", {{37, 5}}, {}, 0},
          {"all in one cell", {{1000}}, {{999}, {1'000'000}}, 1e6},
          {"all in one cell of a plane", {{37, 5}}, {{36, 4}, {1'000'000}}, 1e6},
          {"a million empty cells", {{1'000'000}}, {}, 0},
          {"a million empty cells in the plane", {{1000, 1000}}, {}, 0}};
}

bool knows(const HistogramEntry& method, const std::string& name) {
  for (const OptionSpec& option : method.about.options)
    if (option.name == name) return true;
  return false;
}

/// Epsilon 1 and what the method needs besides.
nlohmann::json options_for(const HistogramEntry& method, std::uint64_t cells) {
  nlohmann::json options = {{"epsilon", "1"}, {"rows_per_unit", "1"}, {"cells", "1"}};
  if (knows(method, "count_limit")) options["count_limit"] = "100";
  if (method.about.name == "sparse_histogram") options["delta"] = "1e-6";
  if (method.about.name != "matrix_mechanism") return options;
  nlohmann::json identity = nlohmann::json::array();  // every cell by itself
  for (std::uint64_t i = 0; i < cells * cells; ++i)
    identity.push_back(i % (cells + 1) == 0 ? 1 : 0);
  options["strategy"] = std::move(identity);
  return options;
}

/// Nothing if the method is not for this shape, which it says before there is data.
std::optional<HistogramMethod> method_for(const HistogramEntry& entry, const Shape& shape) {
  try {
    return entry.on(OptionValues(entry.about.options, options_for(entry, shape.cells())), shape);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidOption);
    const std::string why = error.what();
    EXPECT_TRUE(why.find("shape: must have") != std::string::npos ||
                why.find("count_limit: must be") != std::string::npos)
        << why;
    return {};
  }
}

/// What stays noise after eight times the half width of 95 % does so with probability below 10^-9.
void expect_near(const RangeEstimate& total, double rows, double more) {
  EXPECT_TRUE(std::isfinite(total.value));
  EXPECT_TRUE(std::isfinite(total.variance));
  EXPECT_GE(total.variance, 0);
  EXPECT_NEAR(total.value, rows, 8 * total.half_width + more);
}

// Every method that is in the registry, on all of them but what it refuses.
TEST(HistogramEdges, EveryMethodTakesThemOrSaysWhyNot) {
  for (const HistogramEntry& each : histogram_entries()) {
    int taken = 0;
    for (const Edge& edge : edges()) {
      SCOPED_TRACE(each.about.name + ", " + edge.name);
      if (each.about.name == "matrix_mechanism" && edge.shape.cells() > 200)
        continue;  // a number for each pair
      const auto method = method_for(each, edge.shape);
      if (!method) continue;
      ++taken;
      SeededBits bits(11);
      Meter meter(method->event);
      Context context{meter, bits};
      const RangeHistogram histogram = method->run(edge.points, context).value;
      // mwem's estimate has at least one row, which is in its promise.
      expect_near(histogram.total(), edge.rows,
                  each.about.name == "mwem" ? method->accuracy(0.95).half_width : 0);
      Box first = Box::whole(edge.shape);
      for (std::size_t axis = 0; axis < first.end.size(); ++axis) first.end[axis] = 1;
      const RangeEstimate cell = histogram.range(first);
      EXPECT_TRUE(std::isfinite(cell.value) && std::isfinite(cell.variance));
      if (edge.shape.cells() > 1000) continue;
      double sum = 0;
      for (const double value : histogram.cells()) sum += value;
      EXPECT_NEAR(sum, histogram.total().value, 1e-6 * (1 + std::abs(sum)));
    }
    EXPECT_GE(taken, 4) << each.about.name;
  }
}

/// 600 people: a third older and a third younger than the schema allows, a third inside, and ten without an age.
std::string people_outside() {
  std::string rows = "person,age\n";
  for (int i = 0; i < 600; ++i)
    rows += std::to_string(i) + "," +
            std::to_string(i % 3 == 0   ? 1000
                           : i % 3 == 1 ? -7
                                        : 50) +
            "\n";
  for (int i = 600; i < 610; ++i) rows += std::to_string(i) + ",\n";
  return rows;
}

TEST(HistogramEdges, EveryMethodCountsWhatLiesOutsideAtTheEnds) {
  const auto path = std::filesystem::temp_directory_path() / "gauze_histogram_edges.csv";
  std::ofstream(path) << people_outside();
  const auto source = open_files({{"t", path.string()}});
  const Schema schema = parse_schema(R"({"version": 1, "dataset": "d", "tables": {"t": {
    "unit": "person", "rows_per_unit": 1, "columns": {"person": {"type": "integer"},
    "age": {"type": "integer", "lower": 0, "upper": 99}}}}})");
  for (const HistogramEntry& each : histogram_entries()) {
    SCOPED_TRACE(each.about.name);
    nlohmann::json options = options_for(each, 100);
    options["cells"] = "0";
    if (knows(each, "count_limit")) options["count_limit"] = "1000";
    const HistogramJob job({.method = each,
                            .options = std::move(options),
                            .table = schema.table("t"),
                            .columns = std::vector<std::string>{"age"}});
    SeededBits bits(12);
    Meter meter(job.event());
    Context context{meter, bits};
    const RangeHistogram histogram = job.run(*source, context).value.histogram;
    expect_near(histogram.total(), 600,
                each.about.name == "mwem" ? job.accuracy(0.95).half_width : 0);
  }
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace gauze
