#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "gauze/data/json_list_internal.h"

namespace gauze::internal {
namespace {

struct SplitList {
  std::vector<std::string> lines;
  std::uint64_t left_out = 0;
  bool operator==(const SplitList&) const = default;
};

SplitList split_list(std::string_view text, std::size_t at_once) {
  SplitList result;
  JsonListSplitter splitter;
  for (; !text.empty(); text.remove_prefix(std::min(at_once, text.size())))
    splitter.feed(text.substr(0, at_once),
                  [&](std::string_view line) { result.lines.emplace_back(line); });
  result.left_out = splitter.left_out();
  return result;
}

TEST(JsonListSplitter, MakesALineOfEachObject) {
  const struct {
    const char* text;
    SplitList expected;
  } cases[] = {
      {"", {}},
      {"[]", {}},
      {"\xef\xbb\xbf [{}]", {{"{}\n"}, 0}},
      {"[{\"a\":1},{\"b\":[{\"c\":2},{}]}]", {{"{\"a\":1}\n", "{\"b\":[{\"c\":2},{}]}\n"}, 0}},
      {"[{\"a\":\n\r1}\n]", {{"{\"a\":  1}\n"}, 0}},
      {"[{\"a\":\"}],{\\\"\\\\\"},{}]", {{"{\"a\":\"}],{\\\"\\\\\"}\n", "{}\n"}, 0}},
      {"[1,\"a,]{\",[{},{}],null,{}]", {{"{}\n"}, 4}},
      {"[{},{\"a\":", {{"{}\n"}, 1}},
      {"[{\"a\":\"x\n},{}]", {{"{}\n"}, 2}},  // the bracket behind the line end is an element too
      {"[{\"a\":[1},{}]", {{"{}\n"}, 1}},
      {"[{}{},,{}]", {{"{}\n", "{}\n", "{}\n"}, 0}},
      {"[{}] {} [{}]", {{"{}\n", "{}\n", "{}\n"}, 0}},
      {"[]\n{\"a\":1}\n{}\n", {{"{\"a\":1}\n", "{}\n"}, 0}},  // lines behind one that is a list
      {"[1\n{\"a\":1}\n\"{}\"\n{}\n", {{"{\"a\":1}\n", "{}\n"}, 2}},
  };
  for (const auto& each : cases) {
    for (const std::size_t at_once : {1000, 1, 2, 3})
      EXPECT_EQ(split_list(each.text, at_once).lines, each.expected.lines) << each.text;
    EXPECT_EQ(split_list(each.text, 1).left_out, each.expected.left_out) << each.text;
  }
}

TEST(JsonListSplitter, LeavesOutWhatIsTooLong) {
  const std::string text(JsonListSplitter::kLongest - 10, 'x');
  const SplitList split =
      split_list("[{\"a\":\"" + text + "\"},{\"b\":\"" + text + "xxx\"},{}]", 1 << 20);
  EXPECT_EQ(split.lines.size(), 2u);
  EXPECT_EQ(split.left_out, 1u);
  // Brackets without an end are not held without an end either.
  const SplitList deep =
      split_list("[" + std::string(JsonListSplitter::kLongest + 1, '[') + "\n{}", 1 << 20);
  EXPECT_EQ(deep, (SplitList{{"{}\n"}, 1}));
}

}  // namespace
}  // namespace gauze::internal
