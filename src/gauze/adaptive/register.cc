#include "gauze/adaptive/register.h"

#include "gauze/adaptive/register_internal.h"

namespace gauze {

std::vector<Family> adaptive_families() {
  return {{"Questions that depend on answers", internal::history_algorithms()},
          {"Changes in time, and tests one after the other", internal::sequence_algorithms()}};
}

}  // namespace gauze
