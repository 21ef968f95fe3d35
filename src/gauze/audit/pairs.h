#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "gauze/accounting/event.h"
#include "gauze/audit/subject.h"

namespace gauze::audit {

/// Libraries of neighbouring inputs on which mechanisms were seen to fail: ends of the range, nobody
/// and somebody, all alike and one apart, halves against each other, what is no number.

using Lines = std::vector<std::string>;  ///< an input as a file has it, one row per line
using NumberPairs = std::vector<Neighbours<std::vector<double>>>;
using LinePairs = std::vector<Neighbours<Lines>>;

/// People with a number each, from `lower` to `upper`, under `add_remove` or `replace`.
NumberPairs people(double lower, double upper, Relation relation);

/// People at two places and a far one, so many that it takes several to move a median or a quartile
/// there, and one that does a part of it: against what is released only if it is stable.
NumberPairs heaps(double low, double high, double far, Relation relation);

/// Counts of cells, of which one person moves at most `rows_per_unit` rows in or out.
NumberPairs counts(std::size_t cells, std::uint64_t rows_per_unit = 1);

/// Scores of candidates (or answers to queries about `level`) that one person moves by at most
/// `sensitivity` each; all the same way if `monotone`.
NumberPairs scores(std::size_t candidates, double sensitivity, bool monotone, double level = 0);

/// Answers to queries about `level`, of which one person moves those that are likely below to it and
/// the `positives` last ones away from it, or, if all move the same way, not at all: the worst case
/// of comparisons with a noisy threshold.
NumberPairs comparisons(std::uint64_t positives, double sensitivity, bool monotone, double level);

/// In which sense one person moves a vector by at most the sensitivity.
enum class Norm : std::uint8_t { kL1, kL2 };
/// Vectors of answers; whole numbers if `whole`.
NumberPairs answers(std::size_t dimension, double sensitivity, Norm norm, bool whole = false);

/// People with up to `keys_per_unit` words each, between semicolons.
LinePairs words(std::uint64_t keys_per_unit, Relation relation = Relation::kAddRemove);

/// One person's answer from 0 to `options` - 1, given without a trusted curator.
NumberPairs local_answers(std::uint64_t options);

/// Numbers as lines, one each.
LinePairs lines_of(const NumberPairs& pairs);

}  // namespace gauze::audit
