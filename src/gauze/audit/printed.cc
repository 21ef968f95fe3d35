#include <algorithm>
#include <charconv>

#include "gauze/audit/printed_internal.h"

namespace gauze::audit {

Lines lines_in(std::string_view text) {
  Lines lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    lines.emplace_back(line);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

void add_line(Outputs& outputs, const std::string& line) {
  std::vector<double> numbers;
  const char* at = line.data();
  const char* const end = at + line.size();
  while (at < end) {
    if (*at == ' ' || *at == '\t' || *at == ',' || *at == '+') {
      ++at;
      continue;
    }
    double value = 0;
    const auto [next, error] = std::from_chars(at, end, value);
    if (error != std::errc{}) return outputs.add(line);
    numbers.push_back(value);
    at = next;
    if (at < end && *at != ' ' && *at != '\t' && *at != ',') return outputs.add(line);
  }
  if (numbers.empty()) return outputs.add(line);
  outputs.add(std::span<const double>(numbers));
}

}  // namespace gauze::audit
