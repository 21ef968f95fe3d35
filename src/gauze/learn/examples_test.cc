#include "gauze/learn/examples.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "gauze/testing/matchers.h"

namespace gauze {
namespace {

using Row = std::vector<double>;

double norm(std::span<const double> row) {
  double squares = 0;
  for (const double value : row) squares += value * value;
  return std::sqrt(squares);
}

TEST(Examples, KeepRowsInTheirBounds) {
  for (Examples examples : {Examples::dense(2), Examples::sparse(2)}) {
    const std::vector<Row> rows = {{0.6, 0.8},  {3, 4},        {1e300, -1e300},
                                   {NAN, 0.25}, {INFINITY, 0}, {-0.1, 0.2}};
    for (const Row& row : rows) {
      examples.start_unit();
      examples.add_row(row, 7);
      EXPECT_LE(norm(examples.values(examples.rows() - 1)), 1 + 1e-15);
      EXPECT_EQ(examples.label(examples.rows() - 1), 1);
    }
    EXPECT_EQ(examples.units(), 6u);
    EXPECT_EQ(examples.values(0)[1], 0.8);
    EXPECT_DOUBLE_EQ(examples.values(1)[0], 0.6);
    EXPECT_DOUBLE_EQ(examples.values(2)[1], -std::sqrt(0.5));
    EXPECT_EQ(examples.values(5)[0], -0.1);
  }
  Examples labels = Examples::dense(1);
  labels.start_unit();
  labels.add_row(Row{1}, NAN);
  labels.start_unit();
  labels.add_row(Row{1}, -0.5);
  EXPECT_EQ(labels.label(0), -1);
  EXPECT_EQ(labels.label(1), -0.5);
}

TEST(Examples, LeaveOutRowsBeyondTheUnitsBound) {
  Examples examples = Examples::dense(1, 2);
  examples.start_unit();
  for (int i = 0; i < 5; ++i) examples.add_row(Row{0.1 * i}, 1);
  examples.start_unit();
  examples.start_unit();
  examples.add_row(Row{0.9}, 1);
  EXPECT_EQ(examples.rows(), 3u);
  EXPECT_EQ(examples.rows_of(0), (std::pair<std::size_t, std::size_t>{0, 2}));
  EXPECT_EQ(examples.rows_of(1), (std::pair<std::size_t, std::size_t>{2, 2}));
  EXPECT_EQ(examples.rows_of(2), (std::pair<std::size_t, std::size_t>{2, 3}));
}

TEST(Examples, SparseRowsStoreWhatIsNotZero) {
  Examples examples = Examples::sparse(1000);
  examples.start_unit();
  examples.add_row(std::vector<Entry>{{3, 0.5}, {999, -0.5}}, 1);
  EXPECT_EQ(examples.values(0).size(), 2u);
  EXPECT_EQ(examples.indices(0)[1], 999u);
  Row row(1000);
  row[17] = 0.25;
  examples.add_row(row, 1);  // beyond one row of the unit
  examples.start_unit();
  examples.add_row(row, 1);
  EXPECT_EQ(examples.values(1).size(), 1u);
  EXPECT_EQ(examples.indices(1)[0], 17u);
}

TEST(Examples, RefuseRowsOfAnotherForm) {
  Examples examples = Examples::sparse(3);
  EXPECT_ERROR(examples.add_row(Row{0, 0, 0}, 1), ErrorCode::kInvalidInput);
  examples.start_unit();
  EXPECT_ERROR(examples.add_row(Row{0, 0}, 1), ErrorCode::kInvalidInput);
  EXPECT_ERROR(examples.add_row(std::vector<Entry>{{3, 1}}, 1), ErrorCode::kInvalidInput);
  // An index that stands twice would be one value of twice the size.
  EXPECT_ERROR(examples.add_row(std::vector<Entry>{{1, 0.7}, {1, 0.7}}, 1),
               ErrorCode::kInvalidInput);
  EXPECT_EQ(examples.rows(), 0u);
  EXPECT_ERROR(Examples::dense(0), ErrorCode::kInvalidOption);
  EXPECT_ERROR(Examples::dense(1, 0), ErrorCode::kInvalidOption);
}

}  // namespace
}  // namespace gauze
