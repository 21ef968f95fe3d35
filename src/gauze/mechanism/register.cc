#include "gauze/mechanism/register.h"

#include "gauze/mechanism/register_internal.h"

namespace gauze {

std::vector<Family> mechanism_families() {
  return {{"Statistics of a column", internal::statistics_algorithms()},
          {"Answers that are stable on the data", internal::stability_algorithms()},
          {"Keys that may be named", internal::key_algorithms()},
          {"Choices by score, and answers given with a coin", internal::choice_algorithms()},
          {"Answers above a threshold", internal::threshold_algorithms()},
          {"Noise on answers", internal::additive_algorithms()}};
}

}  // namespace gauze
