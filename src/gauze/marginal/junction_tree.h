#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "gauze/marginal/factor.h"

namespace gauze {

/// Sets of columns as a tree in which whatever two of them share lies in every one between them; so a
/// distribution with these interactions is computed set by set.
///
///     const JunctionTree tree(domain, {{0, 1}, {1, 2}, {2, 3}});
///     if (tree.cells() > limit) ...      // known before there is a table
///
/// Columns that no clique has are sets of their own.
///
/// Time       O(columns^3) at most; no table is made.
/// Argument   junction_tree.md
class JunctionTree {
 public:
  static constexpr std::size_t kNone = SIZE_MAX;

  struct Node {
    Clique clique;               ///< maximal: no other one holds it
    std::size_t parent = kNone;  ///< an earlier node; none for the first
    Clique separator = {};       ///< what it shares with its parent; may be nothing
  };

  JunctionTree(const Shape& domain, std::span<const Clique> cliques);

  /// Parents before children.
  const std::vector<Node>& nodes() const { return nodes_; }
  /// Of all nodes together, saturated.
  std::uint64_t cells() const { return cells_; }
  /// The smallest node with all these columns; `kNone` where there is none.
  std::size_t holder(const Clique& clique) const;

 private:
  Shape domain_;
  std::vector<Node> nodes_;
  std::uint64_t cells_ = 0;
};

}  // namespace gauze
