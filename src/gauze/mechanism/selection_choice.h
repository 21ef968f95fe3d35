#pragma once

#include <cstdint>
#include <string_view>

#include "gauze/accounting/event.h"

namespace gauze {

/// Something is to be chosen, by scores or answers.
struct SelectionTask {
  std::uint64_t wanted = 1;    ///< how many at most
  bool all_known = true;       ///< all candidates are there at once, not one after the other
  bool has_threshold = false;  ///< a public number says what is worth choosing
  bool fill_up = true;         ///< rather some below the threshold than fewer than wanted
  bool same_way = false;       ///< a privacy unit moves all scores the same way, as it does counts
  Relation relation = Relation::kAddRemove;
};

/// Which algorithm of the registry to take, and why.
struct SelectionChoice {
  std::string_view algorithm;
  bool monotone;  ///< its option `monotone`
  std::string_view reason;
};

/// A pure function of public facts. Throws `kInvalidOption` where nothing fits. Argument:
/// selection_choice.md
SelectionChoice choose_selection(const SelectionTask& task);

}  // namespace gauze
