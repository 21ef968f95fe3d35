#include "statements.h"

namespace gauze::cli {
namespace {

bool is_comment(std::string_view text, std::size_t at) {
  return text.substr(at, 2) == "--" || text.substr(at, 2) == "/*";
}

/// Of a name; bytes beyond ASCII are letters.
bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (c & 0x80) != 0;
}

bool continues_name(char c) {
  return is_letter(c) || (c >= '0' && c <= '9') || c == '$';
}

/// The end of E'...', where a backslash takes the next character along.
std::size_t behind_escapes(std::string_view text, std::size_t at) {
  for (at += 2; at < text.size(); ++at) {
    if (text[at] == '\\' || text.substr(at, 2) == "''")
      ++at;
    else if (text[at] == '\'')
      return at + 1;
  }
  return text.size();
}

/// "$$" or "$tag$" at the beginning of `text`; "" where there is none.
std::string_view dollar_tag(std::string_view text) {
  std::size_t end = 1;
  while (end < text.size() && text[end] != '$' && continues_name(text[end])) ++end;
  const bool whole = end < text.size() && text[end] == '$' && (end == 1 || is_letter(text[1]));
  return whole ? text.substr(0, end + 1) : "";
}

/// The end of the string, name or comment that starts at `at`; `at` itself where none starts.
std::size_t skipped(std::string_view text, std::size_t at) {
  const auto behind = [&](std::string_view end) {
    const std::size_t found = text.find(end, at + 1 + (end.size() > 1 ? 1 : 0));
    return found == std::string_view::npos ? text.size() : found + end.size();
  };
  if (text[at] == '\'' || text[at] == '"') return behind(text.substr(at, 1));
  if (text.substr(at, 2) == "--") return behind("\n") - (behind("\n") < text.size() ? 1 : 0);
  if (text.substr(at, 2) == "/*") return behind("*/");
  if (at > 0 && continues_name(text[at - 1])) return at;
  if (text.substr(at, 2) == "E'" || text.substr(at, 2) == "e'") return behind_escapes(text, at);
  if (const auto tag = text[at] == '$' ? dollar_tag(text.substr(at)) : ""; !tag.empty()) {
    const std::size_t found = text.find(tag, at + tag.size());
    return found == std::string_view::npos ? text.size() : found + tag.size();
  }
  return at;
}

}  // namespace

std::optional<std::string> Statements::next() {
  for (std::size_t at = 0; at < pending_.size();) {
    if (pending_[at] == ';') {
      std::string statement = pending_.substr(0, at);
      pending_.erase(0, at + 1);
      return statement;
    }
    const std::size_t end = skipped(pending_, at);
    at = end == at ? at + 1 : end;
  }
  return std::nullopt;
}

std::string Statements::rest() const {
  for (std::size_t at = 0; at < pending_.size();) {
    const bool blank = std::string_view(" \t\r\n").find(pending_[at]) != std::string_view::npos;
    const std::size_t end = is_comment(pending_, at) ? skipped(pending_, at) : at;
    if (!blank && end == at) return pending_;
    at = end == at ? at + 1 : end;
  }
  return "";
}

}  // namespace gauze::cli
