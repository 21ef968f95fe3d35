#include "gauze/service/html.h"

#include <algorithm>
#include <cstdio>

namespace gauze::service {
namespace {

/// Length of the UTF-8 character at the front, 0 when there is none.
std::size_t character(std::string_view text) {
  const auto byte = static_cast<unsigned char>(text[0]);
  const std::size_t length = byte < 0x80                   ? 1
                             : byte >= 0xC2 && byte < 0xE0 ? 2
                             : byte >= 0xE0 && byte < 0xF0 ? 3
                             : byte >= 0xF0 && byte < 0xF5 ? 4
                                                           : 0;
  if (length == 0 || length > text.size()) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((text[i] & 0xC0) != 0x80) return 0;
  }
  return length;
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const std::size_t length = character(text);
    const char c = text[0];
    if (length == 0 || (static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t'))
      result += "\xEF\xBF\xBD";
    else if (c == '&')
      result += "&amp;";
    else if (c == '<')
      result += "&lt;";
    else if (c == '>')
      result += "&gt;";
    else if (c == '"')
      result += "&quot;";
    else
      result += text.substr(0, length);
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return result;
}

std::string element(std::string_view name, std::string_view attributes, std::string_view content) {
  std::string result = "<";
  result.append(name);
  if (!attributes.empty()) result.append(" ").append(attributes);
  result.append(">").append(content).append("</").append(name).append(">");
  return result;
}

std::string paragraph(const std::string& content) {
  return element("p", "", content) + "\n";
}

std::string html_table(const std::vector<std::string>& head,
                       const std::vector<std::vector<std::string>>& rows, std::string_view sides) {
  const auto line = [&](const char* cell, const std::vector<std::string>& cells) {
    std::string result = "<tr>";
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const bool right = sides[std::min(i, sides.size() - 1)] == 'r';
      result += element(cell, right ? "class=\"number\"" : "", cells[i]);
    }
    return result + "</tr>\n";
  };
  std::string body;
  for (const auto& row : rows) body += line("td", row);
  return "<div class=\"scroll\"><table>\n<thead>" + line("th", head) + "</thead>\n<tbody>\n" +
         body + "</tbody></table></div>\n";
}

std::string coordinate(double value) {
  char buffer[400];
  std::snprintf(buffer, sizeof buffer, "%.3f", value);
  std::string text = buffer;
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text;
}

}  // namespace gauze::service
