#include "gauze/marginal/rare_values.h"

#include <algorithm>
#include <cmath>

#include "gauze/marginal/row_sampler.h"
#include "gauze/random/uniform.h"

namespace gauze {
namespace {

/// From how many standard deviations on a count is taken for more than noise.
constexpr double kStandsOut = 3;

}  // namespace

RareValues::RareValues(const Shape& domain, std::span<const MeasuredTable> singles)
    : whole_(domain) {
  for (std::size_t column = 0; column < singles.size(); ++column) {
    const NoisyTable single = noisy_table(singles[column]);
    const double bar = kStandsOut / std::sqrt(single.weights[0]);
    Rare rare;
    for (std::uint32_t code = 0; code < single.values.size(); ++code) {
      if (single.values[code] >= bar) continue;
      rare.codes.push_back(code);
      rare.weights.push_back(std::max(0.0, single.values[code]));
    }
    if (rare.codes.size() < 2) rare = {};
    // Values that stand out keep their order; the merged one is last.
    std::vector<std::uint32_t> to(single.values.size()), from;
    for (std::uint32_t code = 0; code < to.size(); ++code) {
      if (std::binary_search(rare.codes.begin(), rare.codes.end(), code)) continue;
      to[code] = static_cast<std::uint32_t>(from.size());
      from.push_back(code);
    }
    for (const std::uint32_t code : rare.codes) to[code] = static_cast<std::uint32_t>(from.size());
    if (!rare.codes.empty()) from.push_back(rare.codes.front());
    merged_.extents.push_back(static_cast<std::uint32_t>(from.size()));
    to_.push_back(std::move(to));
    from_.push_back(std::move(from));
    rare_.push_back(std::move(rare));
    singles_.push_back(single);
  }
}

std::vector<NoisyTable> RareValues::merged_measurements() const {
  std::vector<NoisyTable> merged;
  for (std::size_t column = 0; column < singles_.size(); ++column) {
    const NoisyTable& single = singles_[column];
    const std::size_t cells = merged_.extents[column];
    NoisyTable sums{single.clique, std::vector<double>(cells, 0), std::vector<double>(cells, 0)};
    for (std::size_t code = 0; code < single.values.size(); ++code) {
      sums.values[to_[column][code]] += single.values[code];
      sums.weights[to_[column][code]] += 1 / single.weights[code];  // variances add up
    }
    for (double& weight : sums.weights) weight = 1 / weight;
    merged.push_back(std::move(sums));
  }
  return merged;
}

CodedRows RareValues::parted(const CodedRows& rows, BitSource& bits) const {
  CodedRows result = rows.mapped(from_, whole_);
  for (std::size_t column = 0; column < rare_.size(); ++column) {
    const Rare& rare = rare_[column];
    if (rare.codes.empty()) continue;
    std::vector<std::uint32_t*> members;
    for (std::uint32_t& code : result.columns[column])
      if (code == rare.codes.front()) members.push_back(&code);
    shuffle(bits, std::span(members));
    const auto shares = rounded_shares(rare.weights, members.size(), bits);
    std::size_t member = 0;
    for (std::size_t i = 0; i < shares.size(); ++i)
      for (std::uint64_t k = 0; k < shares[i]; ++k) *members[member++] = rare.codes[i];
  }
  return result;
}

std::string RareValues::note() const {
  std::size_t values = 0, columns = 0;
  for (const Rare& rare : rare_) {
    values += rare.codes.size();
    columns += rare.codes.empty() ? 0 : 1;
  }
  if (values == 0) return "";
  return std::to_string(values) + " rare values in " + std::to_string(columns) +
         (columns == 1 ? " column" : " columns") +
         " were merged in tables of pairs, for their counts are within the noise";
}

}  // namespace gauze
