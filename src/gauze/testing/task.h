#pragma once

#include "gauze/accounting/meter.h"
#include "gauze/random/bit_source.h"
#include "gauze/registry/task.h"

namespace gauze::testing {

/// Runs a task with a meter that holds its price, as the door does without a ledger.
inline Release<Result> released(const Task& task, const Input& input, BitSource& bits,
                                const Watch* watch = nullptr) {
  Meter meter(task.event);
  Context context{meter, bits, watch};
  return task.run(input, context);
}

}  // namespace gauze::testing
