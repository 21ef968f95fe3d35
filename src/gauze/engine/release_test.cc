#include "gauze/engine/release.h"

#include <gtest/gtest.h>

#include "gauze/testing/matchers.h"
#include "gauze/testing/seeded_bits.h"

namespace gauze {
namespace {

using gauze::testing::SeededBits;

Event pure(const Ratio& epsilon) {
  return {events::Pure{epsilon}, Relation::kAddRemove};
}

/// Says that it costs `price`, spends `charge`, then draws.
struct Stub {
  Ratio price;
  Ratio charge;

  Event event() const { return pure(price); }
  Release<std::uint64_t> run(int /*input*/, Context& context) const {
    context.meter.charge(pure(charge));
    return {context.bits.next(), {}, pure(charge)};
  }
};

TEST(TheDoor, LetsARunSpendExactlyItsPrice) {
  SeededBits bits(1);
  EXPECT_EQ(release(Stub{Ratio(1, 3), Ratio(1, 3)}, 0, bits).spent, pure(Ratio(1, 3)));
}

TEST(TheDoor, StopsARunThatSpendsMoreThanItSaidBeforeItDraws) {
  SeededBits bits(1);
  EXPECT_ERROR(release(Stub{Ratio(1, 3), Ratio(33334, 100000)}, 0, bits),
               ErrorCode::kBudgetExceeded);
  EXPECT_EQ(bits.refills(), 0u);
}

}  // namespace
}  // namespace gauze
