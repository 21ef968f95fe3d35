#pragma once

#include <cctype>
#include <string>
#include <vector>

/// Every element that is opened is closed, in order; the elements that HTML leaves open are known.
inline std::string unbalanced(const std::string& html) {
  std::vector<std::string> open;
  for (std::size_t at = html.find('<'); at != std::string::npos; at = html.find('<', at + 1)) {
    const std::size_t end = html.find('>', at);
    if (end == std::string::npos) return "a tag without an end";
    std::string tag = html.substr(at + 1, end - at - 1);
    if (tag.starts_with('!') || tag.ends_with('/')) continue;
    const bool closes = tag.starts_with('/');
    if (closes) tag.erase(0, 1);
    std::size_t length = 0;
    while (length < tag.size() && std::isalnum(static_cast<unsigned char>(tag[length])) != 0)
      ++length;
    tag.resize(length);
    if (tag == "meta" || tag == "br") continue;
    if (!closes) {
      open.push_back(tag);
    } else if (open.empty() || open.back() != tag) {
      return "</" + tag + ">";
    } else {
      open.pop_back();
    }
  }
  return open.empty() ? "" : open.back();
}
