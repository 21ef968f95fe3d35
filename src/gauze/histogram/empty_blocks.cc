#include "gauze/histogram/empty_blocks.h"

#include <array>
#include <cmath>
#include <numbers>
#include <vector>

namespace gauze {
namespace {

/// Counts beyond so many standard deviations of noise are no noise.
constexpr double kNear = 7;
/// The counts of full blocks are taken to be spread evenly over so many standard deviations.
constexpr double kSpread = 16;
/// As if so many more blocks had been seen to be empty.
constexpr double kPrior = 2;
/// What is left of the variance of a block that is surely empty, so that the fit has something to weigh by.
constexpr double kLeast = 1e-3;

/// A count in standard deviations of its noise.
double noise_distance(const BlockCount& block) {
  return block.estimate / std::sqrt(block.variance);
}

/// How many times likelier a count is for a full block than for an empty one with Laplace noise.
double odds_of_full(double away) {
  return std::numbers::sqrt2 / kSpread * std::exp(std::numbers::sqrt2 * std::abs(away));
}

/// The share of blocks that are full: the likeliest one, by expectation and maximisation on distances
/// that are rounded to 1/16.
double share_of_full(std::span<const BlockCount> blocks) {
  constexpr double kBins = 16;
  std::array<double, static_cast<std::size_t>(kBins * kNear) + 1> seen{};
  for (const BlockCount& block : blocks)
    seen[static_cast<std::size_t>(kBins * std::abs(noise_distance(block)))] += 1;
  double share = 0.5;
  for (int round = 0; round < 60; ++round) {
    double full = 0;
    for (std::size_t bin = 0; bin < seen.size(); ++bin) {
      const double weight = share * odds_of_full((static_cast<double>(bin) + 0.5) / kBins);
      full += seen[bin] * weight / (1 - share + weight);
    }
    share = full / (static_cast<double>(blocks.size()) + kPrior);
  }
  return share;
}

}  // namespace

void clear_empty(std::span<BlockCount> blocks, std::size_t of) {
  std::vector<BlockCount> near;
  for (const BlockCount& block : blocks)
    if (std::abs(noise_distance(block)) < kNear) near.push_back(block);
  if (near.size() < 2) return;
  const double share = share_of_full(near);
  const auto emptiness = [&](const BlockCount& block) {
    return (1 - share) / (1 - share + share * odds_of_full(noise_distance(block)));
  };
  double rows = 0;
  double variance = 0;
  for (const BlockCount& block : near) {
    const double weight = emptiness(block) / block.variance;
    rows += weight * block.estimate;
    variance += weight * weight * block.variance;
  }
  if (rows > 0.4 * std::log(static_cast<double>(of)) * std::sqrt(variance)) return;
  for (BlockCount& block : blocks) {
    if (std::abs(noise_distance(block)) >= kNear) continue;
    const double empty = emptiness(block);
    const double doubt = empty * (1 - empty) * noise_distance(block) * noise_distance(block);
    block.estimate *= 1 - empty;
    block.variance *= std::min(1.0, 1 - empty + doubt + kLeast);
  }
}

}  // namespace gauze
