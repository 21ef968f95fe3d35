#include "gauze/service/cost.h"

#include <cmath>

#include "gauze/accounting/accountant.h"
#include "gauze/accounting/loss.h"
#include "gauze/base/error.h"
#include "gauze/service/values.h"

namespace gauze::service {
namespace {

Cost exactly(const Budget& price) {
  return {decimal(price.amount, round_up), decimal(price.delta, round_up), price};
}

/// Whether the event is (epsilon, delta) differentially private, as far as an accountant can tell.
bool keeps(const Event& event, const Ratio& epsilon, const Ratio& delta) {
  return delta_at({event}, round_down(epsilon)).delta <= round_up(delta);
}

double quoted_at(const Named& named) {
  if (named.quote_delta) {
    const double delta = decimal(*named.quote_delta, round_down);
    require(delta > 0 && delta < 1, "--quote-delta: must lie strictly between 0 and 1, like 1e-6");
    return delta;
  }
  const double own = named.delta ? decimal(*named.delta, round_down) : 0;
  return own > 0 ? own : 1e-6;
}

}  // namespace

Cost cost_of(const Event& event, const Named& named) {
  require(!named.delta || (*named.delta >= 0 && *named.delta < 1),
          "delta: must be from 0 to below 1, like 1e-6");
  const double delta = quoted_at(named);
  if (const auto pure = pure_epsilon(event)) {
    if (!std::isinf(round_up(*pure))) return exactly(Budget::approximate(*pure, 0));
    return {INFINITY, 0, Budget::approximate(*pure, 0)};
  }
  if (named.epsilon && *named.epsilon > 0 && !named.quote_delta) {
    const Budget asked = Budget::approximate(*named.epsilon, named.delta.value_or(0));
    const auto basic = Budget::basic_price(event);
    if (basic && asked.covers(*basic)) return exactly(*basic);
    if (asked.delta > 0 && keeps(event, asked.amount, asked.delta)) return exactly(asked);
  }
  const double epsilon = epsilon_at({event}, delta).epsilon;
  Cost cost{epsilon, delta, Budget::approximate(0, ratio_of_decimal(delta))};
  if (std::isfinite(epsilon)) cost.price.amount = ratio_of_decimal(epsilon);
  return cost;
}

Budget asked_at(const Cost& cost, const Named& named) {
  Budget asked = cost.price;
  if (named.epsilon) asked.amount = *named.epsilon;
  if (named.quote_delta || !named.delta)
    asked.delta = ratio_of_decimal(cost.delta);
  else
    asked.delta = *named.delta;
  return asked;
}

}  // namespace gauze::service
