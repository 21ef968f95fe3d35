#pragma once

#include <vector>

#include "gauze/accounting/pair.h"

namespace gauze {

/// Privacy loss distributions: the losses of all parts are put on a grid so that the result
/// dominates them (connect-the-dots, Doroshenko et al. 2022), convolved by FFT after exponential
/// tilting, and read. Every approximation errs upward: the results are never below the true value,
/// and about 1e-6 (relatively) above it for up to 10^5 parts. Argument and error: pld.md

/// Smallest epsilon >= 0 at 0 <= delta < 1; infinity when there is none.
double pld_epsilon(const std::vector<PairCount>& parts, double delta);

/// Smallest delta at epsilon >= 0.
double pld_delta(const std::vector<PairCount>& parts, double epsilon);

/// The composition as one pair of atoms that dominates it, for what is sampled afterwards.
DominatingPair composed_pair(const std::vector<PairCount>& parts);

/// One pair on the grid of multiples of `step`, as connect-the-dots has it: P-probabilities of
/// first * step, (first + 1) * step, ..., each times e^(tilt * loss - log_scale), and of infinity.
struct GridLoss {
  long long first = 0;
  std::vector<double> weights;
  double log_scale = 0;
  double infinite = 0;
};

/// Whether all cells of the grid are one step wide, or wider where little tilted probability lies:
/// faster, but the law then depends on the tilt.
enum class Cells : std::uint8_t { kEqual, kGraded };

/// `tail` bounds the probability that may be cut off at either end of an unbounded loss.
GridLoss discretize(const DominatingPair& pair, double step, double tilt, double log_scale,
                    double tail, Cells cells = Cells::kEqual);

}  // namespace gauze
