#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace gauze {

/// A value of a sparse row.
struct Entry {
  std::uint32_t index;
  double value;
};

/// Rows of features with labels, by privacy unit, in the bounds that sensitivities rest on: ‖x‖ <= 1, labels
/// in [-1, 1], at most `rows_per_unit` rows of a unit. Holding one is the proof.
///
///     Examples people = Examples::dense(3);
///     people.start_unit();
///     people.add_row(std::vector<double>{0.1, -0.4, 0.5}, 1);
///
/// Every row is bounded by itself: one that is longer than 1 is scaled to 1, values that are not finite count
/// as 0, labels are clamped (NaN counts as -1), and a unit's rows beyond its bound are left out.
class Examples {
 public:
  /// Dimension 1 to 2^24; rows_per_unit at least 1. Throw `kInvalidOption`.
  static Examples dense(std::uint32_t dimension, std::uint64_t rows_per_unit = 1);
  /// Stores what is not zero.
  static Examples sparse(std::uint32_t dimension, std::uint64_t rows_per_unit = 1);

  /// The rows that follow are those of one more unit. It may have none.
  void start_unit();
  /// Throws `kInvalidInput` for another length, before the first unit, and for a sparse row whose indices do not
  /// increase or leave the dimension.
  void add_row(std::span<const double> row, double label);
  void add_row(std::span<const Entry> row, double label);

  std::uint32_t dimension() const { return dimension_; }
  std::uint64_t rows_per_unit() const { return rows_per_unit_; }
  std::uint64_t units() const { return first_rows_.size(); }
  std::uint64_t rows() const { return labels_.size(); }
  bool is_sparse() const { return sparse_; }

  /// The rows of a unit: from the first to before the second.
  std::pair<std::size_t, std::size_t> rows_of(std::size_t unit) const {
    return {first_rows_[unit], unit + 1 < first_rows_.size() ? first_rows_[unit + 1] : rows()};
  }
  double label(std::size_t row) const { return labels_[row]; }
  /// Of dense rows all values, of sparse ones those that are stored, and where they belong.
  std::span<const double> values(std::size_t row) const {
    if (!sparse_) return {values_.data() + row * dimension_, dimension_};
    return {values_.data() + starts_[row], starts_[row + 1] - starts_[row]};
  }
  std::span<const std::uint32_t> indices(std::size_t row) const {
    return {indices_.data() + starts_[row], starts_[row + 1] - starts_[row]};
  }

 private:
  Examples(std::uint32_t dimension, std::uint64_t rows_per_unit, bool sparse);
  bool takes_row() const;
  void end_row(std::size_t first_value, double label);

  std::uint32_t dimension_;
  std::uint64_t rows_per_unit_;
  bool sparse_;
  std::vector<double> values_;
  std::vector<std::uint32_t> indices_;  // of sparse rows
  std::vector<std::size_t> starts_;     // of sparse rows, and the end of the last
  std::vector<double> labels_;
  std::vector<std::size_t> first_rows_;
};

}  // namespace gauze
