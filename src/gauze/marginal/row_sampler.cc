#include "gauze/marginal/row_sampler.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "gauze/base/error.h"
#include "gauze/random/uniform.h"

namespace gauze {
namespace {

double uniform(BitSource& bits) {
  return static_cast<double>(bits.next() >> 11) * 0x1p-53;
}

/// The code of a cell of a table in each of its columns.
std::vector<std::vector<std::uint32_t>> codes_of(const Shape& domain, const Clique& clique) {
  const std::size_t cells = cells_of(domain, clique);
  std::vector<std::vector<std::uint32_t>> codes(clique.size(), std::vector<std::uint32_t>(cells));
  std::size_t stride = 1;
  for (std::size_t axis = clique.size(); axis-- > 0;) {
    const std::size_t extent = domain.extents[clique[axis]];
    for (std::size_t cell = 0; cell < cells; ++cell)
      codes[axis][cell] = static_cast<std::uint32_t>(cell / stride % extent);
    stride *= extent;
  }
  return codes;
}

/// Rows by their cell in a table over columns that are known already.
struct Groups {
  std::vector<std::size_t> begin;  // of each cell, and the end of the last
  std::vector<std::uint32_t> rows;
};

Groups grouped(const CodedRows& rows, const Clique& clique, std::size_t count) {
  std::vector<std::size_t> cells(count, 0);
  for (const std::uint32_t column : clique)
    for (std::size_t row = 0; row < count; ++row)
      cells[row] = cells[row] * rows.domain.extents[column] + rows.columns[column][row];
  Groups groups{std::vector<std::size_t>(cells_of(rows.domain, clique) + 1, 0), {}};
  for (const std::size_t cell : cells) ++groups.begin[cell + 1];
  std::partial_sum(groups.begin.begin(), groups.begin.end(), groups.begin.begin());
  groups.rows.resize(count);
  std::vector<std::size_t> next(groups.begin.begin(), groups.begin.end() - 1);
  for (std::size_t row = 0; row < count; ++row)
    groups.rows[next[cells[row]]++] = static_cast<std::uint32_t>(row);
  return groups;
}

}  // namespace

std::vector<std::uint64_t> rounded_shares(std::span<const double> weights, std::uint64_t rows,
                                          BitSource& bits) {
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  const bool any = sum > 0 && std::isfinite(sum);
  std::vector<std::uint64_t> shares(weights.size());
  std::vector<double> rests(weights.size());
  std::uint64_t given = 0;
  double due_in_all = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const double share = any ? weights[i] / sum : 1 / static_cast<double>(weights.size());
    const double due =
        std::min(share * static_cast<double>(rows), static_cast<double>(rows - given));
    shares[i] = static_cast<std::uint64_t>(due);
    rests[i] = due - std::floor(due);
    due_in_all += rests[i];
    given += shares[i];
  }
  // Systematic sampling (Madow 1949): a comb with one tooth for each row that is left is laid on the rests,
  // end to end, so that a cell is met with probability equal to its rest, and at most once.
  const std::uint64_t left = rows - given;
  const double pitch = due_in_all / static_cast<double>(left);
  double tooth = left == 0 ? 0 : pitch * uniform(bits);
  double end = 0;
  std::uint64_t met = 0;
  std::size_t last = 0;
  for (std::size_t i = 0; i < weights.size() && met < left; ++i) {
    end += rests[i];
    if (rests[i] > 0) last = i;
    for (; met < left && tooth < end; tooth += pitch, ++met) ++shares[i];
  }
  if (met < left) {  // rounding has moved the last teeth off the end, or nothing is left to meet
    if (rests[last] <= 0)
      last = static_cast<std::size_t>(std::max_element(weights.begin(), weights.end()) -
                                      weights.begin());
    shares[last] += left - met;
  }
  return shares;
}

void deal(const Factor& table, const Clique& given, CodedRows& rows, BitSource& bits) {
  const Clique fresh = without(table.clique(), given);
  const auto of_group = offsets(rows.domain, table.clique(), given);
  const auto of_fresh = offsets(rows.domain, table.clique(), fresh);
  const auto codes = codes_of(rows.domain, fresh);
  Groups groups = grouped(rows, given, rows.rows());
  std::vector<double> weights(of_fresh.size());
  for (std::size_t group = 0; group + 1 < groups.begin.size(); ++group) {
    const std::span<std::uint32_t> members =
        std::span(groups.rows)
            .subspan(groups.begin[group], groups.begin[group + 1] - groups.begin[group]);
    if (members.empty()) continue;
    for (std::size_t i = 0; i < weights.size(); ++i)
      weights[i] = table[of_group[group] + of_fresh[i]];
    const auto shares = rounded_shares(weights, members.size(), bits);
    shuffle(bits, members);
    std::size_t member = 0;
    for (std::size_t cell = 0; cell < shares.size(); ++cell)
      for (std::uint64_t k = 0; k < shares[cell]; ++k, ++member)
        for (std::size_t axis = 0; axis < fresh.size(); ++axis)
          rows.columns[fresh[axis]][members[member]] = codes[axis][cell];
  }
}

CodedRows sampled_rows(const GraphicalModel& model, std::uint64_t rows, BitSource& bits) {
  if (rows > UINT32_MAX) throw Error(ErrorCode::kInvalidOption, "rows: must be at most 4294967295");
  CodedRows result{model.domain(), {}};
  result.columns.assign(model.domain().axes(), std::vector<std::uint32_t>(rows));
  for (std::size_t i = 0; i < model.tree().nodes().size(); ++i)
    deal(model.beliefs()[i], model.tree().nodes()[i].separator, result, bits);
  return result;
}

}  // namespace gauze
