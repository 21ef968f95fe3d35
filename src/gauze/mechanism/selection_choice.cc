#include "gauze/mechanism/selection_choice.h"

#include "gauze/base/error.h"

namespace gauze {

SelectionChoice choose_selection(const SelectionTask& task) {
  require(task.wanted >= 1, "wanted must be at least 1");
  // Replacing a unit takes one away and adds one.
  const bool monotone = task.same_way && task.relation == Relation::kAddRemove;
  if (!task.all_known) {
    require(task.has_threshold,
            "has_threshold must be true for a stream: without a public threshold nobody can say "
            "which of the answers so far are large");
    if (task.wanted == 1)
      return {"above_threshold", monotone, "a stream ends with its first answer above"};
    return {"sparse_vector", monotone, "in a stream all answers below are free"};
  }
  if (task.has_threshold && !task.fill_up) {
    return {"retraversal", monotone,
            "it leaves places empty rather than taking what is far below the threshold"};
  }
  if (task.wanted == 1) {
    return {"permute_and_flip", monotone,
            "one choice among known candidates: never worse than the exponential mechanism"};
  }
  return {"top_k", monotone,
          "all candidates are known: noise once for each, no threshold to pay for, and fewer "
          "misses than any sparse vector"};
}

}  // namespace gauze
