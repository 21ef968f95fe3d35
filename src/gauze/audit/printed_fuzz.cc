// Bytes that a program has printed: every line is one output, which reads back as it was understood and
// can be judged.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string_view>

#include "gauze/audit/printed_internal.h"
#include "gauze/audit/statistic.h"

using namespace gauze::audit;

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const Lines lines = lines_in(text);
  const auto ends = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
  if (lines.size() != ends + (text.empty() || text.ends_with('\n') ? 0 : 1)) std::abort();
  Outputs all;
  for (const std::string& line : lines) {
    add_line(all, line);
    Outputs one;
    add_line(one, line);
    Outputs again;
    add_line(again, one.text(0));
    if (one.size() != 1 || again.text(0) != one.text(0)) std::abort();
  }
  if (all.size() != lines.size()) std::abort();
  if (lines.empty()) return 0;
  for (const Statistic& statistic : fit_statistics(all, all)) {
    const std::vector<double> values = statistic.of(all);
    if (values.size() != lines.size()) std::abort();
    if (std::any_of(values.begin(), values.end(), [](double x) { return std::isnan(x); }))
      std::abort();
  }
  return 0;
}
