#include <gmock/gmock.h>

#include <cmath>

#include "program.h"

namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string numbers(int n) {
  std::string text;
  for (int i = 1; i <= n; ++i) text += std::to_string(i) + "\n";
  return text;
}

// Off by 60 at epsilon 1 happens with probability below e^-60.
TEST(ReleaseCommand, CountsWithAnErrorBarAndAPrice) {
  const Ran ran =
      gauze_program("release count --epsilon 1 --relation add_remove --json -", numbers(1000));
  ASSERT_EQ(ran.exit, 0) << ran.err;
  const auto json = ran.json();
  EXPECT_NEAR(json.at("value").get<double>(), 1000, 60);
  EXPECT_GE(json.at("accuracy").at("half_width").get<double>(), 2);
  EXPECT_EQ(json.at("accuracy").at("confidence"), 0.95);
  EXPECT_EQ(json.at("cost").at("epsilon"), 1.0);
  EXPECT_EQ(json.at("cost").at("delta"), 0.0);
  EXPECT_EQ(json.at("spent").at("relation"), "add_remove");
}

TEST(ReleaseCommand, TheHelpsExampleOfAFileAnswers) {
  const std::string help = gauze_program("release --help").out;
  const std::size_t from = help.find("release count"), to = help.find('\n', from);
  ASSERT_NE(to, std::string::npos) << help;
  const std::string example = help.substr(from, to - from);
  ASSERT_THAT(example, HasSubstr("people.csv"));
  const Folder folder;
  folder.write("people.csv", "name,age\nada,36\nalan,41\n");
  const Ran ran = gauze_program(example, "", "cd " + folder.path("") + ";");
  EXPECT_EQ(ran.exit, 0) << ran.err;
}

TEST(ReleaseCommand, ReadsAColumnOfAFileByName) {
  const Folder folder;
  std::string text = "name,age\n";
  for (int i = 0; i < 500; ++i) text += "\"N, " + std::to_string(i) + "\",40\n";
  const std::string file = folder.write("people.csv", text);
  const Ran ran = gauze_program(
      "release mean --epsilon 5 --lower 0 --upper 100 --relation add_remove --column age --json " +
      file);
  ASSERT_EQ(ran.exit, 0) << ran.err;
  EXPECT_NEAR(ran.json().at("value").get<double>(), 40, 5);
}

TEST(ReleaseCommand, ShowsTheAnswerWithItsErrorBar) {
  const Ran ran =
      gauze_program("release sum --epsilon 1 --lower 0 --upper 10 --relation replace -", "1\n2\n");
  EXPECT_EQ(ran.exit, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("accuracy"));
  EXPECT_THAT(ran.out, HasSubstr("cost"));
}

// Without a word that leads nothing is released; with epsilon 50 one that leads by 99 always is, but for a probability of
// e^-100.
TEST(ReleaseCommand, ShowsWhatMayBeNothingInWords) {
  const std::string mode =
      "release stable_mode --epsilon 50 --accept-weak --delta 1e-6 --relation add_remove ";
  std::string words;
  for (int i = 0; i < 100; ++i) words += "apple\n";
  EXPECT_THAT(gauze_program(mode + "-", words + "pear\n").out, StartsWith("apple\n"));
  EXPECT_THAT(gauze_program(mode + "-", "").out, StartsWith("no value"));
  EXPECT_EQ(gauze_program(mode + "--json -", "").json().at("value").at("released"), false);
  const Ran alarm = gauze_program(
      "release online_change_point --epsilon 1 --bound 1 --before 0 --after 1 --deviation 1 "
      "--window 5 --threshold 1000 -",
      numbers(20));
  EXPECT_THAT(alarm.out, StartsWith("alarm  false\n")) << alarm.err;
}

TEST(ReleaseCommand, WorksOnAnEmptyDataSetAndOnRowsThatAreNoNumbers) {
  const std::string bounds = " --epsilon 1 --lower 0 --upper 10 --relation add_remove -";
  for (const char* name : {"sum", "integer_sum", "mean", "variance", "median", "quantile",
                           "interquartile_range", "mode"}) {
    for (const char* input : {"", "nan\ninf\n-inf\nx\n-0.0\n1e999\n"}) {
      const Ran ran = gauze_program(std::string("release ") + name + bounds, input);
      EXPECT_EQ(ran.exit, 0) << name << ran.err;
    }
  }
  EXPECT_EQ(gauze_program("release count --epsilon 1 --relation replace -", "").exit, 0);
}

TEST(ReleaseCommand, CountsNearTheEndOfSixtyFourBitsDoNotWrap) {
  const Ran ran =
      gauze_program("release discrete_laplace --l1-sensitivity 1 --scale 5 --json -",
                    "9223372036854775807\n-9223372036854775808\n9223372036854775806\n4294967295\n");
  ASSERT_EQ(ran.exit, 0) << ran.err;
  const auto values = ran.json().at("value");
  EXPECT_GT(values.at(0).get<std::int64_t>(), INT64_MAX - 1000);
  EXPECT_LT(values.at(1).get<std::int64_t>(), INT64_MIN + 1000);
  EXPECT_GT(values.at(2).get<std::int64_t>(), INT64_MAX - 1000);
  EXPECT_NEAR(values.at(3).get<double>(), 4294967295.0, 1000);
}

TEST(ReleaseCommand, AVectorMustHoldFiniteNumbers) {
  const std::string laplace = "release laplace --l1-sensitivity 1 --scale 2 -";
  for (const char* input : {"", "nan\n", "inf\n", "x\n"}) {
    const Ran ran = gauze_program(laplace, input);
    EXPECT_EQ(ran.exit, 2) << input;
    EXPECT_EQ(ran.out, "") << input;
  }
  EXPECT_EQ(gauze_program(laplace, "1.5\n").exit, 0);
}

TEST(ReleaseCommand, ChoosesTheClearlyBestCandidate) {
  for (const char* name : {"exponential", "permute_and_flip", "report_noisy_max"}) {
    const Ran ran = gauze_program(
        std::string("release ") + name + " --epsilon 2 --sensitivity 1 --json -", "0\n1000\n0\n");
    ASSERT_EQ(ran.exit, 0) << name << ran.err;
    EXPECT_EQ(ran.json().at("value"), 1) << name;
  }
  const Ran best = gauze_program("release top_k --k 2 --epsilon 2 --sensitivity 1 --json -",
                                 "0\n1000\n0\n2000\n");
  EXPECT_EQ(best.json().at("value"), (nlohmann::json{3, 1})) << best.err;
}

// A distance of 10,000 is several hundred times the noise.
TEST(ReleaseCommand, SaysLineByLineWhatIsAboveAndEndsAfterTheLast) {
  const std::string sparse =
      "release sparse_vector --epsilon 1 --threshold 0 --positives 2 --sensitivity 1";
  const Ran ran = gauze_program(sparse + " -", "-10000\n10000\n\n-10000\n10000\n10000\nnoise\n");
  ASSERT_EQ(ran.exit, 0) << ran.err;
  EXPECT_EQ(ran.out.substr(0, ran.out.find("\n\n")), "below\nabove\nbelow\nabove");
  EXPECT_THAT(ran.out, HasSubstr("cost"));
  const Ran json = gauze_program(sparse + " --json", "10000\n-10000\n");
  ASSERT_EQ(json.exit, 0) << json.err;
  EXPECT_EQ(json.json().at("value"), (nlohmann::json{"above", "below"}));
  EXPECT_EQ(json.json().at("spent").at("type"), "sparse_vector");
  const Ran numbers = gauze_program(
      "release above_threshold --epsilon 1 --threshold 0 --sensitivity 1 --value-share 0.5",
      "10000\n");
  EXPECT_THAT(numbers.out, ::testing::StartsWith("above "));
}

TEST(ReleaseCommand, NeedsNoMoreOfAStreamThanItAnswers) {
  const Folder folder;
  const std::string command =
      "yes 10000 | " GAUZE_PROGRAM
      " release above_threshold --epsilon 1 --threshold 0 --sensitivity 1 >" +
      folder.path("out");
  EXPECT_EQ(WEXITSTATUS(std::system(command.c_str())), 0);
  EXPECT_THAT(folder.read("out"), ::testing::StartsWith("above\n"));
}

TEST(ReleaseCommand, AnswersFromHistoryAndFromAHoldout) {
  const Ran series = gauze_program(
      "release history_answers --epsilon 1 --threshold 3000 --fresh 2 --sensitivity 1 --json",
      "5\n10000\n10001\n");
  ASSERT_EQ(series.exit, 0) << series.err;
  const auto said = series.json().at("value");
  EXPECT_EQ(said.at(0), 0.0);
  EXPECT_NEAR(said.at(1).get<double>(), 10000, 500);
  EXPECT_EQ(said.at(2), said.at(1));
  const Ran holdout = gauze_program(
      "release thresholdout --holdout-size 1000000 --threshold 0.1 --tolerance 0.001 --budget 3",
      "0.51;0.5\n0.5;0.9\n");
  ASSERT_EQ(holdout.exit, 0) << holdout.err;
  EXPECT_THAT(holdout.out, ::testing::StartsWith("0.5\n"));
  const Ran short_line = gauze_program(
      "release thresholdout --holdout-size 1000000 --threshold 0.1 --tolerance 0.001 --budget 3",
      "0.51\n");
  EXPECT_EQ(short_line.exit, 2);
}

TEST(ReleaseCommand, RefusesAWeakGuaranteeUnlessToldOtherwise) {
  const std::string count = "release count --epsilon 10 --relation add_remove -";
  const Ran ran = gauze_program(count, "1\n");
  EXPECT_EQ(ran.exit, 2);
  EXPECT_THAT(ran.err, HasSubstr("--accept-weak"));
  EXPECT_EQ(gauze_program(count + " --accept-weak", "1\n").exit, 0);
  const std::string gaussian = "release gaussian --l2-sensitivity 1 --sigma 0.1 -";
  EXPECT_EQ(gauze_program(gaussian, "1\n").exit, 2);
}

TEST(ReleaseCommand, BadOptionsAreRefusedBeforeARowIsRead) {
  for (const char* arguments :
       {"count", "count --epsilon 0 --relation add_remove", "count --epsilon 1 --relation friends",
        "count --epsilon -1 --relation add_remove", "count --epsilon nan --relation add_remove",
        "count --epsilon 1", "sum --epsilon 1 --relation replace",
        "sum --epsilon 1 --lower 5 --upper 5 --relation replace",
        "sum --epsilon 1 --lower 5 --upper 4 --relation replace",
        "sum --epsilon 1 --lower -inf --upper 4 --relation replace",
        "laplace --l1-sensitivity 0 --scale 1", "laplace --l1-sensitivity 1 --scale 0",
        "laplace --l1-sensitivity 1 --scale -3", "no_such_algorithm --epsilon 1",
        "count --epsilon 1 --relation add_remove --colour red",
        "count --epsilon 1 --relation add_remove --confidence 1"}) {
    const Ran ran = gauze_program(std::string("release ") + arguments + " /no/such/file");
    EXPECT_EQ(ran.exit, 2) << arguments << ran.err;
  }
  EXPECT_EQ(gauze_program("release count --epsilon 1 --relation add_remove /no/such/file").exit, 5);
  const Ran typo = gauze_program("release cuont --epsilon 1");
  EXPECT_THAT(typo.err, HasSubstr("count"));
}

TEST(TheProgram, HelpsAndKnowsItsVersion) {
  const Ran help = gauze_program("--help");
  EXPECT_EQ(help.exit, 0);
  for (const char* command : {"list", "describe", "release", "account", "calibrate", "noise",
                              "explain", "tour", "version"}) {
    EXPECT_THAT(help.out, HasSubstr(command));
    EXPECT_EQ(gauze_program(std::string(command) + " --help").exit, 0) << command;
  }
  EXPECT_EQ(gauze_program("version --json").json().size(), 1u);
  EXPECT_EQ(gauze_program("").exit, 2);
  EXPECT_EQ(gauze_program("teleport").exit, 2);
}

TEST(ReleaseCommand, SaysWhenTheFileIsAFolderOrMissing) {
  const Folder folder;
  for (const char* name : {"", "missing"}) {
    const Ran ran =
        gauze_program("release count --epsilon 1 --relation replace " + folder.path(name));
    EXPECT_EQ(ran.exit, 5) << name << ran.err;
    EXPECT_EQ(ran.out, "");
  }
}

// Noise of scale 1e330 falls among the doubles with probability 1e-22.
TEST(ReleaseCommand, PrintsWhatIsBeyondTheDoublesAsInfinity) {
  const Ran ran = gauze_program(
      "release sum --epsilon 1e-330 --lower 0 --upper 1 --relation replace --json -", "1\n");
  ASSERT_EQ(ran.exit, 0) << ran.err;
  const auto value = ran.json().at("value");
  ASSERT_TRUE(value.is_string()) << ran.out;
  EXPECT_TRUE(value == "inf" || value == "-inf");
}

TEST(ReleaseCommand, NamesTheHelpOfTheCommandThatWasMistyped) {
  EXPECT_THAT(gauze_program("release mean --lower 1").err, HasSubstr("gauze release mean --help"));
  EXPECT_EQ(gauze_program("--version").out, gauze_program("version").out);
}

}  // namespace
