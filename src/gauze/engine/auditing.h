#pragma once

#include "gauze/audit/pairs.h"
#include "gauze/audit/subject.h"
#include "gauze/engine/registry.h"

namespace gauze {

/// Pairs of neighbouring inputs for an algorithm with these options, by what its input is. Throws
/// `kUnsupported` when nothing is known about its input; then the caller has to give a pair.
audit::LinePairs neighbours_for(const Algorithm& algorithm, const OptionValues& values);

/// The algorithm as `release` would run it, with the privacy curve of its event as the claim.
audit::Subject audit_subject(const Algorithm& algorithm, const OptionValues& values,
                             audit::LinePairs pairs);

}  // namespace gauze
