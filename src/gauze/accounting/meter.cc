#include "gauze/accounting/meter.h"

#include <algorithm>
#include <string>

#include "gauze/accounting/loss.h"
#include "gauze/base/error.h"

namespace gauze {
namespace {

struct Counted {
  Event one;
  Integer count;
};

void flatten(const Event& event, const Integer& times, std::vector<Counted>& out) {
  const Integer count = times * event.count;
  if (const auto* composed = std::get_if<events::Composed>(&event.kind)) {
    for (const Event& part : composed->events) flatten(part, count, out);
    return;
  }
  const Event one{event.kind, event.relation, 1};
  const auto same = std::find_if(out.begin(), out.end(),
                                 [&](const Counted& counted) { return counted.one == one; });
  if (same == out.end()) {
    out.push_back({one, count});
  } else {
    same->count += count;
  }
}

std::vector<Counted> flatten(const Event& event) {
  event.validate();
  std::vector<Counted> out;
  flatten(event, 1, out);
  return out;
}

/// The amount that a guarantee of which nothing more is known can be spent as.
std::optional<Budget> worth(const Event& event) {
  using Currency = Budget::Currency;
  if (std::holds_alternative<events::Pure>(event.kind)) {
    return Budget::price(event, Currency::kPure);
  }
  if (std::holds_alternative<events::Zcdp>(event.kind)) {
    return Budget::price(event, Currency::kZcdp);
  }
  if (std::holds_alternative<events::Approximate>(event.kind)) {
    return Budget::price(event, Currency::kApproximate);
  }
  return std::nullopt;
}

std::optional<Budget> price_in(const Event& event, Budget::Currency currency) {
  const bool priced = currency == Budget::Currency::kPure   ? pure_epsilon(event).has_value()
                      : currency == Budget::Currency::kZcdp ? zcdp_rho(event).has_value()
                                                            : approximate_loss(event).has_value();
  if (!priced) return std::nullopt;
  return Budget::price(event, currency);
}

/// How many of `wanted` events of this price the budget covers.
Integer affordable(const Budget& budget, const Budget& price, Integer wanted) {
  if (price.amount > 0) wanted = std::min(wanted, floor(Ratio(budget.amount / price.amount)));
  if (price.delta > 0) wanted = std::min(wanted, floor(Ratio(budget.delta / price.delta)));
  return wanted;
}

Budget less(const Budget& budget, const Budget& price, const Integer& times) {
  return {budget.currency, budget.amount - price.amount * Ratio(times),
          budget.delta - price.delta * Ratio(times)};
}

[[noreturn]] void refuse(const Event& event, bool comparable) {
  if (comparable) {
    throw Error(ErrorCode::kBudgetExceeded,
                "this event costs more than was reserved for the run; nothing was drawn");
  }
  throw Error(ErrorCode::kCannotCompose, "an event of type " + std::string(type_name(event)) +
                                             " is no part of what was reserved for this run");
}

}  // namespace

Meter::Meter(Event reserved) : relation_(reserved.relation) {
  for (const Counted& counted : flatten(reserved)) {
    parts_.push_back({counted.one, counted.count, worth(counted.one), std::nullopt});
  }
}

void Meter::charge(const Event& event) {
  if (event.relation != relation_) {
    throw Error(ErrorCode::kCannotCompose,
                "this event's relation is " + std::string(name(event.relation)) +
                    ", the run was reserved under " + std::string(name(relation_)));
  }
  // The usual case, without a copy of all that is left: the event is a part as it was reserved.
  const auto same = std::find_if(parts_.begin(), parts_.end(), [&](const Part& each) {
    return each.count >= event.count && each.one.kind == event.kind;
  });
  if (same != parts_.end() && event.count > 0) {
    charged_.push_back(event);
    same->count -= event.count;
    return;
  }
  std::vector<Part> after = parts_;
  for (const Counted& wanted : flatten(event)) {
    bool comparable = false;
    Integer missing = wanted.count;
    for (Part& part : after) {
      if (part.one != wanted.one) continue;
      comparable = true;
      const Integer taken = std::min(part.count, missing);
      part.count -= taken;
      missing -= taken;
    }
    for (Part& part : after) {
      const auto price = part.worth ? price_in(wanted.one, part.worth->currency) : std::nullopt;
      if (!price) continue;
      comparable = true;
      missing -= part.buy(*price, missing);
    }
    if (missing > 0) refuse(wanted.one, comparable);
  }
  parts_ = std::move(after);
  charged_.push_back(event);
}

/// Buys up to `wanted` events, first from the part already started, then from as many whole ones as
/// it takes; the last of those becomes the started one.
Integer Meter::Part::buy(const Budget& price, const Integer& wanted) {
  Integer bought = 0;
  if (started) {
    bought = affordable(*started, price, wanted);
    started = less(*started, price, bought);
  }
  const Integer each = affordable(*worth, price, wanted - bought);
  if (each == 0 || count == 0) return bought;
  const Integer opened = std::min<Integer>(count, (wanted - bought + each - 1) / each);
  const Integer in_last = std::min<Integer>(each, wanted - bought - (opened - 1) * each);
  count -= opened;
  started = less(*worth, price, in_last);
  return bought + (opened - 1) * each + in_last;
}

bool Meter::exhausted() const {
  const auto empty = [](const Budget& budget) { return budget.amount == 0 && budget.delta == 0; };
  return std::all_of(parts_.begin(), parts_.end(), [&](const Part& part) {
    const bool untouched = part.count > 0 && !(part.worth && empty(*part.worth));
    return !untouched && (!part.started || empty(*part.started));
  });
}

}  // namespace gauze
