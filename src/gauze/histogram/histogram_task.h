#pragma once

#include <memory>

#include "gauze/histogram/histogram_method.h"
#include "gauze/registry/task.h"

namespace gauze {

/// How points are asked for: columns of a table or counts in a file, ranges and conditions.
InputKind points_kind();

/// A histogram method as a task, on columns of a private table or on counts.
///
/// What is asked about ranges and conditions is checked here, before anything is paid, and answered from
/// what was released, at no further price. Throws what `HistogramJob`, `parse_range` and `cells_where`
/// throw.
Task histogram_task(const std::shared_ptr<const HistogramEntry>& entry, const Asked& asked);

}  // namespace gauze
