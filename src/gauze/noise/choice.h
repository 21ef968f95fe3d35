#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "gauze/numeric/ratio.h"
#include "gauze/random/bit_source.h"

namespace gauze {

/// Chooses i with probability exactly proportional to multiplicity[i] * e^(rate * score[i]).
///
/// Scores are doubles taken at their exact binary value; they must be finite. `multiplicity` counts
/// equally good candidates behind one score (the integers in a gap, for example) and may be empty,
/// meaning one each; zeros exclude. rate >= 0 is any fraction. Time O(n). Throws `kInvalidInput`
/// when there is nothing to choose from. Argument: choice.md
std::size_t choose_exp(std::span<const double> scores, const Ratio& rate, BitSource& bits,
                       std::span<const Integer> multiplicity = {});

/// The permute-and-flip choice (McKenna and Sheldon 2020): candidates in random order, each
/// accepted with probability exactly e^(rate * (score - best score)), until one is.
std::size_t permute_and_flip(std::span<const double> scores, const Ratio& rate, BitSource& bits);

}  // namespace gauze
