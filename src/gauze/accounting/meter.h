#pragma once

#include <optional>
#include <vector>

#include "gauze/accounting/event.h"
#include "gauze/accounting/filter.h"

namespace gauze {

/// What this run may still spend. Made from the event that was reserved; a mechanism charges it
/// before it draws a bit.
///
/// The currency is the reserved event's own: pure epsilon if it has one, else rho of
/// zero-concentrated DP, else (epsilon, delta) by basic composition; a `PrivacyFilter` keeps it in
/// exact fractions. An event that has none of these (a sampled run, a Renyi curve) can only be
/// charged as itself, up to its count.
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
  Event reserved_;
  std::optional<PrivacyFilter> filter_;  // nothing: only the reserved event itself can be charged
  std::uint64_t left_count_ = 0;
  std::vector<Event> charged_;
};

}  // namespace gauze
