#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace gauze::internal {

/// Takes a list of JSON apart, byte by byte: each object of the list becomes a line. Whatever the bytes are, this ends,
/// and holds at most one object of `kLongest` bytes. Whether an object is well formed inside is for the reader of lines to see.
class JsonListSplitter {
 public:
  static constexpr std::size_t kLongest = (std::size_t{1} << 24) - 16;

  /// Calls `write(line)`, a line end included, for each object that ends in these bytes.
  template <class Write>
  void feed(std::string_view bytes, Write write) {
    for (const char c : bytes) {
      if (!step(c)) continue;
      line_ += '\n';
      write(std::string_view(line_));
      line_.clear();
    }
  }

  /// Elements that are no object, longer than `kLongest` or broken off; at the end of the file.
  std::uint64_t left_out() const { return left_out_ + (state_ == State::kElement ? 1 : 0); }

 private:
  enum class State : std::uint8_t { kOutside, kBetween, kElement };

  /// Whether an object has ended.
  bool step(char c);
  bool step_between(char c);
  bool step_inside(char c);
  bool end(bool whole);
  void keep(char c);

  State state_ = State::kOutside;
  bool kept_ = false;     ///< the element is an object so far
  bool string_ = false;   ///< inside quotes
  bool escaped_ = false;  ///< behind a backslash
  std::string closers_;   ///< brackets that are to come
  std::string line_;
  std::uint64_t left_out_ = 0;
};

}  // namespace gauze::internal
