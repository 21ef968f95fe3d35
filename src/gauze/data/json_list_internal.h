#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "gauze/data/temporary_file_internal.h"

namespace gauze::internal {

/// Takes a list of JSON apart, byte by byte: each object of the list becomes a line, and each
/// beside it, so that a file of lines has the same rows when its first line makes it seem a list.
/// Whatever the bytes are, this ends, and holds at most one object of `kLongest` bytes. Whether an
/// object is well formed inside is for the reader of lines to see.
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
  std::uint64_t left_out() const { return left_out_ + (element_ ? 1 : 0); }

 private:
  /// Whether an object has ended.
  bool step(char c) { return element_ ? step_inside(c) : step_between(c); }
  bool step_between(char c);
  bool step_inside(char c);
  bool end(bool whole);
  void keep(char c);

  bool list_ = false;     ///< inside the brackets of the list
  bool element_ = false;  ///< inside an element
  bool kept_ = false;     ///< the element is an object so far
  bool string_ = false;   ///< inside quotes
  bool escaped_ = false;  ///< behind a backslash
  std::string closers_;   ///< brackets that are to come
  std::string line_;
  std::uint64_t left_out_ = 0;
};

/// Files of lists as one file of lines, which is filled when it is first needed.
class ListLines {
 public:
  ListLines(std::vector<std::string> lists, const std::string& folder)
      : lists_(std::move(lists)), lines_(folder) {}

  std::string path() const { return lines_.path(); }
  bool filled() const { return filled_; }
  std::uint64_t left_out() const { return left_out_; }

  /// Throws `kIo`, also when cancelled.
  void fill(const std::atomic<bool>& cancelled);
  /// With the first object alone.
  void fill_first();

 private:
  std::uint64_t copy(std::uint64_t most, const std::atomic<bool>& cancelled);

  std::vector<std::string> lists_;
  TemporaryFile lines_;
  bool filled_ = false;
  std::uint64_t left_out_ = 0;
};

}  // namespace gauze::internal
