#include <gmock/gmock.h>

#include <cmath>

#include "program.h"

namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// 3,000 people, one row each, of ages 0 to 99 and two towns.
std::string people(const Folder& folder) {
  std::string rows = "person,age,town,height,pace\n";
  for (int i = 0; i < 3000; ++i)
    rows += std::to_string(i) + "," + std::to_string(i * i % 100) + "," +
            (i % 3 == 0 ? "north" : "south") + "," + std::to_string(150 + i % 50) + "," +
            std::to_string(i % 7) + "\n";
  folder.write("people.schema.json", R"({"version": 1, "dataset": "people", "tables": {"people": {
    "unit": "person", "rows_per_unit": 1, "columns": {
      "person": {"type": "integer"},
      "age": {"type": "integer", "lower": 0, "upper": 99, "nulls": false},
      "town": {"type": "text", "categories": ["north", "south"], "nulls": false, "default": "south"},
      "height": {"type": "double", "lower": 100, "upper": 250, "nulls": false},
      "pace": {"type": "double", "lower": 0, "upper": 7, "nulls": false}}}}})");
  return folder.write("people.csv", rows);
}

// Noise beyond 200 at epsilon 1 has probability below e^-20.
TEST(HistogramCommand, CountsTheCellsOfAColumnWithErrorBars) {
  const Folder folder;
  const Ran ran = gauze_program("release auto_histogram --epsilon 1 --data " + people(folder) +
                                " --column town --json");
  ASSERT_EQ(ran.exit, 0) << ran.err;
  const auto rows = ran.json().at("rows");
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].at("town"), "north");
  EXPECT_NEAR(rows[0].at("n").get<double>(), 1000, 200);
  EXPECT_GT(rows[0].at("n_half_width").get<double>(), 2);
  EXPECT_EQ(ran.json().at("cost").at("epsilon"), 1.0);
  EXPECT_NEAR(ran.json().at("total").at("n").get<double>(), 3000, 200);
}

/// 600 rows with a truth value `b` and a category `n`.
std::string flags(const Folder& folder) {
  std::string rows = "b,n\n";
  for (int i = 0; i < 600; ++i)
    rows += (i % 3 == 0 ? "true," : "false,") + std::string(i % 2 == 0 ? "few" : "many") + "\n";
  folder.write("flags.schema.json", R"({"version": 1, "dataset": "flags", "tables": {"flags": {
    "unit": "row", "columns": {
      "b": {"type": "boolean", "nulls": false},
      "n": {"type": "text", "categories": ["few", "many"], "nulls": false, "default": "few"}}}}})");
  return folder.write("flags.csv", rows);
}

TEST(HistogramCommand, TruthValuesAreNamedAsCategoriesAre) {
  const Folder folder;
  const std::string data = flags(folder);
  for (const char* method : {"flat_histogram", "adaptive_grid"}) {
    const Ran ran = gauze_program("release " + std::string(method) + " --epsilon 1 --data " + data +
                                  " --column b --json -o " + folder.path("b.csv"));
    ASSERT_EQ(ran.exit, 0) << method << ran.err;
    const auto rows = ran.json().at("rows");
    ASSERT_EQ(rows.size(), 2u) << ran.out;
    EXPECT_EQ(rows[0].at("b"), false) << ran.out;
    EXPECT_EQ(rows[1].at("b"), true) << ran.out;
    EXPECT_THAT(folder.read("b.csv"),
                AllOf(HasSubstr("b,n,n_half_width,n_variance\nfalse,"), HasSubstr("\ntrue,")));
  }
  const std::string both = "release flat_histogram --epsilon 1 --cells 1 --column b --data " + data;
  EXPECT_TRUE(gauze_program(both + " --json").json().at("rows")[0].at("b").is_null());
  EXPECT_THAT(gauze_program(both).out, HasSubstr("any"));
}

TEST(HistogramCommand, ACountIsNeverCalledAsAColumnIs) {
  const Folder folder;
  const std::string data = flags(folder);
  const std::string release = "release flat_histogram --epsilon 1 --json --data " + data;
  const Ran ran = gauze_program(release + " --column n -o " + folder.path("n.csv") + " --report " +
                                folder.path("n.html"));
  ASSERT_EQ(ran.exit, 0) << ran.err;
  const auto rows = ran.json().at("rows");
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].at("n"), "few");
  EXPECT_NEAR(rows[0].at("n_").get<double>(), 300, 100);
  EXPECT_TRUE(rows[0].contains("n__half_width"));
  EXPECT_THAT(folder.read("n.csv"), HasSubstr("n,n_,n__half_width,n__variance\nfew,"));
  EXPECT_THAT(folder.read("n.html"), HasSubstr("few"));
  const Ran range = gauze_program(release + " --column n --range many");
  ASSERT_EQ(range.exit, 0) << range.err;
  EXPECT_EQ(range.json().at("ranges")[0].at("n"), "many");
  EXPECT_TRUE(range.json().at("ranges")[0].contains("n__variance"));
}

TEST(HistogramCommand, AnswersRangesInTheColumnsOwnValues) {
  const Folder folder;
  const std::string data = people(folder);
  const Ran ran = gauze_program("release hierarchical_histogram --epsilon 2 --data " + data +
                                " --column age --range 0:49 --range 50: --range 7 --json");
  ASSERT_EQ(ran.exit, 0) << ran.err;
  const auto ranges = ran.json().at("ranges");
  ASSERT_EQ(ranges.size(), 3u);
  EXPECT_EQ(ranges[0].at("age"), "0 to 49");
  EXPECT_EQ(ranges[1].at("age"), "50 to 99");
  EXPECT_EQ(ranges[2].at("age"), "7");
  EXPECT_NEAR(ranges[0].at("n").get<double>() + ranges[1].at("n").get<double>(), 3000, 400);
}

// Flat noise at epsilon 1 has variance 2 e^-1 / (1 - e^-1)^2 = 1.8413 in each of the 2 x 20 and 30 cells; the
// counts are off by more than 100 with probability below e^-15.
TEST(HistogramCommand, AnswersConditionsOnSeveralColumns) {
  const Folder folder;
  const std::string data = people(folder);
  const Ran ran = gauze_program(
      "release flat_histogram --epsilon 1 --json --columns age,town --cells 100 --where \"age < 10 "
      "OR age >= 90\" --where \"town = 'north' AND NOT age < 70\" --range 0:9,: --data " +
      data);
  ASSERT_EQ(ran.exit, 0) << ran.err;
  const auto where = ran.json().at("where");
  ASSERT_EQ(where.size(), 2u);
  EXPECT_EQ(where[0].at("condition"), "age < 10 OR age >= 90");
  int ends = 0;
  int old_north = 0;
  for (int i = 0; i < 3000; ++i) {
    const int age = i * i % 100;
    ends += age < 10 || age >= 90 ? 1 : 0;
    old_north += i % 3 == 0 && age >= 70 ? 1 : 0;
  }
  EXPECT_NEAR(where[0].at("n").get<double>(), ends, 100);
  EXPECT_NEAR(where[1].at("n").get<double>(), old_north, 100);
  EXPECT_NEAR(where[0].at("n_variance").get<double>(), 40 * 1.8413, 0.01);
  EXPECT_NEAR(where[1].at("n_variance").get<double>(), 30 * 1.8413, 0.01);
  EXPECT_GT(where[1].at("n_half_width").get<double>(), 1.9 * std::sqrt(30 * 1.8413));
  EXPECT_EQ(ran.json().at("ranges").size(), 1u);
  EXPECT_FALSE(ran.json().contains("rows"));
  const Ran text = gauze_program(
      "release flat_histogram --epsilon 1 --column age --where 'age < 10' --data " + data);
  EXPECT_THAT(text.out, HasSubstr("age < 10"));
}

TEST(HistogramCommand, RefusesConditionsThatCutCellsBeforeAnythingIsPaid) {
  const Folder folder;
  const std::string ask = "release flat_histogram --epsilon 1 --data " + people(folder);
  const Ran cut = gauze_program(ask + " --column age --cells 10 --where 'age < 15'");
  EXPECT_EQ(cut.out, "");
  EXPECT_THAT(cut.err, HasSubstr("inside of a cell, 10 to 19"));
  EXPECT_THAT(gauze_program(ask + " --column age --where \"town = 'north'\"").err,
              HasSubstr("town"));
  EXPECT_THAT(gauze_program(ask + " --column town --where \"town = 'east'\"").err,
              HasSubstr("no category"));
}

// Two ranges that share no cell can each be counted with the whole budget: variance 1.84, beside 50 times
// that in a flat histogram.
TEST(HistogramCommand, MeasuresWhatWillBeAsked) {
  const Folder folder;
  const std::string data = people(folder);
  for (const std::string method : {"hdmm", "dawa", "auto_histogram"}) {
    const std::string ask = "release " + method + " --epsilon 1 --json --column age --data " + data;
    const Ran ran = gauze_program(ask + " --workload asked --range 0:49 --range 50:");
    ASSERT_EQ(ran.exit, 0) << ran.err;
    const auto ranges = ran.json().at("ranges");
    ASSERT_EQ(ranges.size(), 2u);
    for (const auto& range : ranges) EXPECT_LT(range.at("n_variance").get<double>(), 3) << method;
    EXPECT_THAT(gauze_program(ask + " --workload asked").err, HasSubstr("--range"));
    EXPECT_THAT(gauze_program(ask + " --workload asked --where 'age < 3'").err,
                HasSubstr("--range"));
    EXPECT_THAT(gauze_program(ask + " --workload nothing").err, HasSubstr("workload: must be"));
  }
  const std::string tables =
      "release hdmm --epsilon 1 --json --columns age,town --cells 100 --workload marginals --where "
      "\"town = 'north'\" --data " +
      data;
  const Ran one = gauze_program(tables + " --way 1");
  ASSERT_EQ(one.exit, 0) << one.err;
  const Ran two = gauze_program(tables + " --way 2");
  ASSERT_EQ(two.exit, 0) << two.err;
  const auto variance = [](const Ran& ran) {
    return ran.json().at("where")[0].at("n_variance").get<double>();
  };
  // Both columns in one table is a flat histogram: 100 cells.
  EXPECT_NEAR(variance(two), 100 * 1.8413, 0.1);
  EXPECT_LT(variance(one), 50 * 1.8413);
  EXPECT_THAT(gauze_program(tables + " --way 3").err, HasSubstr("way"));
  // Of counts in a file, and of boxes.
  const std::string counts = folder.write("counts.txt", "5\n6\n7\n8\n9\n10\n");
  const Ran file = gauze_program(
      "release hdmm --epsilon 1 --rows-per-unit 1 --cells 2,3 --workload asked --range 0,0:1 "
      "--range "
      "1,: --json " +
      counts);
  ASSERT_EQ(file.exit, 0) << file.err;
  EXPECT_EQ(file.json().at("ranges").size(), 2u);
}

// What decided is printed: a strategy for one range, for three tables of two columns; cells by their aim. One column
// has no tables of several.
TEST(HistogramCommand, ChoosesByTheDeclaredWorkloadAndSaysWhy) {
  const Folder folder;
  const std::string data = people(folder);
  const std::string ask = "release auto_histogram --epsilon 1 --data " + data;
  const std::string asked =
      gauze_program(ask + " --column age --workload asked --range 10:30 --range 40").out;
  EXPECT_THAT(asked, AllOf(HasSubstr("method     strategy for the declared questions"),
                           HasSubstr("(100 cells, epsilon 1, declared questions)"),
                           HasSubstr("no question tells apart"), HasSubstr("= 1 for one person")));
  const Ran tables = gauze_program(ask +
                                   " --columns age,town,pace --cells 100 --workload marginals "
                                   "--way 1 --expected-rows 3000 --json");
  ASSERT_EQ(tables.exit, 0) << tables.err;
  EXPECT_THAT(tables.json().at("method").at("note").get<std::string>(),
              ::testing::StartsWith("strategy"));
  EXPECT_THAT(gauze_program(ask + " --column age --workload cells").out,
              HasSubstr("(100 cells, epsilon 1, cells)"));
  EXPECT_THAT(gauze_program(ask + " --column age").out,
              AllOf(HasSubstr("method     adaptive hierarchy"), HasSubstr("a paid count of about"),
                    HasSubstr("(100 cells, epsilon 1, ranges)")));
  EXPECT_THAT(gauze_program(ask + " --column age --workload marginals").err,
              AllOf(HasSubstr("several columns"), HasSubstr("cells")));
  EXPECT_THAT(gauze_program(ask + " --columns age,town --workload marginals --way 3").err,
              HasSubstr("way"));
  EXPECT_THAT(gauze_program(ask + " --column age --aim cells").err, HasSubstr("--aim"));
  EXPECT_THAT(gauze_program("describe auto_histogram").out, HasSubstr("workload  (text"));
  const std::string job = folder.write(
      "asked.json",
      R"({"algorithm": "auto_histogram", "options": {"epsilon": 1, "workload": "asked"}, "data": ")" +
          folder.path("people.csv") + R"(", "column": "age", "ranges": ["0:9"]})");
  const Ran ran = gauze_program("run --json " + job);
  ASSERT_EQ(ran.exit, 0) << ran.err;
  EXPECT_LT(ran.json().at("ranges")[0].at("n_variance").get<double>(), 2);
}

TEST(HistogramCommand, TakesQuestionsInAJob) {
  const Folder folder;
  people(folder);
  const std::string job = folder.write(
      "job.json", R"({"algorithm": "flat_histogram", "options": {"epsilon": 1}, "data": ")" +
                      folder.path("people.csv") +
                      R"(", "column": "age", "ranges": ["0:9"], "where": ["age < 10"]})");
  const Ran ran = gauze_program("run --json " + job);
  ASSERT_EQ(ran.exit, 0) << ran.err;
  EXPECT_DOUBLE_EQ(ran.json().at("ranges")[0].at("n").get<double>(),
                   ran.json().at("where")[0].at("n").get<double>());
}

// A hundred cells of 20 rows and more among two million, at epsilon 5: noise beyond 14 has probability
// e^-70, and so has a cell that is not named.
TEST(HistogramCommand, NamesTheFullCellsOfAHugeDomain) {
  const Folder folder;
  const std::string release = "release sparse_histogram --epsilon 5 --delta 1e-6 --data " +
                              people(folder) + " --columns town,height --cells 1000000";
  const Ran ran = gauze_program(release + " --json");
  ASSERT_EQ(ran.exit, 0) << ran.err;
  const auto rows = ran.json().at("rows");
  ASSERT_EQ(rows.size(), 100u);
  EXPECT_EQ(rows[0].at("town"), "north");
  EXPECT_NEAR(rows[0].at("height_from").get<double>(), 150, 1e-3);
  EXPECT_NEAR(rows[0].at("n").get<double>(), 20, 14);
  const Ran text = gauze_program(release);
  EXPECT_THAT(text.out, HasSubstr("100 boxes"));
  EXPECT_THAT(text.out, HasSubstr("rows of all others are missing"));
  // The cost is quoted at the delta that was asked for.
  const Ran rough = gauze_program("release sparse_histogram --epsilon 5 --delta 1e-5 --data " +
                                  people(folder) + " --column town --json");
  ASSERT_EQ(rough.exit, 0) << rough.err;
  EXPECT_DOUBLE_EQ(rough.json().at("cost").at("delta"), 1e-5);
  EXPECT_EQ(gauze_program("release sparse_histogram --epsilon 5 --data " + people(folder) +
                          " --column town")
                .exit,
            2);
}

TEST(HistogramCommand, DrawsBarsAndHeatMapsAndWritesFiles) {
  const Folder folder;
  const std::string data = people(folder);
  const Ran bars = gauze_program("release auto_histogram --epsilon 1 --data " + data +
                                 " --column age --whole -o " + folder.path("ages.csv") +
                                 " --report " + folder.path("ages.html"));
  ASSERT_EQ(bars.exit, 0) << bars.err;
  EXPECT_THAT(bars.out, HasSubstr("in 100 cells"));
  EXPECT_THAT(bars.out, HasSubstr("method     "));
  const std::string csv = folder.read("ages.csv");
  EXPECT_THAT(csv, HasSubstr("age_from,age_to,n,n_half_width,n_variance\n"));
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 101);
  EXPECT_THAT(csv, Not(HasSubstr(",-")));
  EXPECT_THAT(folder.read("ages.html"), HasSubstr("class=\"bars\""));
  EXPECT_THAT(folder.read("ages.html"), HasSubstr("Method: auto_histogram: "));
  const Ran map = gauze_program("release adaptive_grid --epsilon 1 --data " + data +
                                " --columns age,height --report " + folder.path("map.html"));
  ASSERT_EQ(map.exit, 0) << map.err;
  EXPECT_THAT(map.out, HasSubstr("left to right"));
  EXPECT_THAT(map.out, HasSubstr("boxes"));
  EXPECT_THAT(folder.read("map.html"),
              AllOf(HasSubstr("class=\"heat\""), HasSubstr("class=\"scale\"><span"),
                    HasSubstr("class=\"times\"><span"), HasSubstr("class=\"legend\"")));
}

// 2^32 cells: too many for a number in each, after the price was paid.
TEST(HistogramCommand, RoundsTheBoxesOfAMethodOnPointsAndNotItsCells) {
  const Folder folder;
  const std::string data = people(folder);
  for (const std::string method :
       {"adaptive_grid --epsilon 1", "sparse_histogram --epsilon 5 --delta 1e-6"}) {
    const Ran ran = gauze_program("release " + method + " --whole --json --data " + data +
                                  " --columns height,pace");
    ASSERT_EQ(ran.exit, 0) << ran.err;
    const auto rows = ran.json().at("rows");
    ASSERT_GT(rows.size(), 1u);
    for (const auto& row : rows) {
      const double n = row.at("n");
      EXPECT_TRUE(n >= 0 && n == std::floor(n)) << n;
    }
  }
  // Boxes of both towns are written as one row for each.
  const Ran towns = gauze_program("release uniform_grid --epsilon 1 --whole --json --data " + data +
                                  " --columns town,height --cells 60000");
  ASSERT_EQ(towns.exit, 0) << towns.err;
  EXPECT_LT(towns.json().at("rows").size(), 10'000u);
  const auto town_rows = towns.json().at("rows");
  for (const auto& row : town_rows) {
    const double n = row.at("n");
    EXPECT_TRUE(n >= 0 && n == std::floor(n)) << n;
  }
}

TEST(HistogramCommand, TakesCountsFromAFile) {
  const Ran ran = gauze_program(
      "release flat_histogram --epsilon 50 --accept-weak --rows-per-unit 1 --cells 2,2 --json -",
      "10\n20\n30\n40\n");
  ASSERT_EQ(ran.exit, 0) << ran.err;
  EXPECT_EQ(ran.json().at("rows")[3].at("n"), 40.0);
  const Ran short_one =
      gauze_program("release flat_histogram --epsilon 1 --rows-per-unit 1 --cells 5 -", "1\n2\n");
  EXPECT_NE(short_one.exit, 0);
  EXPECT_THAT(short_one.err, HasSubstr("one count for each cell"));
}

// What noise of one cell has: 2 a / (1 - a)^2 with a = e^-1.
TEST(HistogramCommand, SaysInJsonWhatItTookAndHowNoisyItIs) {
  const Folder folder;
  const std::string data = people(folder);
  const Ran ran =
      gauze_program("release auto_histogram --epsilon 1 --json --column age --data " + data);
  ASSERT_EQ(ran.exit, 0) << ran.err;
  EXPECT_EQ(ran.json().at("method").at("algorithm"), "auto_histogram");
  EXPECT_NE(ran.json().at("method").at("note"), "");
  const Ran flat =
      gauze_program("release flat_histogram --epsilon 1 --json --column town --data " + data);
  ASSERT_EQ(flat.exit, 0) << flat.err;
  EXPECT_NEAR(flat.json().at("rows")[0].at("n_variance").get<double>(), 1.8413, 1e-3);
  EXPECT_NEAR(flat.json().at("total").at("n_variance").get<double>(), 2 * 1.8413, 2e-3);
  const Ran range = gauze_program(
      "release flat_histogram --epsilon 1 --json --column town --range north --data " + data);
  EXPECT_NEAR(range.json().at("ranges")[0].at("n_variance").get<double>(), 1.8413, 1e-3);
}

TEST(HistogramCommand, PrintsTheCostThatTheLedgerHas) {
  const Folder folder;
  const std::string release =
      "release flat_histogram --epsilon 0.3 --column town --data " + people(folder);
  EXPECT_THAT(gauze_program(release).out, HasSubstr(" = 0.3 for one person"));
  EXPECT_THAT(gauze_program(release + " --json").out, Not(HasSubstr("0.3000")));
}

// Every third of empty data is below -1, and all cells together are shown as what they are shown as singly: 0.
TEST(HistogramCommand, ShowsNoNegativeTotalAndNoNegativeZeroWhereNoneIsWanted) {
  bool negative = false;
  for (int i = 0; i < 60 && !negative; ++i) {
    const Ran ran = gauze_program(
        "release flat_histogram --epsilon 0.1 --rows-per-unit 1 --cells 1 --non-negative -", "0\n");
    ASSERT_EQ(ran.exit, 0) << ran.err;
    EXPECT_THAT(ran.out, HasSubstr("in 1 cell\n"));
    EXPECT_THAT(ran.out, HasSubstr("at most 1 row of a person"));
    EXPECT_THAT(ran.out, Not(HasSubstr("in all     -")));
    EXPECT_THAT(ran.out, Not(HasSubstr("-0 ")));
    negative = ran.out.find("in all     0 ") != std::string::npos;
  }
  EXPECT_TRUE(negative);
}

TEST(HistogramCommand, NamesWhatItsErrorBarsLeaveOut) {
  const std::string counts = "5\n6\n7\n8\n";
  const auto text = [&](const std::string& method) {
    return gauze_program("release " + method + " --epsilon 1 --rows-per-unit 1 --cells 4 -", counts)
        .out;
  };
  EXPECT_THAT(text("fourier_histogram --frequencies 1"), HasSubstr("dropped frequencies"));
  EXPECT_THAT(text("fourier_histogram --frequencies 2"), HasSubstr("19 times in 20\n"));
  EXPECT_THAT(text("flat_histogram"), HasSubstr("19 times in 20\n"));
  EXPECT_THAT(text("auto_histogram"), AllOf(HasSubstr("flat"), HasSubstr("19 times in 20\n")));
  EXPECT_THAT(text("dawa"), HasSubstr("spreading a box evenly"));
}

TEST(HistogramCommand, SaysThatARangeWasWidenedToWholeCells) {
  const Folder folder;
  const std::string ask = "release flat_histogram --epsilon 1 --data " + people(folder) +
                          " --column age --cells 5 --range ";
  EXPECT_THAT(gauze_program(ask + "0:17").out, HasSubstr("'0:17' was widened to 0 to 19"));
  EXPECT_THAT(gauze_program(ask + "5:39").out, HasSubstr("'5:39' was widened to 0 to 39"));
  EXPECT_THAT(gauze_program(ask + "0:17 --json").json().at("notes").at(0), HasSubstr("widened"));
  for (const std::string whole : {"0:39", "20:", ":19", "-5:19", "80:200"})
    EXPECT_THAT(gauze_program(ask + whole).out, Not(HasSubstr("widened"))) << whole;
}

TEST(HistogramCommand, TakesOneRangeForEachFlagAndTheFileBehindIt) {
  const Folder folder;
  const std::string file = folder.write("counts.txt", "1\n2\n3\n");
  const Ran ran = gauze_program(
      "release flat_histogram --epsilon 1 --rows-per-unit 1 --cells 3 --json --range 0:1 --range "
      "2 " +
      file);
  ASSERT_EQ(ran.exit, 0) << ran.err;
  EXPECT_EQ(ran.json().at("ranges").size(), 2u);
}

TEST(HistogramCommand, CutsRangesOfTimesAtTwoDots) {
  const Folder folder;
  folder.write("log.schema.json", R"({"version": 1, "dataset": "log", "tables": {"log": {
    "unit": "row", "columns": {"at": {"type": "timestamp", "nulls": false,
      "lower": "2024-01-01 00:00:00", "upper": "2024-01-02 00:00:00"}}}}})");
  const std::string ask =
      "release flat_histogram --epsilon 1 --json --column at --cells 24 --data " +
      folder.write("log.csv", "at\n2024-01-01 08:30:00\n");
  const Ran ran = gauze_program(ask + " --range '2024-01-01 08:00:00..2024-01-01 09:30:00'");
  ASSERT_EQ(ran.exit, 0) << ran.err;
  EXPECT_EQ(ran.json().at("ranges").size(), 1u);
  EXPECT_THAT(gauze_program(ask + " --range '2024-01-01 08:00:00:2024-01-01 09:30:00'").err,
              HasSubstr("two dots"));
}

TEST(HistogramCommand, SaysHowToAskInstead) {
  const Folder folder;
  const std::string data = people(folder);
  const auto error = [&](const std::string& rest) {
    return gauze_program("release auto_histogram --data " + data + " " + rest).err;
  };
  EXPECT_THAT(error("--column age"), HasSubstr("epsilon"));
  EXPECT_THAT(error("--epsilon 1"), HasSubstr("which column"));
  EXPECT_THAT(error("--epsilon 1 --column weight"), HasSubstr("no column 'weight'"));
  EXPECT_THAT(error("--epsilon 1 --column person"), HasSubstr("\"lower\""));
  EXPECT_THAT(error("--epsilon 1 --column age --range 9:3"), HasSubstr("range"));
  EXPECT_THAT(error("--epsilon 1 --column town --range east"), HasSubstr("category"));
  for (const std::string range : {"500:600", "100", "100:", ":-1", "-7:-2"})
    EXPECT_THAT(error("--epsilon 1 --column age --range=" + range), HasSubstr("0 to 99")) << range;
  EXPECT_THAT(error("--epsilon 1 --column age --cells 1000"), HasSubstr("100 values"));
}

TEST(HistogramCommand, TakesJobsInJson) {
  const Folder folder;
  const std::string job = folder.write(
      "job.json", R"({"algorithm": "auto_histogram", "options": {"epsilon": 0.5, "cells": [10, 5]},
      "column": "age,height", "data": ")" +
                      people(folder) + R"(", "output": ")" + folder.path("map.json") + R"("})");
  const Ran ran = gauze_program("run --json " + job);
  ASSERT_EQ(ran.exit, 0) << ran.err;
  EXPECT_EQ(ran.json().at("rows").size(), 50u);
  EXPECT_THAT(folder.read("map.json"), HasSubstr("height_from"));
}

TEST(HistogramCommand, IsPaidFromTheLedger) {
  const Folder folder;
  const std::string data = people(folder);
  const std::string ledger = folder.path("people.ledger");
  ASSERT_EQ(gauze_program("ledger init " + ledger + " --dataset people --epsilon 1").exit, 0);
  const std::string ask =
      "release auto_histogram --epsilon 0.6 --column age --data " + data + " --ledger " + ledger;
  EXPECT_EQ(gauze_program(ask).exit, 0);
  const Ran second = gauze_program(ask);
  EXPECT_NE(second.exit, 0);
  EXPECT_THAT(second.err, HasSubstr("budget"));
}

}  // namespace
