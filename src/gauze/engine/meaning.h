#pragma once

#include <cstdint>
#include <string_view>

#include "gauze/numeric/ratio.h"

namespace gauze {

/// What an (epsilon, delta) guarantee means for one person, in numbers that need no training to
/// read. All of them compare two worlds: the person's data was used, or it was not; none compares
/// what is believed before with what is believed after. Argument: meaning.md

/// The probabilities that any decision about a person may have with the person's data, when it has
/// probability `p` without: the e^epsilon-close ones, widened by delta. 0 <= p <= 1, epsilon >= 0,
/// 0 <= delta <= 1.
struct Closeness {
  double lowest = 0;
  double highest = 1;
};
Closeness close_probabilities(double p, double epsilon, double delta = 0);

/// The best true-positive rate of any test for "this person's data was used" whose false-positive
/// rate is `false_positive`.
double highest_power(double false_positive, double epsilon, double delta = 0);

/// How often the best guesser is right who must say whether a person's data was used, when both are
/// equally likely beforehand: 1/2 is a coin, 1 is certainty.
double best_guess(double epsilon, double delta = 0);

/// The guarantee that a group of `size` people has together, rounded up; delta never exceeds 1.
struct GroupGuarantee {
  double epsilon = 0;
  double delta = 0;
};
GroupGuarantee group_guarantee(std::uint64_t size, double epsilon, double delta = 0);

/// How strong a guarantee is by common judgement.
enum class Band : std::uint8_t {
  kStrong,       ///< at most 0.1
  kAcceptable,   ///< at most 1
  kJustify,      ///< below 5: give a reason
  kDiscouraged,  ///< below 10: unsuitable in most cases
  kRefused,      ///< 10 and more: virtually no protection
  kLargeDelta,   ///< delta 0.01 and more, whatever epsilon is below 10: refused, too
};
Band band(double epsilon, double delta = 0);

/// `strong`, `acceptable`, `needs_justification`, `discouraged`, `refused`, `large_delta`.
std::string_view name(Band band);
/// One sentence on what the band means.
std::string_view verdict(Band band);

/// The policy that keeps epsilon below 10 and delta below 0.01: throws `kInvalidOption` when one of
/// them is not and the caller has not said that a guarantee this weak is wanted.
void refuse_weak(double epsilon, double delta, bool accept_weak);

}  // namespace gauze
