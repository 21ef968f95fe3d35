#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "gauze/random/bit_source.h"

namespace gauze::testing {

/// Exact checks of finite mechanisms, given the probabilities of all outputs on two neighbours.

/// The pure epsilon of the pair: the largest |ln(p/q)|, infinity when one is zero alone.
double max_log_ratio(std::span<const double> p, std::span<const double> q);
/// The delta of the pair at epsilon, the larger of both directions.
double hockey_stick(std::span<const double> p, std::span<const double> q, double epsilon);
/// Renyi divergence of order alpha > 1 of p from q.
double renyi_divergence(std::span<const double> p, std::span<const double> q, double alpha);

/// Calls `visit` on every data set of up to `size` whole values from 0 to `upper`, sorted, the empty
/// one included.
void for_all_data(int size, int upper,
                  const std::function<void(const std::vector<double>&)>& visit);

/// Confidence bounds for a probability of which `hits` of `trials` were seen (Clopper and Pearson
/// 1934): each is wrong with probability at most `failure`.
double probability_at_least(std::uint64_t hits, std::uint64_t trials, double failure);
double probability_at_most(std::uint64_t hits, std::uint64_t trials, double failure);

struct AuditOptions {
  std::uint64_t trials = 200'000;  ///< of each sampler
  std::uint64_t seed = 1;
  double delta = 0;
  double failure = 1e-6;  ///< probability that the result exceeds the true epsilon
};

/// A lower bound for the epsilon that separates two samplers, at `delta`. Half of the draws choose
/// the telling event in each direction (an interval or a single value), the other half bound its
/// probability, so the bound holds however the event was found.
double audited_epsilon(const std::function<double(BitSource&)>& first,
                       const std::function<double(BitSource&)>& second,
                       const AuditOptions& options = {});

}  // namespace gauze::testing
