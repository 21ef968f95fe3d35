#include "statements.h"

namespace gauze::cli {
namespace {

/// The end of the string, name or comment that starts at `at`; `at` itself where none starts.
std::size_t skipped(std::string_view text, std::size_t at) {
  const auto behind = [&](std::string_view end) {
    const std::size_t found = text.find(end, at + 1 + (end.size() > 1 ? 1 : 0));
    return found == std::string_view::npos ? text.size() : found + end.size();
  };
  if (text[at] == '\'' || text[at] == '"') return behind(text.substr(at, 1));
  if (text.substr(at, 2) == "--") return behind("\n") - (behind("\n") < text.size() ? 1 : 0);
  if (text.substr(at, 2) == "/*") return behind("*/");
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
    const bool quoted = pending_[at] == '\'' || pending_[at] == '"';
    const std::size_t end = quoted ? at : skipped(pending_, at);
    if (!blank && end == at) return pending_;
    at = end == at ? at + 1 : end;
  }
  return "";
}

}  // namespace gauze::cli
