#include "gauze/engine/registry.h"

#include <gtest/gtest.h>

#include <set>

#include "gauze/engine/release.h"
#include "gauze/testing/matchers.h"
#include "gauze/testing/registry_options.h"
#include "gauze/testing/seeded_bits.h"

namespace gauze {
namespace {

using gauze::testing::required_options;
using gauze::testing::SeededBits;
using nlohmann::json;

/// For one row.
json sensible_options(const Algorithm& algorithm) {
  json options = required_options(algorithm);
  for (const char* name : {"cells", "dimension"})
    if (options.contains(name)) options[name] = 1;
  return options;
}

/// A row that the algorithm takes.
Rows sensible_rows(const Algorithm& algorithm) {
  return Rows({algorithm.name == "thresholdout" ? "0.5;0.25" : "3"});
}

TEST(Registry, NamesAreDifferentAndEveryEntryIsComplete) {
  std::set<std::string> names;
  for (const Algorithm& each : algorithms()) {
    EXPECT_TRUE(names.insert(each.name).second) << each.name;
    for (const std::string& text : {each.summary, each.input, each.guarantee, each.accuracy,
                                    each.cost, each.source, each.document})
      EXPECT_FALSE(text.empty()) << each.name;
  }
  EXPECT_GE(names.size(), 20u);
}

TEST(Registry, PrivacyParametersAndBoundsHaveNoDefault) {
  const std::set<std::string> never = {"epsilon", "delta",        "scale", "sigma",
                                       "lower",   "upper",        "p",     "l1_sensitivity",
                                       "bound",   "sensitivity",  "rho",   "l2_sensitivity",
                                       "cells",   "rows_per_unit"};
  for (const Algorithm& each : algorithms()) {
    for (const OptionSpec& option : each.options) {
      // Without a word about delta there is none: that promises most.
      if (option.name == "delta" && option.fallback == "0") continue;
      EXPECT_TRUE(option.required() || !never.contains(option.name))
          << each.name << " " << option.name;
    }
  }
}

TEST(Registry, EveryAlgorithmRunsThroughTheDoorAndPaysItsPrice) {
  for (const Algorithm& each : algorithms()) {
    const Job job = make_job(each.name, sensible_options(each));
    SeededBits bits(1);
    const auto answer = release(job, sensible_rows(each), bits);
    EXPECT_FALSE(answer.value.is_null()) << each.name;
    EXPECT_EQ(answer.spent, job.event()) << each.name;
    EXPECT_GT(answer.accuracy.half_width, 0) << each.name;
  }
}

TEST(Registry, AJobDrawsNothingWhenItCannotPay) {
  for (const Algorithm& each : algorithms()) {
    const Job job = make_job(each.name, sensible_options(each));
    SeededBits bits(1);
    Meter meter(Event{events::Approximate{Ratio(1, 1000), 0}, job.event().relation});
    Context context{meter, bits};
    try {
      job.run(sensible_rows(each), context);
      ADD_FAILURE() << each.name << " ran without paying";
    } catch (const Error& error) {
      EXPECT_TRUE(error.code() == ErrorCode::kBudgetExceeded ||
                  error.code() == ErrorCode::kCannotCompose)
          << each.name;
    }
    EXPECT_EQ(bits.refills(), 0u) << each.name;
  }
}

TEST(Registry, AMissingOptionIsAnErrorForEveryAlgorithm) {
  for (const Algorithm& each : algorithms()) {
    const json options = sensible_options(each);
    for (const auto& [name, value] : options.items()) {
      json without = options;
      without.erase(name);
      EXPECT_ERROR(make_job(each.name, without), ErrorCode::kInvalidOption);
    }
  }
}

// 400 people have the two common keys; the third word of a row and the key of one person do not
// count and are not named (probability 2e-6).
TEST(Registry, KeySelectionNamesWordsThatManyRowsHaveInOrder) {
  std::vector<std::string> cells(400, "pear;;apple;apple;never");
  cells.push_back("secret");
  SeededBits bits(4);
  const Job job =
      make_job("key_selection", {{"epsilon", 1}, {"delta", "1e-6"}, {"keys_per_unit", 2}});
  EXPECT_EQ(release(job, Rows(cells), bits).value, json({"apple", "pear"}));
}

// Noise 20 is a thousandth of the distances.
TEST(Registry, StreamsAreAnsweredLineByLineAndReadNoFurtherThanTheLastAnswer) {
  const Algorithm& algorithm = find_algorithm("sparse_vector");
  const json options = {{"epsilon", 1},
                        {"threshold", 0},
                        {"positives", 2},
                        {"sensitivity", 1},
                        {"value_share", "0.5"}};
  const DialogueJob job = algorithm.dialogue(OptionValues(algorithm.options, options));
  const std::vector<double> numbers = {-20000, 20000, -20000, 30000, 20000, -20000};
  std::size_t read = 0;
  std::vector<json> said;
  Dialogue dialogue{
      [&]() -> std::optional<std::vector<double>> { return std::vector{numbers.at(read++)}; },
      [&](const json& answer) {
        EXPECT_EQ(said.size() + 1, read);
        said.push_back(answer);
      }};
  SeededBits bits(5);
  const auto answer = release(job, dialogue, bits);
  EXPECT_EQ(answer.value, 4u);
  EXPECT_EQ(answer.spent, job.event());
  EXPECT_EQ(read, 4u);
  ASSERT_EQ(said.size(), 4u);
  EXPECT_EQ(said[0], "below");
  EXPECT_NEAR(said[1].get<double>(), 20000, 500);
  EXPECT_EQ(said[2], "below");
  EXPECT_NEAR(said[3].get<double>(), 30000, 500);
}

TEST(Registry, AnUnknownNameSuggestsTheNearest) {
  EXPECT_ERROR(find_algorithm("medain"), ErrorCode::kUnknownName);
}

// The accuracy of a mean depends on how many people there are, and that is private.
TEST(Registry, WhatDependsOnAPrivateLengthIsNotPromisedBeforehand) {
  const json options = {{"epsilon", 1}, {"lower", 0}, {"upper", 10}, {"relation", "add_remove"}};
  EXPECT_FALSE(make_job("mean", options).accuracy(100, 0.95));
  EXPECT_FALSE(make_job("variance", options).accuracy(100, 0.95));
  EXPECT_TRUE(make_job("median", options).accuracy(100, 0.95));
  const json choice = {{"epsilon", 1}, {"sensitivity", 1}};
  EXPECT_GT(make_job("exponential", choice).accuracy(1000, 0.95)->half_width,
            make_job("exponential", choice).accuracy(10, 0.95)->half_width);
}

}  // namespace
}  // namespace gauze
