#pragma once

#include "gauze/audit/subject.h"

namespace gauze::audit {

/// The same subject seen with a clock: each output is joined by how long its run took, as a multiple of
/// what runs took lately. Both inputs of a pair are run in turns, in random order, so that whatever
/// else the machine does slows both alike. Audit it on one thread. A violation means that the
/// time of a run tells more than the claim allows, or tells it together with the output.
/// Argument: audit.md
Subject timed(Subject subject);

}  // namespace gauze::audit
