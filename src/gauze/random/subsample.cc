#include "gauze/random/subsample.h"

#include <algorithm>
#include <unordered_set>

#include "gauze/base/error.h"
#include "gauze/random/uniform.h"

namespace gauze {

std::vector<std::uint64_t> poisson_subsample(BitSource& bits, std::uint64_t population,
                                             const Ratio& rate) {
  require(rate >= 0 && rate <= 1, "poisson_subsample: rate must lie in [0, 1]");
  std::vector<std::uint64_t> chosen;
  const Ratio scaled = rate * power_of_two(64);
  const Integer whole = floor(scaled);
  const bool always = whole >= (Integer(1) << 64);
  const std::uint64_t threshold = always ? 0 : whole.convert_to<std::uint64_t>();
  const Ratio rest = scaled - Ratio(whole);
  for (std::uint64_t i = 0; i < population; ++i) {
    const std::uint64_t word = bits.next();
    // Equal to the threshold in the first 64 bits: the rest of the rate decides.
    if (always || word < threshold || (word == threshold && bernoulli(bits, rest)))
      chosen.push_back(i);
  }
  return chosen;
}

// Floyd's algorithm (Bentley and Floyd 1987): one draw per element, no table of the population.
std::vector<std::uint64_t> fixed_size_subsample(BitSource& bits, std::uint64_t population,
                                                std::uint64_t size) {
  require(size <= population, "fixed_size_subsample: size must not exceed the population");
  std::unordered_set<std::uint64_t> chosen;
  chosen.reserve(size);
  for (std::uint64_t last = population - size; last < population; ++last) {
    const std::uint64_t candidate = uniform_below(bits, last + 1);
    chosen.insert(chosen.contains(candidate) ? last : candidate);
  }
  std::vector<std::uint64_t> sorted(chosen.begin(), chosen.end());
  std::sort(sorted.begin(), sorted.end());
  return sorted;
}

}  // namespace gauze
