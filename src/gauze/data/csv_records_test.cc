#include <gtest/gtest.h>

#include "gauze/data/csv_records_internal.h"
#include "gauze/random/uniform.h"
#include "gauze/testing/seeded_bits.h"

namespace gauze::internal {
namespace {

/// What stands in quotes is written as q, all else as it is.
std::string marked(std::string_view text) {
  CsvCells cells(',');
  std::string result;
  for (const char c : text) {
    cells.step(c);
    result += cells.quoted() ? 'q' : c;
  }
  return result;
}

TEST(CsvCells, AreInQuotesWhereTheEngineSaysSo) {
  EXPECT_EQ(marked("a,b\n"), "a,b\n");
  EXPECT_EQ(marked("a,\"b,\n\",c"), "a,qqqqq,c");
  EXPECT_EQ(marked("a,  \"b,\",c"), "a,  qqqq,c");  // behind blanks
  EXPECT_EQ(marked("a,x\"b,\",c"),
            "a,x\"b,qqq");  // in the middle it is text, at the start it opens
  EXPECT_EQ(marked("\"a\"\",b\",c"), "qqqqqqq,c");       // doubled
  EXPECT_EQ(marked("\"a\" x\"\n\"\nb"), "qqqqqqqq\nb");  // opened again behind what follows
}

TEST(CsvCells, AreTheSameOneByOneAndManyAtOnce) {
  testing::SeededBits bits(5);
  constexpr std::string_view kBytes = "\"\",, \nab";
  for (int i = 0; i < 5'000; ++i) {
    std::string text;
    while (text.size() < 40) text += kBytes[uniform_below(bits, kBytes.size())];
    CsvCells one(','), many(',');
    for (const char c : text) one.step(c);
    const std::size_t cut = uniform_below(bits, text.size());
    many.take(std::string_view(text).substr(0, cut));
    many.take(std::string_view(text).substr(cut));
    for (const char c : std::string_view("\",")) {  // what comes next shows the rest of the state
      ASSERT_EQ(one.quoted(), many.quoted()) << text;
      ASSERT_EQ(one.quoted() ? one.length() : 0, many.quoted() ? many.length() : 0) << text;
      one.step(c);
      many.step(c);
    }
    ASSERT_EQ(one.quoted(), many.quoted()) << text;
  }
}

}  // namespace
}  // namespace gauze::internal
