// Bytes as a list in JSON: the same lines however they arrive, each an object by its first and last
// byte, and where the list is well formed, its objects.
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "gauze/data/json_list_internal.h"

namespace {

std::vector<std::string> lines_of(std::string_view text, std::size_t at_once) {
  std::vector<std::string> lines;
  gauze::internal::JsonListSplitter splitter;
  for (; !text.empty(); text.remove_prefix(std::min(at_once, text.size())))
    splitter.feed(text.substr(0, at_once),
                  [&](std::string_view line) { lines.emplace_back(line); });
  return lines;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto lines = lines_of(text, size);
  if (lines != lines_of(text, 1) || lines != lines_of(text, 7)) std::abort();
  for (const std::string& line : lines) {
    if (!line.starts_with('{') || !line.ends_with("}\n") || line.find('\n') != line.size() - 1)
      std::abort();
  }
  if (text.find('\0') != text.npos) return 0;  // where this parser ends
  const auto list = nlohmann::json::parse(text, nullptr, false);
  if (!list.is_array()) return 0;
  std::size_t objects = 0;
  for (const auto& element : list) {
    if (!element.is_object()) continue;
    if (objects == lines.size() ||
        nlohmann::json::parse(lines[objects++], nullptr, false) != element)
      std::abort();
  }
  if (objects != lines.size()) std::abort();
  return 0;
}
