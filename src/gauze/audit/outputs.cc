#include "gauze/audit/outputs.h"

#include <charconv>

namespace gauze::audit {

std::string shortest(double number) {
  char buffer[32];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, number).ptr;
  return {buffer, end};
}

namespace {

std::string joined(std::span<const double> numbers) {
  std::string result;
  for (const double number : numbers)
    result.append(result.empty() ? "" : ",").append(shortest(number));
  return result;
}

}  // namespace

std::string Outputs::text(std::size_t i) const {
  return width_ == 0 ? texts_[i] : joined(vector(i));
}

void Outputs::become_texts() {
  for (std::size_t i = 0, n = size(); i < n && width_ > 0; ++i) texts_.push_back(text(i));
  width_ = 0;
  numbers_.clear();
}

void Outputs::add(std::span<const double> vector) {
  if (size() == 0) width_ = vector.size();
  if (width_ == vector.size() && width_ > 0) {
    numbers_.insert(numbers_.end(), vector.begin(), vector.end());
    return;
  }
  add(joined(vector));
}

void Outputs::add(std::string text) {
  if (width_ > 0) become_texts();
  texts_.push_back(std::move(text));
}

Outputs Outputs::split(std::size_t from) {
  Outputs rest;
  rest.width_ = width_;
  const auto numbers = numbers_.begin() + static_cast<std::ptrdiff_t>(from * width_);
  rest.numbers_.assign(numbers, numbers_.end());
  numbers_.erase(numbers, numbers_.end());
  if (width_ == 0) {
    const auto texts = texts_.begin() + static_cast<std::ptrdiff_t>(from);
    rest.texts_.assign(texts, texts_.end());
    texts_.erase(texts, texts_.end());
  }
  return rest;
}

void Outputs::append(const Outputs& more) {
  if (size() == 0) {
    *this = more;
  } else if (width_ == more.width_) {
    numbers_.insert(numbers_.end(), more.numbers_.begin(), more.numbers_.end());
    texts_.insert(texts_.end(), more.texts_.begin(), more.texts_.end());
  } else {
    for (std::size_t i = 0; i < more.size(); ++i) add(more.text(i));
  }
}

}  // namespace gauze::audit
