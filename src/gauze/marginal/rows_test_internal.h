#pragma once

#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "gauze/marginal/coded_rows.h"
#include "gauze/marginal/table_measurer.h"
#include "gauze/random/uniform.h"
#include "gauze/testing/seeded_bits.h"

// Rows for tests of methods that make up rows.
namespace gauze::testing {

/// Rows of a chain: each column is most often the one before it, modulo its extent.
inline CodedRows chain(const Shape& domain, std::size_t count, std::uint64_t seed) {
  SeededBits bits(seed);
  CodedRows rows{domain, {}};
  rows.columns.assign(domain.axes(), std::vector<std::uint32_t>(count));
  for (std::size_t row = 0; row < count; ++row) {
    std::uint64_t last = uniform_below(bits, 7);
    for (std::size_t column = 0; column < domain.axes(); ++column) {
      if (uniform_below(bits, 10) < 2) last = uniform_below(bits, 7);
      last %= domain.extents[column];
      rows.columns[column][row] = static_cast<std::uint32_t>(last);
    }
  }
  return rows;
}

/// So many rows that are alike in all columns.
inline CodedRows alike(const Shape& domain, std::size_t count, std::uint32_t code = 0) {
  return {domain, std::vector<std::vector<std::uint32_t>>(domain.axes(),
                                                          std::vector<std::uint32_t>(count, code))};
}

/// Half the sum of the distances of shares in a table.
inline double distance(const CodedRows& a, const CodedRows& b, const Clique& clique) {
  const auto x = a.counts(clique), y = b.counts(clique);
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i)
    sum += std::fabs(static_cast<double>(x[i]) / static_cast<double>(a.rows()) -
                     static_cast<double>(y[i]) / static_cast<double>(b.rows())) /
           2;
  return sum;
}

/// What tells rows of zeros from one more of them best: the noisy counts where they are, by their precision.
inline double evidence_of_zeros(const std::vector<MeasuredTable>& tables) {
  double sum = 0;
  for (const MeasuredTable& table : tables)
    sum += static_cast<double>(table.values[0]) / round_up(Ratio(table.sigma * table.sigma));
  return sum;
}

}  // namespace gauze::testing
