#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "gauze/mechanism/smooth_sensitivity.h"
#include "gauze/numeric/lattice.h"

namespace gauze::internal {

/// Which noise scale an answer gets from how far it moves at each distance: the scales are a public
/// ladder with equal ratios, and a neighbour's scale is at most `rungs` rungs up or down.
class ScaleLadder {
 public:
  explicit ScaleLadder(const SmoothSensitivity::Options& options);

  const Lattice& lattice() const { return lattice_; }
  double beta() const { return beta_; }
  std::uint64_t rungs() const { return rungs_; }
  /// Beyond so many records the lowest rung is reached however far the answer moves.
  std::uint64_t distances() const { return distances_; }

  /// The rung for these moves; the list goes on with the global sensitivity. Private.
  std::uint64_t rung(std::span<const double> moves) const;
  /// In steps of the lattice.
  double scale(std::uint64_t rung) const { return scales_[rung]; }
  std::uint64_t highest() const { return scales_.size() - 1; }

 private:
  std::uint64_t rung_of_move(double move) const;

  Lattice lattice_;
  double largest_move_;
  double beta_ = 0;
  double scale_per_step_ = 0;
  std::uint64_t rungs_ = 1;
  std::uint64_t distances_ = 0;
  std::vector<double> scales_;
};

/// Degrees of freedom of the noise; 0 for Laplace.
unsigned degrees_of(SmoothNoise noise);

}  // namespace gauze::internal
