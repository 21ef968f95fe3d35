#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "gauze/marginal/factor.h"
#include "gauze/marginal/junction_tree.h"

namespace gauze {

/// A table of counts with noise.
struct NoisyTable {
  Clique clique;
  std::vector<double> values;   ///< may be negative
  std::vector<double> weights;  ///< the inverse variance of each value, >= 0
};

/// One with the same noise on each value. `sigma` is its standard deviation, > 0.
NoisyTable noisy_table(Clique clique, std::vector<double> values, double sigma);

/// A total with the variance that is left.
struct TotalEstimate {
  double total = 0;  ///< 0 or more
  double variance = 0;
  bool operator==(const TotalEstimate&) const = default;
};

/// Each table adds up to an estimate of the total; these are averaged by their variances.
TotalEstimate estimated_total(std::span<const NoisyTable> measurements);

/// A distribution over rows, with the number of rows: the product of a factor for each of some cliques.
///
///     const Fit found = fit(domain, measurements);
///     found.model.marginal({0, 3});     // counts, also of columns that were not measured together
///
/// Time       O(cells of the junction tree) for each update.
/// Argument   graphical_model.md
class GraphicalModel {
 public:
  /// A logarithm for each cell of each clique, up to a constant.
  using Potentials = std::map<Clique, Factor>;

  /// All rows alike.
  GraphicalModel(const Shape& domain, double total);
  GraphicalModel(const Shape& domain, Potentials potentials, double total);

  const Shape& domain() const { return domain_; }
  double total() const { return total_; }
  const Potentials& potentials() const { return potentials_; }
  const JunctionTree& tree() const { return tree_; }
  /// Counts over the columns of each node of the tree.
  const std::vector<Factor>& beliefs() const { return beliefs_; }
  /// The logarithm of what the potentials' product sums up to.
  double log_partition() const { return log_partition_; }

  /// The same product with other factors over the same cliques.
  void update(Potentials potentials);

  /// How many cells the largest table has that an answer over these columns needs; the tree's nodes aside.
  std::uint64_t cells_to_answer(const Clique& clique) const;
  /// Counts over any columns. Throws `kUnsupported` where this takes a table of more than `limit` cells.
  Factor marginal(const Clique& clique, std::uint64_t limit = std::uint64_t{1} << 26) const;
  /// The largest sum over all rows of the factors given for cliques of the model.
  double largest(const Potentials& factors) const;

 private:
  std::vector<Factor> assembled(const Potentials& factors) const;
  void propagate();
  struct Way;
  Way way(std::size_t node, std::size_t from, const Clique& wanted) const;
  Factor message(std::size_t node, std::size_t from, const Clique& wanted) const;
  Clique planned(std::size_t node, std::size_t from, const Clique& wanted,
                 std::uint64_t& largest) const;
  std::size_t start_for(const Clique& clique) const;
  bool leads_to(std::size_t node, std::size_t from, const Clique& wanted) const;

  Shape domain_;
  Potentials potentials_;
  double total_;
  JunctionTree tree_;
  std::vector<std::vector<std::size_t>> neighbours_;  // in the tree
  std::vector<Factor> beliefs_;
  double log_partition_ = 0;
};

struct FitOptions {
  /// Stops where the loss is at most this share of the noise's own above the smallest there is.
  double tolerance = 1e-2;
  std::size_t most_steps = 1000;
};

/// A model with what is known of its fit.
struct Fit {
  GraphicalModel model;
  double loss = 0;  ///< half the sum of weighted squared distances
  double gap = 0;   ///< no distribution with this total has a loss smaller by more
  std::size_t steps = 0;
};

/// The distribution that fits the measurements best by weighted least squares, among those with the
/// estimated total; of several, one near that of largest entropy, or near `start`, a model over the same
/// domain. Throws `kInvalidInput` where a measurement does not fit the domain.
Fit fit(const Shape& domain, std::span<const NoisyTable> measurements,
        const FitOptions& options = {}, const GraphicalModel* start = nullptr);
/// The same with a total known from elsewhere, 0 or more.
Fit fit_to_total(const Shape& domain, std::span<const NoisyTable> measurements, double total,
                 const FitOptions& options = {}, const GraphicalModel* start = nullptr);

}  // namespace gauze
