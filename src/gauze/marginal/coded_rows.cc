#include "gauze/marginal/coded_rows.h"

#include <algorithm>

#include "gauze/base/error.h"

namespace gauze {

std::vector<std::int64_t> CodedRows::counts_in_order(
    const std::vector<std::uint32_t>& order) const {
  std::vector<std::size_t> cells(rows(), 0);
  for (const std::uint32_t column : order)
    for (std::size_t row = 0; row < cells.size(); ++row)
      cells[row] = cells[row] * domain.extents[column] + columns[column][row];
  std::vector<std::int64_t> counts(cells_of(domain, order), 0);
  for (const std::size_t cell : cells) ++counts[cell];
  return counts;
}

CodedRows CodedRows::mapped(const std::vector<std::vector<std::uint32_t>>& to,
                            const Shape& onto) const {
  CodedRows result{onto, columns};
  for (std::size_t column = 0; column < columns.size(); ++column)
    for (std::uint32_t& code : result.columns[column]) code = to[column][code];
  return result;
}

void check_rows(const CodedRows& rows) {
  const auto refuse = [](const char* why) { throw Error(ErrorCode::kInvalidInput, why); };
  if (rows.columns.size() != rows.domain.axes()) refuse("rows: need one code for each column");
  for (std::size_t column = 0; column < rows.columns.size(); ++column) {
    if (rows.columns[column].size() != rows.rows()) refuse("rows: columns must be of equal length");
    for (const std::uint32_t code : rows.columns[column])
      if (code >= rows.domain.extents[column]) refuse("rows: a code lies outside of its column");
  }
}

}  // namespace gauze
