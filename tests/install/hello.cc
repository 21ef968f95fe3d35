#include <cstdlib>
#include <iostream>

#include "gauze/accounting/accountant.h"
#include "gauze/engine/release.h"
#include "gauze/mechanism/count.h"
#include "gauze/random/system_bits.h"

int main() {
  using namespace gauze;
  const Count count({.epsilon = Ratio(1), .relation = Relation::kAddRemove});
  SystemBits bits;
  const auto answer = release(count, std::int64_t{1000}, bits);
  std::cout << "about " << answer.value << " people\n";
  // Off by 200 at epsilon 1 happens once in e^200 runs.
  const bool plausible = std::llabs(answer.value - 1000) < 200;
  return plausible && epsilon_at({answer.spent}, 0).epsilon >= 1 ? 0 : 1;
}
