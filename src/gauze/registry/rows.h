#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace gauze {

/// Which column of a text to read.
struct ColumnChoice {
  std::string column;   ///< a number from 1 or a name from the header; empty for the only column
  bool header = false;  ///< the first line names the columns; implied when `column` is a name
};

/// The cells of one column, in order: private until a mechanism has been paid. They are texts, or
/// numbers where the source has numbers.
class Rows {
 public:
  explicit Rows(std::vector<std::string> cells) : cells_(std::move(cells)) {}
  static Rows of_numbers(std::vector<double> cells) { return Rows(Cells(std::move(cells))); }
  static Rows of_integers(std::vector<std::int64_t> cells) { return Rows(Cells(std::move(cells))); }

  /// Reads comma-separated lines (RFC 4180 quotes; blank lines are no rows). What depends on the
  /// first line alone fails with `kInvalidInput` or `kUnknownName`; a shorter later line has an
  /// empty cell. Never fails because of what a row holds.
  static Rows parse(std::string_view text, const ColumnChoice& choice);

  std::size_t size() const;

  /// Each cell as text; a number in its shortest form.
  std::vector<std::string> cells() const;

  /// Each cell as a double. What is no number becomes NaN, which mechanisms on rows accept: an
  /// error would tell that such a row exists.
  std::vector<double> numbers() const;

  /// Each cell as an integer, rounded to nearest and saturated at the ends of 64 bits; what is no
  /// number becomes `substitute`.
  std::vector<std::int64_t> integers(std::int64_t substitute) const;

  /// For input that is a vector of answers, not of people: its length is public and every cell must
  /// be a finite number. Throws `kInvalidInput` without saying what the cell holds.
  std::vector<double> vector() const;
  std::vector<std::int64_t> integer_vector() const;

 private:
  using Cells =
      std::variant<std::vector<std::string>, std::vector<double>, std::vector<std::int64_t>>;
  explicit Rows(Cells cells) : cells_(std::move(cells)) {}

  Cells cells_;
};

}  // namespace gauze
