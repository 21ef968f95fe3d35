#pragma once

#include <concepts>

#include "gauze/accounting/event.h"
#include "gauze/accounting/meter.h"
#include "gauze/accounting/release.h"
#include "gauze/random/bit_source.h"

namespace gauze {

/// Anything with a price that is known before the data, and a run that spends it.
template <class Algorithm, class Input>
concept Releasable = requires(const Algorithm& algorithm, const Input& input, Context& context) {
  { algorithm.event() } -> std::convertible_to<Event>;
  algorithm.run(input, context).value;
  { algorithm.run(input, context).spent } -> std::convertible_to<Event>;
};

/// The one door: every answer passes through here. The price is taken from public options, a meter
/// is filled with exactly that much, and the run spends it before it draws a bit; a run that asks
/// for more throws `kBudgetExceeded` and releases nothing.
template <class Input, Releasable<Input> Algorithm>
auto release(const Algorithm& algorithm, const Input& input, BitSource& bits) {
  Meter meter(algorithm.event());
  Context context{meter, bits};
  return algorithm.run(input, context);
}

}  // namespace gauze
