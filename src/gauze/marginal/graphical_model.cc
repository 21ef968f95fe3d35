#include "gauze/marginal/graphical_model.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "gauze/base/error.h"

namespace gauze {
namespace {

std::vector<Clique> cliques_of(const GraphicalModel::Potentials& potentials) {
  std::vector<Clique> cliques;
  for (const auto& [clique, factor] : potentials) cliques.push_back(clique);
  return cliques;
}

}  // namespace

GraphicalModel::GraphicalModel(const Shape& domain, double total)
    : GraphicalModel(domain, {}, total) {}

GraphicalModel::GraphicalModel(const Shape& domain, Potentials potentials, double total)
    : domain_(domain),
      potentials_(std::move(potentials)),
      total_(total),
      tree_(domain, cliques_of(potentials_)),
      neighbours_(tree_.nodes().size()) {
  const auto& nodes = tree_.nodes();
  for (std::size_t i = 1; i < nodes.size(); ++i) {
    neighbours_[i].push_back(nodes[i].parent);
    neighbours_[nodes[i].parent].push_back(i);
  }
  propagate();
}

void GraphicalModel::update(Potentials potentials) {
  potentials_ = std::move(potentials);
  propagate();
}

/// The factors of each node, added up.
std::vector<Factor> GraphicalModel::assembled(const Potentials& factors) const {
  std::vector<Factor> sums;
  for (const JunctionTree::Node& node : tree_.nodes()) sums.emplace_back(domain_, node.clique);
  for (const auto& [clique, factor] : factors) {
    const std::size_t holder = tree_.holder(clique);
    if (holder == JunctionTree::kNone)
      throw Error(ErrorCode::kInternal, "the tree of a model lacks one of its cliques");
    sums[holder] += factor;
  }
  return sums;
}

/// Belief propagation after Lauritzen and Spiegelhalter, on logarithms.
void GraphicalModel::propagate() {
  const auto& nodes = tree_.nodes();
  beliefs_ = assembled(potentials_);
  std::vector<Factor> up(nodes.size(), Factor(domain_, {}));
  for (std::size_t i = nodes.size(); i-- > 1;) {
    up[i] = beliefs_[i].log_marginal(nodes[i].separator);
    beliefs_[nodes[i].parent] += up[i];
  }
  for (std::size_t i = 1; i < nodes.size(); ++i) {
    Factor down = beliefs_[nodes[i].parent].log_marginal(nodes[i].separator);
    down -= up[i];
    beliefs_[i] += down;
  }
  log_partition_ = beliefs_[0].log_sum();
  for (Factor& belief : beliefs_) {
    belief = belief.exp(log_partition_);
    belief *= total_;
  }
}

double GraphicalModel::largest(const Potentials& factors) const {
  const auto& nodes = tree_.nodes();
  std::vector<Factor> sums = assembled(factors);
  for (std::size_t i = nodes.size(); i-- > 1;)
    sums[nodes[i].parent] += sums[i].max_marginal(nodes[i].separator);
  return sums[0].max_marginal({})[0];
}

bool GraphicalModel::leads_to(std::size_t node, std::size_t from, const Clique& wanted) const {
  if (!common(tree_.nodes()[node].clique, wanted).empty()) return true;
  return std::any_of(neighbours_[node].begin(), neighbours_[node].end(), [&](std::size_t next) {
    return next != from && leads_to(next, node, wanted);
  });
}

/// How a node takes part in an answer.
struct GraphicalModel::Way {
  Clique shared;                     // with the node that it is seen from
  Clique needed;                     // of its own columns
  Clique behind;                     // wanted columns that others have
  std::vector<std::size_t> further;  // nodes that lead to them
};

GraphicalModel::Way GraphicalModel::way(std::size_t node, std::size_t from,
                                        const Clique& wanted) const {
  const Clique& clique = tree_.nodes()[node].clique;
  const auto shared_with = [&](std::size_t other) {
    return other == JunctionTree::kNone ? Clique{} : common(clique, tree_.nodes()[other].clique);
  };
  Way way{shared_with(from), {}, without(wanted, clique), {}};
  way.needed = united(way.shared, common(clique, wanted));
  for (const std::size_t next : neighbours_[node]) {
    if (next == from || !leads_to(next, node, way.behind)) continue;
    way.further.push_back(next);
    way.needed = united(way.needed, shared_with(next));
  }
  return way;
}

/// What lies behind a node, given what it shares with the one it is seen from: the wanted columns there,
/// and the shared ones. The node that the search begins at is seen from nowhere and gives counts.
Factor GraphicalModel::message(std::size_t node, std::size_t from, const Clique& wanted) const {
  const Way way = this->way(node, from, wanted);
  Factor result = beliefs_[node].marginal(way.needed);
  if (from != JunctionTree::kNone) result /= result.marginal(way.shared);
  for (const std::size_t next : way.further) result = result * message(next, node, way.behind);
  return result.marginal(united(way.shared, common(result.clique(), wanted)));
}

/// The columns of that message, and the cells of the largest table on the way to it.
Clique GraphicalModel::planned(std::size_t node, std::size_t from, const Clique& wanted,
                               std::uint64_t& largest) const {
  const Way way = this->way(node, from, wanted);
  Clique table = way.needed;
  for (const std::size_t next : way.further)
    table = united(table, planned(next, node, way.behind, largest));
  largest = std::max(largest, cells_of(domain_, table));
  return united(way.shared, common(table, wanted));
}

/// The node that has most of the columns.
std::size_t GraphicalModel::start_for(const Clique& clique) const {
  const auto& nodes = tree_.nodes();
  std::size_t start = 0;
  for (std::size_t i = 1; i < nodes.size(); ++i)
    if (common(nodes[i].clique, clique).size() > common(nodes[start].clique, clique).size())
      start = i;
  return start;
}

std::uint64_t GraphicalModel::cells_to_answer(const Clique& clique) const {
  if (tree_.holder(clique) != JunctionTree::kNone) return cells_of(domain_, clique);
  std::uint64_t largest = 0;
  planned(start_for(clique), JunctionTree::kNone, clique, largest);
  return largest;
}

Factor GraphicalModel::marginal(const Clique& clique, std::uint64_t limit) const {
  if (cells_to_answer(clique) > limit)
    throw Error(ErrorCode::kUnsupported,
                "these columns lie too far apart in the model, or have too many values, to be "
                "answered together; ask for fewer");
  const std::size_t holder = tree_.holder(clique);
  if (holder != JunctionTree::kNone) return beliefs_[holder].marginal(clique);
  return message(start_for(clique), JunctionTree::kNone, clique);
}

}  // namespace gauze
