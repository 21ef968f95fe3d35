#pragma once

#include <span>

namespace gauze::audit {

/// Exact checks of finite mechanisms, given the probabilities of all outputs on two neighbours.

/// The pure epsilon of the pair: the largest |ln(p/q)|, infinity when one is zero alone.
double max_log_ratio(std::span<const double> p, std::span<const double> q);
/// The delta of the pair at epsilon, the larger of both directions.
double hockey_stick(std::span<const double> p, std::span<const double> q, double epsilon);
/// The smallest epsilon >= 0 that p has against q at `delta`, this direction alone; infinity when
/// there is none.
double epsilon_one_way(std::span<const double> p, std::span<const double> q, double delta);
/// Renyi divergence of order alpha > 1 of p from q.
double renyi_divergence(std::span<const double> p, std::span<const double> q, double alpha);

}  // namespace gauze::audit
