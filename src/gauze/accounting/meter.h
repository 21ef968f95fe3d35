#pragma once

#include <optional>
#include <vector>

#include "gauze/accounting/event.h"
#include "gauze/accounting/filter.h"

namespace gauze {

/// What this run may still spend. Made from the event that was reserved; a mechanism charges it
/// before it draws a bit.
///
/// A run may charge the parts of the reserved event, in any order and each as often as it was
/// reserved. A reserved `pure`, `approximate` or `zcdp` event is money besides: each one buys
/// whatever has a price in its currency, in exact fractions, up to its amount. So whatever
/// accountant priced the reservation, the run costs no more by it. Argument: filter.md
class Meter {
 public:
  explicit Meter(Event reserved);

  /// Takes the event from what is left, or throws `kBudgetExceeded` and leaves everything as it was.
  /// Throws `kCannotCompose` when the event's relation is another one, or it is no part of what was
  /// reserved and cannot be bought.
  void charge(const Event& event);

  /// Everything charged so far, in order.
  const std::vector<Event>& charged() const { return charged_; }

  /// True when not the smallest further loss would be accepted.
  bool exhausted() const;

 private:
  /// Equal parts of the reservation.
  struct Part {
    Event one;                      // with count 1
    Integer count;                  // untouched ones
    std::optional<Budget> worth;    // of each, when it is money
    std::optional<Budget> started;  // what is left of the one that buys other events

    Integer buy(const Budget& price, const Integer& wanted);
  };

  Relation relation_;
  std::vector<Part> parts_;
  std::vector<Event> charged_;
};

}  // namespace gauze
