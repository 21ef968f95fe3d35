#pragma once

#include <nlohmann/json.hpp>

#include "gauze/audit/pairs.h"
#include "gauze/audit/subject.h"
#include "gauze/registry/algorithm.h"

// An algorithm of a registry, audited as `release` would run it on plain values:
//
//     const nlohmann::json options = {{"epsilon", 1}};
//     audit(audit_subject(algorithm, options, neighbours_for(algorithm, options)), {...});
namespace gauze {

/// Pairs of neighbouring inputs for an algorithm with these options. Throws `kUnsupported` when the
/// algorithm states none; then the caller has to give a pair.
audit::LinePairs neighbours_for(const Algorithm& algorithm, const nlohmann::json& options);

/// The algorithm with the privacy curve of its event as the claim. Each input is read once and drawn from
/// many times.
audit::Subject audit_subject(const Algorithm& algorithm, const nlohmann::json& options,
                             audit::LinePairs pairs);

}  // namespace gauze
