#include "gauze/histogram/histogram_job.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "gauze/data/source.h"
#include "gauze/histogram/histogram_method.h"
#include "gauze/testing/matchers.h"
#include "gauze/testing/seeded_bits.h"

namespace gauze {
namespace {

using testing::SeededBits;

const char* const kSchema = R"({"version": 1, "dataset": "d", "tables": {"t": {
  "unit": "person", "rows_per_unit": 3, "columns": {
    "person": {"type": "integer"},
    "age": {"type": "integer", "lower": 0, "upper": 99},
    "ward": {"type": "text", "categories": ["a", "b"], "default": "b", "nulls": false},
    "weight": {"type": "double", "lower": 0, "upper": 100}}}}})";

/// A file that goes when the test does.
class Data {
 public:
  explicit Data(const std::string& rows)
      : path_(std::filesystem::temp_directory_path() /
              ("gauze_histogram_" +
               std::string(::testing::UnitTest::GetInstance()->current_test_info()->name()) +
               ".csv")) {
    std::ofstream(path_) << "person,age,ward,weight\n" << rows;
  }
  ~Data() { std::filesystem::remove(path_); }
  Data(const Data&) = delete;
  Data& operator=(const Data&) = delete;

  std::unique_ptr<Source> source() const { return open_files({{"t", path_.string()}}); }

 private:
  std::filesystem::path path_;
};

HistogramJob job(std::vector<std::string> columns, nlohmann::json options = {{"epsilon", 1}},
                 const char* algorithm = "flat_histogram") {
  return HistogramJob({.method = find_histogram(algorithm),
                       .options = std::move(options),
                       .table = parse_schema(kSchema).table("t"),
                       .columns = std::move(columns)});
}

// Noise at epsilon 100,000 is nothing but for a probability below e^-10000.
const nlohmann::json kLoud = {{"epsilon", 100000}};

RangeHistogram released(const HistogramJob& job, const Data& data) {
  SeededBits bits(1);
  Meter meter(job.event());
  Context context{meter, bits};
  return job.run(*data.source(), context).value.histogram;
}

TEST(HistogramJob, CountsRowsByColumnsOfATable) {
  const Data data("1,10,a,5\n1,10,a,50\n2,99,b,99\n3,0,c,0\n");
  const RangeHistogram ages = released(job({"age"}, kLoud), data);
  EXPECT_EQ(ages.shape(), (Shape{{100}}));
  EXPECT_EQ(ages.range({{10}, {11}}).value, 2);
  EXPECT_EQ(ages.total().value, 4);
  // A ward that nobody declared is the default one.
  EXPECT_EQ(released(job({"ward"}, kLoud), data).cells(), (std::vector<double>{2, 2}));
  nlohmann::json halves = kLoud;
  halves["cells"] = "2";
  EXPECT_EQ(released(job({"weight", "ward"}, halves), data).cells(),
            (std::vector<double>{1, 1, 1, 1}));
}

// From then on the answer is waited for: whoever stops a release stops it here at the latest.
TEST(HistogramJob, TellsOnceAndBeforeItChargesThatItBeginsToDraw) {
  struct Cancelled {};
  for (const bool cancels : {false, true}) {
    const Data data("1,10,a,5\n2,99,b,99\n");
    const HistogramJob counted = job({"age"});
    SeededBits bits(1);
    Meter meter(counted.event());
    int told = 0;
    const Watch watch{.progress = [&](double, std::string_view) { EXPECT_EQ(told, 0); },
                      .drawing =
                          [&] {
                            ++told;
                            EXPECT_TRUE(meter.charged().empty());
                            if (cancels) throw Cancelled();
                          }};
    Context context{meter, bits, &watch};
    if (cancels)
      EXPECT_THROW(counted.run(*data.source(), context), Cancelled);
    else
      counted.run(*data.source(), context);
    EXPECT_EQ(meter.charged().empty(), cancels);
    EXPECT_EQ(told, 1);
  }
}

TEST(HistogramJob, WhatLiesOutsideIsMovedInAndNullsAreNotCounted) {
  const Data data("1,-5,a,nan\n2,1000,b,inf\n3,,a,\n4,zzz,a,7\n");
  const RangeHistogram ages = released(job({"age"}, kLoud), data);
  EXPECT_EQ(ages.range({{0}, {1}}).value, 1);
  EXPECT_EQ(ages.range({{99}, {100}}).value, 1);
  EXPECT_EQ(ages.total().value, 2);
  EXPECT_EQ(released(job({"weight"}, kLoud), data).total().value, 2);
  EXPECT_EQ(
      released(job({"age", "weight"}, {{"epsilon", 100000}, {"cells", "4"}}), data).total().value,
      1);
}

// One person has 50 rows, of which as many count as the schema or the option allows.
TEST(HistogramJob, APersonCountsAtMostAsOftenAsAllowedAndPaysForIt) {
  std::string rows;
  for (int i = 0; i < 50; ++i) rows += "7," + std::to_string(i) + ",a,1\n";
  const Data data(rows);
  EXPECT_EQ(released(job({"age"}, kLoud), data).total().value, 3);
  nlohmann::json one = kLoud;
  one["rows_per_unit"] = 1;
  EXPECT_EQ(released(job({"age"}, one), data).total().value, 1);
  const auto event = std::get<events::DiscreteLaplace>(job({"age"}).event().kind);
  EXPECT_EQ(event.l1_sensitivity, 3);
  EXPECT_EQ(event.scale, 3);
}

// The noise of a sparse histogram may be for one row of a person in a cell: then no more count there.
TEST(HistogramJob, APersonCountsInACellAtMostAsOftenAsItsNoiseIsFor) {
  std::string others;  // 20 in each ward, so that both are named
  for (int i = 100; i < 140; ++i)
    others += std::to_string(i) + (i % 2 == 0 ? ",30,a,1\n" : ",30,b,1\n");
  const auto rows_of_one = [&](const std::string& rows, int per_cell) {
    const nlohmann::json options = {{"epsilon", 100000},  {"delta", 0.5},
                                    {"rows_per_unit", 3}, {"rows_per_cell", per_cell},
                                    {"noise", "laplace"}, {"cells", "100,2"}};
    const auto histogram =
        released(job({"age", "ward"}, options, "sparse_histogram"), Data(rows + others));
    return histogram.total().value - 40;
  };
  const std::string alike = "7,30,a,1\n7,30,a,2\n7,30,a,1\n7,30,a,1\n";
  EXPECT_EQ(rows_of_one(alike, 0), 3);
  EXPECT_EQ(rows_of_one(alike, 2), 2);
  EXPECT_EQ(rows_of_one(alike, 1), 1);
  EXPECT_EQ(rows_of_one("7,30,a,1\n7,30,b,1\n7,30,a,1\n", 1), 2);
}

TEST(HistogramJob, EveryMethodRunsOnATable) {
  const Data data("1,10,a,5\n1,10,a,50\n2,99,b,99\n3,0,c,0\n");
  for (const HistogramEntry& each : histogram_entries()) {
    nlohmann::json options = {{"epsilon", 1}, {"cells", "16"}};
    for (const OptionSpec& option : each.about.options)
      if (option.name == "count_limit") options["count_limit"] = 100;
    for (const std::vector<std::string>& columns :
         {std::vector<std::string>{"age"}, std::vector<std::string>{"age", "weight"}}) {
      try {
        const HistogramJob on_columns = job(columns, options, each.about.name.c_str());
        SeededBits bits(2);
        Meter meter(on_columns.event());
        Context context{meter, bits};
        const auto answer = on_columns.run(*data.source(), context);
        EXPECT_FALSE(meter.charged().empty()) << each.about.name;
        EXPECT_EQ(answer.spent, on_columns.event()) << each.about.name;
        EXPECT_TRUE(std::isfinite(answer.value.histogram.total().value)) << each.about.name;
      } catch (const Error& error) {
        // Some are for one axis alone, some for several.
        EXPECT_EQ(error.code(), ErrorCode::kInvalidOption) << each.about.name;
      }
    }
  }
}

// Half of the total, each of four cells once: sums that determine all cells.
TEST(HistogramJob, AStrategyIsGivenSumBySum) {
  const Data data("1,10,a,5\n2,99,b,99\n3,99,c,0\n");
  nlohmann::json options = kLoud;
  options["cells"] = "4";
  options["strategy"] = "1/2,1/2,1/2,1/2,1,0,0,0,0,1,0,0,0,0,1,0,0,0,0,1";
  const RangeHistogram answer = released(job({"age"}, options, "matrix_mechanism"), data);
  EXPECT_NEAR(answer.cells()[0], 1, 1e-3);
  EXPECT_NEAR(answer.cells()[3], 2, 1e-3);
  options["strategy"] = "1,1,1,1,1";
  EXPECT_ERROR(job({"age"}, options, "matrix_mechanism"), ErrorCode::kInvalidOption);
  options["strategy"] = "1,1,1,1";  // tells the total alone
  EXPECT_ERROR(job({"age"}, options, "matrix_mechanism"), ErrorCode::kInvalidOption);
}

TEST(HistogramJob, WhatDoesNotFitIsRefusedBeforeAnythingIsRead) {
  EXPECT_ERROR(job({}), ErrorCode::kInvalidOption);
  EXPECT_ERROR(job({"height"}), ErrorCode::kUnknownName);
  EXPECT_ERROR(job({"ward", "ward"}), ErrorCode::kInvalidOption);
  EXPECT_ERROR(job({"ward", "age", "WARD"}), ErrorCode::kInvalidOption);
  EXPECT_ERROR(job({"person"}), ErrorCode::kMissingKnowledge);
  EXPECT_ERROR(job({"age"}, {{"epsilon", 1}, {"cells", "101"}}), ErrorCode::kInvalidOption);
  EXPECT_ERROR(job({"age"}, {{"epsilon", 1}, {"cells", "3,4"}}), ErrorCode::kInvalidOption);
  EXPECT_ERROR(job({"age"}, {{"epsilon", 0}}), ErrorCode::kInvalidOption);
  EXPECT_ERROR(job({"age"}, {{"epsilon", 1}}, "mean"), ErrorCode::kUnknownName);
}

}  // namespace
}  // namespace gauze
