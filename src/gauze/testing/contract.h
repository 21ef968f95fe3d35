#pragma once

#include <gtest/gtest.h>

#include <span>
#include <utility>
#include <vector>

#include "gauze/accounting/release.h"
#include "gauze/testing/matchers.h"
#include "gauze/testing/seeded_bits.h"

namespace gauze::testing {

/// What every mechanism and algorithm promises, whatever it computes. `one` and `other` are two
/// inputs it accepts.
template <class Mechanism, class Input>
void expect_contract(const Mechanism& mechanism, const Input& one, const Input& other) {
  const Event price = mechanism.event();
  EXPECT_NO_THROW(price.validate());

  {
    SCOPED_TRACE("draws nothing when it cannot pay");
    SeededBits bits(1);
    Meter meter(price);
    meter.charge(price);
    Context context{meter, bits};
    EXPECT_ERROR(mechanism.run(one, context), ErrorCode::kBudgetExceeded);
    EXPECT_EQ(bits.refills(), 0u);
  }
  {
    SCOPED_TRACE("refuses a meter of another relation, and draws nothing");
    SeededBits bits(1);
    Meter meter(Event{events::Pure{1000000}, Relation::kPufferfish});
    Context context{meter, bits};
    EXPECT_ERROR(mechanism.run(one, context), ErrorCode::kCannotCompose);
    EXPECT_EQ(bits.refills(), 0u);
  }
  {
    SCOPED_TRACE("charges exactly its price, once, and the same for all data");
    for (const Input* input : {&one, &other}) {
      SeededBits bits(1);
      Meter meter(price);
      Context context{meter, bits};
      const auto release = mechanism.run(*input, context);
      EXPECT_EQ(meter.charged(), std::vector<Event>{price});
      EXPECT_TRUE(meter.exhausted());
      EXPECT_EQ(release.spent, price);
      EXPECT_EQ(mechanism.event(), price);
      EXPECT_GT(release.accuracy.confidence, 0);
      EXPECT_GE(release.accuracy.half_width, 0);
      EXPECT_GT(bits.refills(), 0u);
    }
  }
  {
    SCOPED_TRACE("equal seeds give equal releases");
    const auto draw = [&](std::uint64_t seed) {
      SeededBits bits(seed);
      Meter meter(price);
      Context context{meter, bits};
      return mechanism.run(one, context).value;
    };
    for (std::uint64_t seed = 0; seed < 3; ++seed) EXPECT_EQ(draw(seed), draw(seed));
  }
}

/// One release with a meter of its own: for tests that look at many.
template <class Mechanism, class Input>
auto release_once(const Mechanism& mechanism, const Input& input, BitSource& bits) {
  Meter meter(mechanism.event());
  Context context{meter, bits};
  return mechanism.run(input, context).value;
}

/// `release_once` on these numbers as a function of the bits alone and as a number, for audits.
template <class Mechanism>
auto sampler(const Mechanism& mechanism, std::vector<double> data) {
  return [&mechanism, data = std::move(data)](BitSource& bits) {
    return static_cast<double>(release_once(mechanism, std::span<const double>(data), bits));
  };
}

}  // namespace gauze::testing
