#include "text.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>

#include "gauze/base/error.h"

namespace gauze::cli {

void outlive_readers() {
  std::signal(SIGPIPE, SIG_IGN);
}

void print(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
}

void print_line(std::string_view text) {
  print(text);
  print("\n");
}

void print_json(const Json& json) {
  print_line(json.dump());
}

void expect_printed() {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return;
  throw Error(
      ErrorCode::kIo,
      "the output could not be written, perhaps because the disk is full or nobody reads it");
}

bool utf8() {
  for (const char* variable : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* value = std::getenv(variable);
    if (value == nullptr || *value == '\0') continue;
    std::string lower(value);
    std::transform(lower.begin(), lower.end(), lower.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return lower.find("utf-8") != std::string::npos || lower.find("utf8") != std::string::npos;
  }
  return false;
}

std::string glyph(const char* fancy, const char* plain) {
  return utf8() ? fancy : plain;
}

std::string shown(std::string text) {
  if (utf8()) return text;
  constexpr std::array<std::pair<std::string_view, std::string_view>, 14> kSpelled = {
      {{"ε", "epsilon"},
       {"δ", "delta"},
       {"ρ", "rho"},
       {"σ", "sigma"},
       {"±", "+-"},
       {"∞", "inf"},
       {"∅", "null"},
       {"…", "..."},
       {"–", "-"},
       {"×", "x"},
       {"·", "."},
       {"≤", "<="},
       {"√", "sqrt "},
       {"∈", "in"}}};
  for (const auto& [fancy, plain] : kSpelled) {
    for (std::size_t at = 0; (at = text.find(fancy, at)) != std::string::npos; at += plain.size())
      text.replace(at, fancy.size(), plain);
  }
  return text;
}

std::string heading(std::string_view text) {
  const bool terminal = isatty(STDOUT_FILENO) != 0;
  return (terminal ? "\033[1m" : "") + std::string(text) + (terminal ? "\033[0m" : "");
}

std::size_t columns(std::string_view text) {
  // Bytes that continue a character take none.
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

std::size_t terminal_width() {
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return 100;
}

std::size_t terminal_rows() {
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 0)
    return std::max<std::size_t>(size.ws_row, 30) - 10;
  return SIZE_MAX;
}

std::string table(const std::vector<std::vector<std::string>>& rows, std::string_view indent,
                  std::string_view sides) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], columns(row[i]));
  }
  std::string result;
  for (const auto& row : rows) {
    std::string line(indent);
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string padding(widths[i] - columns(row[i]), ' ');
      if (i > 0) line += "  ";
      line += sides[std::min(i, sides.size() - 1)] == 'l' ? row[i] + padding : padding + row[i];
    }
    line.erase(line.find_last_not_of(' ') + 1);
    result += line + '\n';
  }
  return result;
}

std::string wrap(std::string_view text, std::string_view indent, std::size_t width) {
  std::string result;
  std::string line(indent);
  bool empty = true;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(text.size(), word.size() + 1));
    if (word.empty()) continue;
    if (!empty && columns(line) + 1 + columns(word) > width) {
      result += line + '\n';
      line = indent;
      empty = true;
    }
    if (!empty) line += ' ';
    line += word;
    empty = false;
  }
  return result + line + '\n';
}

}  // namespace gauze::cli
