#pragma once

#include <cstddef>
#include <cstdint>

#include "gauze/audit/pairs.h"
#include "gauze/registry/options.h"

// Pairs of neighbouring inputs for the auditor, by what an input is. An entry names the one that suits it:
//
//     {.name = "sum", ..., .neighbours = people_within_bounds}
namespace gauze {

/// The pairs of one library after those of another.
audit::NumberPairs joined(audit::NumberPairs pairs, audit::NumberPairs more);

/// People with a number each. Where somebody is replaced, also heaps of them from `lower` to `high` and one
/// at `upper`.
audit::NumberPairs people_between(double lower, double high, double upper, Relation relation);

/// People with a number each, from the options `lower` to `upper` under `relation`.
audit::LinePairs people_within_bounds(const OptionValues& values);

/// Counts of `cells`, of which a person moves at most `rows_per_unit`.
audit::LinePairs counts_of_cells(const OptionValues& values);

/// Vectors that one person moves by at most the option `sensitivity` in this norm.
audit::LinePairs moved_vectors(const OptionValues& values, const char* sensitivity,
                               std::uint64_t dimension, bool whole = false);

/// How many candidates the pairs of scores have.
inline constexpr std::size_t kAuditedCandidates = 5;

/// Scores of candidates that one person moves by at most the option `sensitivity`, in one direction if
/// `monotone`.
audit::LinePairs scored_candidates(const OptionValues& values);

/// Answers about the option `threshold` that one person moves by at most `sensitivity`, of which so many
/// may be above.
audit::NumberPairs answers_about_threshold(const OptionValues& values, std::uint64_t positives,
                                           bool monotone);

}  // namespace gauze
