#pragma once

#include <cstdint>

#include "gauze/accounting/event.h"
#include "gauze/learn/examples.h"
#include "gauze/learn/sensitivity.h"

namespace gauze::internal {

/// Throws `kInvalidInput` unless the examples are of the shape that was priced, and under replace as many
/// as `records`.
void expect_fitting(const Examples& examples, const Arithmetic& shape, std::uint64_t records,
                    Relation relation);

}  // namespace gauze::internal
