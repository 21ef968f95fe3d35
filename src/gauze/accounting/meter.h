#pragma once

#include "gauze/accounting/event.h"

namespace gauze {

/// What this run may still spend. Made from the event that was reserved; a mechanism charges it
/// before it draws a bit.
///
/// The currency is the reserved event's own: pure epsilon if it has one, else rho of
/// zero-concentrated DP, else (epsilon, delta) by basic composition; sums are exact fractions. An
/// event that has none of these (a sampled run, a Renyi curve) can only be charged as itself, up to
/// its count.
class Meter {
 public:
  explicit Meter(Event reserved);

  /// Takes the event's price from what is left, or throws `kBudgetExceeded` and leaves everything
  /// as it was. Throws `kCannotCompose` when the event's relation is another one or it has no price
  /// in this currency.
  void charge(const Event& event);

  /// Everything charged so far, in order.
  const std::vector<Event>& charged() const { return charged_; }

  /// True when not the smallest further loss would be accepted.
  bool exhausted() const;

 private:
  enum class Currency : std::uint8_t { kPure, kZcdp, kApproximate, kItself };

  Event reserved_;
  Currency currency_;
  Ratio left_ = 0;        // epsilon or rho
  Ratio left_delta_ = 0;  // with Currency::kApproximate
  std::uint64_t left_count_ = 0;
  std::vector<Event> charged_;
};

}  // namespace gauze
