#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace gauze::audit {

/// What many runs of a mechanism gave, in the order of the runs: numbers, vectors of one length, or
/// texts. Outputs of different kinds or lengths become texts, all of them.
class Outputs {
 public:
  void add(double number) { add(std::span(&number, 1)); }
  void add(std::span<const double> vector);
  void add(std::string text);
  void append(const Outputs& more);
  /// Takes the outputs from the `from`th on away and returns them.
  Outputs split(std::size_t from);

  std::size_t size() const { return width_ > 0 ? numbers_.size() / width_ : texts_.size(); }
  /// Numbers per output; 0 when outputs are texts.
  std::size_t width() const { return width_; }
  std::span<const double> vector(std::size_t i) const {
    return std::span(numbers_).subspan(i * width_, width_);
  }
  /// Output i as text, numbers in their shortest form.
  std::string text(std::size_t i) const;
  /// Of outputs that are texts.
  const std::string& words(std::size_t i) const { return texts_[i]; }
  /// Numbers become texts, so that they compare with outputs that are.
  void become_texts();

 private:
  std::size_t width_ = 0;
  std::vector<double> numbers_;
  std::vector<std::string> texts_;
};

/// A number in its shortest form that reads back as the same double.
std::string shortest(double number);

}  // namespace gauze::audit
