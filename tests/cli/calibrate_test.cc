#include <gmock/gmock.h>

#include <cmath>

#include "program.h"

namespace {

using ::testing::HasSubstr;

double calibrated(const std::string& arguments, const char* key) {
  const Ran ran = gauze_program("calibrate " + arguments + " --json");
  EXPECT_EQ(ran.exit, 0) << arguments << ran.err;
  return ran.exit == 0 ? ran.json().at(key).get<double>() : NAN;
}

double spent(const std::string& event, const std::string& delta) {
  return gauze_program("account --json --delta " + delta + " -", event)
      .json()
      .at("epsilon")
      .get<double>();
}

std::string number(double value) {
  return nlohmann::json(value).dump();
}

// Balle and Wang's analytic calibration: 3.730632 at epsilon 1, delta 1e-5.
TEST(CalibrateCommand, FindsTheSmallestGaussian) {
  const double sigma = calibrated("gaussian --epsilon 1 --delta 1e-5 --l2-sensitivity 1", "sigma");
  EXPECT_NEAR(sigma, 3.730632, 1e-5);
  EXPECT_NEAR(calibrated("gaussian --epsilon 1 --delta 1e-5 --l2-sensitivity 3", "sigma"),
              3 * sigma, 1e-4);
}

TEST(CalibrateCommand, LaplaceIsSensitivityOverEpsilon) {
  EXPECT_NEAR(calibrated("laplace --epsilon 0.5 --l1-sensitivity 3", "scale"), 6, 1e-7);
  EXPECT_NEAR(calibrated("discrete_laplace --epsilon 0.5 --l1-sensitivity 3", "scale"), 6, 1e-7);
}

TEST(CalibrateCommand, RandomizedResponseIsTheLogisticFunction) {
  EXPECT_NEAR(calibrated("randomized_response --epsilon 1", "p"), 1 / (1 + std::exp(-1.0)), 1e-7);
  EXPECT_NEAR(calibrated("randomized_response --epsilon 1 --options 10", "p"),
              std::exp(1.0) / (std::exp(1.0) + 9), 1e-7);
}

TEST(CalibrateCommand, WhatItFindsIsAcceptedByTheAccountant) {
  const double sigma =
      calibrated("discrete_gaussian --epsilon 0.7 --delta 1e-6 --l2-sensitivity 1", "sigma");
  EXPECT_LE(
      spent(R"({"type":"discrete_gaussian","l2_sensitivity":1,"sigma":)" + number(sigma) + "}",
            "1e-6"),
      0.7);
  const double run = calibrated(
      "gaussian --epsilon 2 --delta 1e-5 --l2-sensitivity 1 --rate 0.01 --steps 1000", "sigma");
  const std::string event = R"({"type":"poisson_sampled","rate":0.01,"count":1000,"event":)"
                            R"({"type":"gaussian","l2_sensitivity":1,"sigma":)";
  EXPECT_LE(spent(event + number(run) + "}}", "1e-5"), 2);
  EXPECT_GT(spent(event + number(run * 0.99) + "}}", "1e-5"), 2);
  const double each =
      calibrated("exponential --epsilon 1 --delta 1e-6 --count 100", "epsilon_each");
  EXPECT_GT(each, 0.01);
  EXPECT_LE(spent(R"({"type":"exponential","count":100,"epsilon":)" + number(each) + "}", "1e-6"),
            1);
}

TEST(CalibrateCommand, RefusesTenAndMoreUnlessToldOtherwise) {
  const Ran ran = gauze_program("calibrate laplace --epsilon 10 --l1-sensitivity 1");
  EXPECT_EQ(ran.exit, 2);
  EXPECT_THAT(ran.err, HasSubstr("--accept-weak"));
  EXPECT_NEAR(calibrated("laplace --epsilon 10 --l1-sensitivity 1 --accept-weak", "scale"), 0.1,
              1e-8);
}

TEST(CalibrateCommand, BadOptionsNameTheOption) {
  const std::pair<const char*, const char*> cases[] = {
      {"laplace --epsilon 0 --l1-sensitivity 1", "--epsilon"},
      {"laplace --epsilon -1 --l1-sensitivity 1", "--epsilon"},
      {"laplace --epsilon nan --l1-sensitivity 1", "--epsilon"},
      {"laplace --epsilon 1 --l1-sensitivity 0", "--l1-sensitivity"},
      {"laplace --epsilon 1 --l1-sensitivity inf", "--l1-sensitivity"},
      {"laplace --epsilon 1", "--l1-sensitivity"},
      {"gaussian --epsilon 1 --delta 1 --l2-sensitivity 1", "--delta"},
      {"gaussian --epsilon 1 --delta 0.01 --l2-sensitivity 1", "--accept-weak"},
      {"gaussian --epsilon 1 --delta 1e-6 --l2-sensitivity 1 --rate 0", "--rate"},
      {"gaussian --epsilon 1 --delta 1e-6 --l2-sensitivity 1 --rate 1.5", "--rate"},
      {"gaussian --epsilon 1 --delta 1e-6 --l2-sensitivity 1 --steps 10", "--rate"},
      {"gaussian --epsilon 1 --delta 1e-6 --l2-sensitivity 1 --count 0", "--count"},
      {"randomized_response --epsilon 1 --options 1", "--options"},
  };
  for (const auto& [arguments, option] : cases) {
    const Ran ran = gauze_program(std::string("calibrate ") + arguments);
    EXPECT_EQ(ran.exit, 2) << arguments;
    EXPECT_THAT(ran.err, HasSubstr(option)) << arguments;
    EXPECT_EQ(ran.out, "") << arguments;
  }
  EXPECT_EQ(gauze_program("calibrate cauchy --epsilon 1").exit, 2);
}

TEST(CalibrateCommand, WhatCannotBeReachedIsExitCodeFour) {
  EXPECT_EQ(gauze_program("calibrate gaussian --epsilon 1 --l2-sensitivity 1").exit, 4);
}

TEST(CalibrateCommand, ExtremeTargetsGetAnAnswerThatHoldsOrAnError) {
  for (const char* epsilon : {"1e-308", "1e-100", "1e100", "1e308"}) {
    const Ran ran = gauze_program(std::string("calibrate laplace --l1-sensitivity 1 --accept-weak "
                                              "--json --epsilon ") +
                                  epsilon);
    EXPECT_TRUE(ran.exit == 0 || ran.exit == 2 || ran.exit == 4) << epsilon << ran.err;
    if (ran.exit != 0) continue;
    const double scale = ran.json().at("scale").get<double>();
    EXPECT_GE(scale, 0.999999 / std::strtod(epsilon, nullptr)) << epsilon;
  }
}

}  // namespace
