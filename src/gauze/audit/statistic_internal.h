#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "gauze/audit/statistic.h"
#include "gauze/numeric/infinity.h"

// What the statistics of numbers and of texts share.
namespace gauze::audit::internal {

using Keys = std::vector<std::uint64_t>;

constexpr double kNever = -kInfinity;        // the score of what is never seen
constexpr std::size_t kLearnFrom = 1 << 15;  // outputs that classifiers learn from

/// Mixes `value` into a key (the finaliser of SplitMix64).
std::uint64_t mixed(std::uint64_t key, std::uint64_t value);
std::uint64_t key_of(std::string_view text);
std::uint64_t key_of(double number);

/// ln((first + 1) / (second + 1)) of the times that each key was seen, drawn towards 0 by what chance
/// explains but never to it.
std::unordered_map<std::uint64_t, double> log_ratios(const Keys& first, const Keys& second);

/// Outputs told apart by how often their key is seen, when any key is seen twice.
void add_frequencies(std::vector<Statistic>& all, const std::string& name,
                     const std::function<Keys(const Outputs&)>& keys, const Outputs& first,
                     const Outputs& second);

/// Ends of at most `parts` ranges that hold about as many values each; a value that fills a range
/// has it for itself.
std::vector<double> cuts_of(std::vector<double> values, std::size_t parts);
std::uint64_t part_of(const std::vector<double>& cuts, double value);

/// Position of the last binary digit that is not 0; 2000 for 0 and what is not finite.
double last_bit(double value);

std::vector<Statistic> number_statistics(const Outputs& first, const Outputs& second);
std::vector<Statistic> text_statistics(const Outputs& first, const Outputs& second);

}  // namespace gauze::audit::internal
