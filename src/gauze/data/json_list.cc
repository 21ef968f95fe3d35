#include "gauze/data/json_list_internal.h"

namespace gauze::internal {

bool JsonListSplitter::step(char c) {
  switch (state_) {
    case State::kOutside:
      if (c == '[') state_ = State::kBetween;
      return false;
    case State::kBetween:
      return step_between(c);
    default:
      return step_inside(c);
  }
}

bool JsonListSplitter::step_between(char c) {
  if (c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == ',') return false;
  if (c == ']') {
    state_ = State::kOutside;
    return false;
  }
  state_ = State::kElement;
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
    if (c == ']') state_ = State::kOutside;
    return end(false);
  }
  keep(line_end ? ' ' : c);
  if (c == '"') string_ = true;
  if (c == '{') closers_ += '}';
  if (c == '[') closers_ += ']';
  if (c != '}' && c != ']') return false;
  if (closers_.empty() || closers_.back() != c) return end(false);
  closers_.pop_back();
  return closers_.empty() && end(kept_);
}

bool JsonListSplitter::end(bool whole) {
  if (state_ == State::kElement) state_ = State::kBetween;
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

}  // namespace gauze::internal
