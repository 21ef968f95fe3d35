#include <fstream>

#include "gauze/base/address.h"
#include "gauze/base/error.h"
#include "gauze/data/json_list_internal.h"

namespace gauze::internal {

bool JsonListSplitter::step_between(char c) {
  constexpr std::string_view kBlank = " \t\n\r,";
  constexpr std::string_view kMark = "\xef\xbb\xbf";  // may stand before all
  if (kBlank.find(c) != kBlank.npos || (!list_ && kMark.find(c) != kMark.npos)) return false;
  if (c == ']' || (c == '[' && !list_)) {
    list_ = c == '[';
    return false;
  }
  element_ = true;
  kept_ = c == '{';
  string_ = escaped_ = false;
  closers_.clear();
  line_.clear();
  return step_inside(c);
}

bool JsonListSplitter::step_inside(char c) {
  const bool line_end = c == '\n' || c == '\r';
  if (string_) {
    if (line_end) return end(false);  // never inside quotes: a quote is missing
    keep(c);
    string_ = escaped_ || c != '"';
    escaped_ = !escaped_ && c == '\\';
    return false;
  }
  if (closers_.empty() && (c == ',' || c == ']' || line_end)) {  // behind a number or a text
    if (c == ']') list_ = false;
    return end(false);
  }
  keep(line_end ? ' ' : c);
  if (c == '"') string_ = true;
  if (c == '{') closers_ += '}';
  if (c == '[') closers_ += ']';
  if (closers_.size() > kLongest) return end(false);
  if (c != '}' && c != ']') return false;
  if (closers_.empty() || closers_.back() != c) return end(false);
  closers_.pop_back();
  return closers_.empty() && end(kept_);
}

bool JsonListSplitter::end(bool whole) {
  element_ = false;
  if (!whole) {
    ++left_out_;
    line_.clear();
  }
  return whole;
}

void JsonListSplitter::keep(char c) {
  if (!kept_) return;
  line_ += c;
  if (line_.size() < kLongest) return;
  kept_ = false;
  line_.clear();
}

void ListLines::fill(const std::atomic<bool>& cancelled) {
  left_out_ = copy(~std::uint64_t{0}, cancelled);
  filled_ = true;
}

void ListLines::fill_first() {
  copy(1, false);
}

std::uint64_t ListLines::copy(std::uint64_t most, const std::atomic<bool>& cancelled) {
  constexpr std::size_t kAtOnce = std::size_t{1} << 20;
  lines_.clear();
  std::uint64_t left_out = 0;
  std::string buffer(kAtOnce, '\0'), out;
  for (const std::string& list : lists_) {
    std::ifstream file(list, std::ios::binary);
    JsonListSplitter splitter;
    while (most > 0 && (file.read(buffer.data(), kAtOnce), file.gcount() > 0)) {
      if (cancelled) throw Error(ErrorCode::kIo, "cancelled");
      splitter.feed({buffer.data(), static_cast<std::size_t>(file.gcount())},
                    [&](std::string_view line) {
                      if (most == 0) return;
                      --most;
                      out += line;
                    });
      lines_.write(out);
      out.clear();
    }
    if (!file.is_open() || file.bad())
      throw Error(ErrorCode::kIo, "the file '" + shown_address(list) + "' cannot be read");
    left_out += splitter.left_out();
  }
  return left_out;
}

}  // namespace gauze::internal
