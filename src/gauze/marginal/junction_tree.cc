#include "gauze/marginal/junction_tree.h"

#include <algorithm>
#include <utility>

#include "gauze/base/error.h"

namespace gauze {
namespace {

std::uint64_t saturating_sum(std::uint64_t a, std::uint64_t b) {
  return a + b < a ? UINT64_MAX : a + b;
}

/// The sets that come up when columns are eliminated one after the other, next always the one whose set
/// has the fewest cells; sets within others are left out.
std::vector<Clique> eliminated(const Shape& domain, std::span<const Clique> cliques) {
  const auto columns = static_cast<std::uint32_t>(domain.axes());
  std::vector<Clique> around(columns);  // each column with its neighbours
  for (std::uint32_t column = 0; column < columns; ++column) around[column] = {column};
  for (const Clique& clique : cliques)
    for (const std::uint32_t column : clique) around[column] = united(around[column], clique);
  std::vector<std::uint32_t> left(columns);
  for (std::uint32_t column = 0; column < columns; ++column) left[column] = column;
  std::vector<Clique> maximal;
  while (!left.empty()) {
    const auto next = std::min_element(left.begin(), left.end(), [&](auto a, auto b) {
      return cells_of(domain, around[a]) < cells_of(domain, around[b]);
    });
    const std::uint32_t gone = *next;
    left.erase(next);
    const Clique clique = std::move(around[gone]);
    const Clique rest = without(clique, {gone});
    for (const std::uint32_t column : rest)
      around[column] = without(united(around[column], rest), {gone});
    // A later set lacks the columns that went before: it cannot hold an earlier one.
    const bool held = std::any_of(maximal.begin(), maximal.end(),
                                  [&](const Clique& other) { return contains(other, clique); });
    if (!held) maximal.push_back(clique);
  }
  return maximal;
}

}  // namespace

JunctionTree::JunctionTree(const Shape& domain, std::span<const Clique> cliques) : domain_(domain) {
  for (const Clique& clique : cliques)
    if (!std::is_sorted(clique.begin(), clique.end(), std::less_equal<>()) ||
        (!clique.empty() && clique.back() >= domain.axes()))
      throw Error(ErrorCode::kInvalidInput,
                  "columns of a table must be increasing and in the domain");
  std::vector<Clique> maximal = eliminated(domain, cliques);
  if (maximal.empty()) maximal.emplace_back();
  // Prim: the next set is the one that shares most columns with the tree (Jensen and Jensen 1994).
  std::vector<std::size_t> parent(maximal.size(), kNone), shared(maximal.size(), 0);
  std::vector<bool> done(maximal.size(), false);
  std::vector<std::size_t> place(maximal.size(), 0);
  for (std::size_t count = 0; count < maximal.size(); ++count) {
    std::size_t next = kNone;
    for (std::size_t i = 0; i < maximal.size(); ++i)
      if (!done[i] && (next == kNone || shared[i] > shared[next])) next = i;
    done[next] = true;
    place[next] = nodes_.size();
    const bool root = nodes_.empty();
    const std::size_t above = parent[next] == kNone ? 0 : parent[next];
    nodes_.push_back(
        root ? Node{maximal[next]}
             : Node{maximal[next], place[above], common(maximal[next], maximal[above])});
    if (root) std::fill(parent.begin(), parent.end(), next);
    cells_ = saturating_sum(cells_, cells_of(domain, maximal[next]));
    for (std::size_t i = 0; i < maximal.size(); ++i) {
      const std::size_t both = done[i] ? 0 : common(maximal[i], maximal[next]).size();
      if (done[i] || both <= shared[i]) continue;
      shared[i] = both;
      parent[i] = next;
    }
  }
}

std::size_t JunctionTree::holder(const Clique& clique) const {
  std::size_t best = kNone;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    if (!contains(nodes_[i].clique, clique)) continue;
    if (best == kNone ||
        cells_of(domain_, nodes_[i].clique) < cells_of(domain_, nodes_[best].clique))
      best = i;
  }
  return best;
}

}  // namespace gauze
