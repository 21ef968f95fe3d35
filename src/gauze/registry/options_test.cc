#include "gauze/registry/options.h"

#include <gtest/gtest.h>

#include "gauze/testing/matchers.h"

namespace gauze {
namespace {

const std::vector<OptionSpec>& table() {
  static const std::vector<OptionSpec> specs = {
      {"epsilon", OptionSpec::Type::kNumber, "the cost, above 0", ""},
      {"count", OptionSpec::Type::kWhole, "how many", "3"},
      {"offset", OptionSpec::Type::kInteger, "where", "-4"},
      {"relation", OptionSpec::Type::kText, "neighbours", "add_remove"},
      {"monotone", OptionSpec::Type::kFlag, "whether", "false"},
      {"probabilities", OptionSpec::Type::kNumbers, "which", "0.25,0.5"},
  };
  return specs;
}

OptionValues values(const nlohmann::json& json) {
  return OptionValues(table(), json);
}

TEST(Options, ReadsNumbersExactlyFromNumbersAndText) {
  EXPECT_EQ(values({{"epsilon", 0.1}}).number("epsilon"), Ratio(1, 10));
  EXPECT_EQ(values({{"epsilon", "7/3"}}).number("epsilon"), Ratio(7, 3));
  EXPECT_EQ(values({{"epsilon", "1e-308"}}).real("epsilon"), 1e-308);
}

TEST(Options, UsesTheDefaultOfWhatIsNotGiven) {
  const OptionValues given = values({{"epsilon", 1}});
  EXPECT_EQ(given.whole("count"), 3u);
  EXPECT_EQ(given.integer("offset"), -4);
  EXPECT_EQ(given.relation(), Relation::kAddRemove);
  EXPECT_FALSE(given.flag("monotone"));
  EXPECT_EQ(given.numbers("probabilities"), (std::vector<Ratio>{Ratio(1, 4), Ratio(1, 2)}));
}

TEST(Options, ReadsListsFromJsonAndFromCommas) {
  const std::vector<Ratio> expected = {Ratio(1, 10), Ratio(9, 10)};
  EXPECT_EQ(values({{"epsilon", 1}, {"probabilities", {0.1, "9/10"}}}).numbers("probabilities"),
            expected);
  EXPECT_EQ(values({{"epsilon", 1}, {"probabilities", "0.1,0.9"}}).numbers("probabilities"),
            expected);
}

TEST(Options, ReadsSizesAndThreadsAsTheyAreTyped) {
  const std::vector<OptionSpec> sizes = {{"memory", OptionSpec::Type::kText, "for rows", "0"},
                                         {"threads", OptionSpec::Type::kWhole, "at most", "0"}};
  const auto memory = [&](const char* text) {
    return OptionValues(sizes, {{"memory", text}}).bytes("memory");
  };
  EXPECT_EQ(memory("0"), 0u);
  EXPECT_EQ(memory("4G"), std::uint64_t{4} << 30);
  EXPECT_EQ(memory("1.5mb"), std::uint64_t{3} << 19);
  for (const char* wrong : {"1k", "-4G", "four", "G", "1e30"})
    EXPECT_ERROR(memory(wrong), ErrorCode::kInvalidOption);
  EXPECT_EQ(OptionValues(sizes, nlohmann::json::object()).threads("threads"), 0u);
  EXPECT_EQ(OptionValues(sizes, {{"threads", 1}}).threads("threads"), 1u);
  EXPECT_ERROR(OptionValues(sizes, {{"threads", 1025}}).threads("threads"),
               ErrorCode::kInvalidOption);
}

TEST(Options, AMissingRequiredOptionIsNamed) {
  EXPECT_ERROR(values({{"count", 1}}), ErrorCode::kInvalidOption);
  try {
    values({{"count", 1}});
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("epsilon"), std::string::npos);
  }
}

TEST(Options, AnUnknownOptionIsAnErrorNotADefault) {
  EXPECT_ERROR(values({{"epsilon", 1}, {"epsilonn", 2}}), ErrorCode::kUnknownName);
}

TEST(Options, ValuesOfAnotherTypeAreRejected) {
  EXPECT_ERROR(values({{"epsilon", "nan"}}).number("epsilon"), ErrorCode::kInvalidInput);
  EXPECT_ERROR(values({{"epsilon", "inf"}}).number("epsilon"), ErrorCode::kInvalidInput);
  EXPECT_ERROR(values({{"epsilon", nullptr}}), ErrorCode::kInvalidOption);
  EXPECT_ERROR(values({{"epsilon", 1}, {"count", -1}}).whole("count"), ErrorCode::kInvalidOption);
  EXPECT_ERROR(values({{"epsilon", 1}, {"count", 1.5}}).whole("count"), ErrorCode::kInvalidOption);
  EXPECT_ERROR(values({{"epsilon", 1}, {"count", "9223372036854775808"}}).whole("count"),
               ErrorCode::kInvalidOption);
  EXPECT_EQ(values({{"epsilon", 1}, {"count", "9223372036854775807"}}).whole("count"),
            9223372036854775807u);
  EXPECT_ERROR(values({{"epsilon", 1}, {"monotone", "yes"}}).flag("monotone"),
               ErrorCode::kInvalidOption);
  EXPECT_ERROR(values({{"epsilon", 1}, {"relation", "friends"}}).relation(),
               ErrorCode::kUnknownName);
  EXPECT_ERROR(values(nlohmann::json::array()), ErrorCode::kInvalidInput);
}

}  // namespace
}  // namespace gauze
