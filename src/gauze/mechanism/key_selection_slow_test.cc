#include "gauze/accounting/accountant.h"
#include "gauze/mechanism/key_selection.h"
#include "gauze/testing/contract.h"

namespace gauze {
namespace {

TEST(KeySelectionSlow, StaysSoundAtTheEndsOfTheRange) {
  for (const KeySelectionMethod method :
       {KeySelectionMethod::kTruncatedGeometric, KeySelectionMethod::kGaussian,
        KeySelectionMethod::kSips}) {
    for (const char* epsilon : {"1e-3", "50", "1000"}) {
      for (const char* delta : {"1e-200", "0.5", "0.999"}) {
        const KeySelection mechanism({.epsilon = parse_ratio(epsilon),
                                      .delta = parse_ratio(delta),
                                      .keys_per_unit = 3u,
                                      .method = method});
        EXPECT_LE(epsilon_at({mechanism.event()}, parse_ratio(delta).convert_to<double>()).epsilon,
                  parse_ratio(epsilon).convert_to<double>());
        testing::SeededBits bits(1);
        testing::release_once(mechanism, UnitKeys{{0, 1, 3}, {0, 0, 1}, 5}, bits);
      }
    }
  }
}

}  // namespace
}  // namespace gauze
