#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "gauze/histogram/workload.h"

namespace gauze {

/// Parts of a domain that no question of a workload tells apart, and the workload about them: what answers
/// the one answers the other, and parts are fewer than cells. Argument: hdmm.md
struct WorkloadParts {
  static constexpr std::size_t kMost = 1024;  ///< parts of a domain with several axes

  std::vector<std::uint32_t> part_of_cell;
  std::vector<double> sizes;  ///< of the parts, in cells
  Workload workload;          ///< along one axis, of the parts
};

/// Nothing where questions are no boxes that are given, where they tell all cells apart, or where parts of
/// several axes are more than `kMost`. Throws `kInvalidOption` for a domain that is not dense.
std::optional<WorkloadParts> parts_told_apart(const Workload& workload);

}  // namespace gauze
