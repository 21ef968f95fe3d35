#include "gauze/engine/families.h"

#include <gtest/gtest.h>

#include <set>

#include "gauze/registry/auditing.h"
#include "gauze/testing/matchers.h"
#include "gauze/testing/registry_options.h"
#include "gauze/testing/seeded_bits.h"
#include "gauze/testing/task.h"

namespace gauze {
namespace {

using gauze::testing::released;
using gauze::testing::required_options;
using gauze::testing::SeededBits;
using nlohmann::json;

/// Those that take plain values.
std::vector<const Algorithm*> plain_algorithms() {
  std::vector<const Algorithm*> plain = built_in().algorithms();
  std::erase_if(plain, [](const Algorithm* each) {
    return each->kind.plain != InputKind::Plain::kRows &&
           each->kind.plain != InputKind::Plain::kLines;
  });
  return plain;
}

Task task_of(const Algorithm& algorithm, const json& options) {
  return algorithm.make({.options = options, .wanted = Asked::Wanted::kValue});
}

Task task_of(const char* name, const json& options) {
  return task_of(built_in().find(name), options);
}

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
  for (const Family& family : built_in().families()) {
    EXPECT_FALSE(family.heading.empty());
    EXPECT_FALSE(family.algorithms.empty()) << family.heading;
  }
  for (const Algorithm* each : built_in().algorithms()) {
    EXPECT_TRUE(names.insert(each->name).second) << each->name;
    for (const std::string& text : {each->summary, each->input, each->guarantee, each->accuracy,
                                    each->cost, each->source, each->document})
      EXPECT_FALSE(text.empty()) << each->name;
  }
  EXPECT_GE(names.size(), 20u);
}

TEST(Registry, PrivacyParametersAndBoundsHaveNoDefault) {
  const std::set<std::string> never = {"epsilon", "delta",        "scale", "sigma",
                                       "lower",   "upper",        "p",     "l1_sensitivity",
                                       "bound",   "sensitivity",  "rho",   "l2_sensitivity",
                                       "cells",   "rows_per_unit"};
  for (const Algorithm* each : built_in().algorithms()) {
    for (const OptionSpec& option : each->options) {
      // Without a word about delta there is none: that promises most.
      if (option.name == "delta" && option.fallback == "0") continue;
      // A question in SQL takes the bounds of its schema.
      if (each->kind.plain == InputKind::Plain::kNone && option.name == "rows_per_unit") continue;
      EXPECT_TRUE(option.required() || !never.contains(option.name))
          << each->name << " " << option.name;
    }
  }
}

TEST(Registry, EveryAlgorithmRunsThroughTheDoorAndPaysItsPrice) {
  for (const Algorithm* each : plain_algorithms()) {
    const Task task = task_of(*each, sensible_options(*each));
    SeededBits bits(1);
    const auto answer = released(task, sensible_rows(*each), bits);
    EXPECT_FALSE(answer.value.json.at("value").is_null()) << each->name;
    EXPECT_EQ(answer.spent, task.event) << each->name;
    EXPECT_GT(answer.accuracy.half_width, 0) << each->name;
  }
}

TEST(Registry, ATaskDrawsNothingWhenItCannotPay) {
  for (const Algorithm* each : plain_algorithms()) {
    const Task task = task_of(*each, sensible_options(*each));
    SeededBits bits(1);
    Meter meter(Event{events::Approximate{Ratio(1, 1000), 0}, task.event.relation});
    Context context{meter, bits};
    try {
      task.run(sensible_rows(*each), context);
      ADD_FAILURE() << each->name << " ran without paying";
    } catch (const Error& error) {
      EXPECT_TRUE(error.code() == ErrorCode::kBudgetExceeded ||
                  error.code() == ErrorCode::kCannotCompose)
          << each->name;
    }
    EXPECT_EQ(bits.refills(), 0u) << each->name;
  }
}

TEST(Registry, AMissingOptionIsAnErrorForEveryAlgorithm) {
  for (const Algorithm* each : plain_algorithms()) {
    const json options = sensible_options(*each);
    for (const auto& [name, value] : options.items()) {
      json without = options;
      without.erase(name);
      EXPECT_ERROR(task_of(*each, without), ErrorCode::kInvalidOption);
    }
  }
}

// 400 people have the two common keys; the third word of a row and the key of one person do not
// count and are not named (probability 2e-6).
TEST(Registry, KeySelectionNamesWordsThatManyRowsHaveInOrder) {
  std::vector<std::string> cells(400, "pear;;apple;apple;never");
  cells.push_back("secret");
  SeededBits bits(4);
  const Task task =
      task_of("key_selection", {{"epsilon", 1}, {"delta", "1e-6"}, {"keys_per_unit", 2}});
  EXPECT_EQ(json(released(task, Rows(cells), bits).value.json.at("value")),
            json({"apple", "pear"}));
}

// Noise 20 is a thousandth of the distances.
TEST(Registry, StreamsAreAnsweredLineByLineAndReadNoFurtherThanTheLastAnswer) {
  const json options = {{"epsilon", 1},
                        {"threshold", 0},
                        {"positives", 2},
                        {"sensitivity", 1},
                        {"value_share", "0.5"}};
  const Task task = task_of("sparse_vector", options);
  const std::vector<double> numbers = {-20000, 20000, -20000, 30000, 20000, -20000};
  std::size_t read = 0;
  std::vector<Said> said;
  Dialogue dialogue{
      [&]() -> std::optional<std::vector<double>> { return std::vector{numbers.at(read++)}; },
      [&](const Said& answer) {
        EXPECT_EQ(said.size() + 1, read);
        said.push_back(answer);
      }};
  SeededBits bits(5);
  const auto answer = released(task, std::ref(dialogue), bits);
  EXPECT_EQ(answer.value.json.at("value").size(), 4u);
  EXPECT_EQ(answer.value.text, "") << "it was told line by line";
  EXPECT_EQ(answer.spent, task.event);
  EXPECT_EQ(read, 4u);
  ASSERT_EQ(said.size(), 4u);
  EXPECT_EQ(said[0].json, "below");
  EXPECT_EQ(said[0].text, "below");
  EXPECT_NEAR(said[1].json.get<double>(), 20000, 500);
  EXPECT_TRUE(said[1].text.starts_with("above ")) << said[1].text;
  EXPECT_FALSE(said[1].last);
  EXPECT_EQ(said[2].json, "below");
  EXPECT_NEAR(said[3].json.get<double>(), 30000, 500);
  EXPECT_TRUE(said[3].last);
}

TEST(Registry, AnUnknownNameSuggestsTheNearest) {
  EXPECT_ERROR(built_in().find("medain"), ErrorCode::kUnknownName);
}

// The accuracy of a mean depends on how many people there are, and that is private.
TEST(Registry, WhatDependsOnAPrivateLengthIsNotPromisedBeforehand) {
  const json options = {{"epsilon", 1}, {"lower", 0}, {"upper", 10}, {"relation", "add_remove"}};
  EXPECT_FALSE(task_of("mean", options).accuracy(100, 0.95));
  EXPECT_FALSE(task_of("variance", options).accuracy(100, 0.95));
  EXPECT_TRUE(task_of("median", options).accuracy(100, 0.95));
  const json choice = {{"epsilon", 1}, {"sensitivity", 1}};
  EXPECT_GT(task_of("exponential", choice).accuracy(1000, 0.95)->half_width,
            task_of("exponential", choice).accuracy(10, 0.95)->half_width);
}

// Nobody has to know an algorithm to audit it.
TEST(Registry, EveryAlgorithmOnPlainValuesStatesNeighbouringInputs) {
  for (const Algorithm* each : plain_algorithms())
    EXPECT_FALSE(neighbours_for(*each, required_options(*each)).empty()) << each->name;
}

}  // namespace
}  // namespace gauze
