#include "gauze/accounting/filter.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

#include "gauze/accounting/loss.h"
#include "gauze/accounting/rdp.h"
#include "gauze/accounting/zcdp.h"
#include "gauze/base/error.h"
#include "gauze/numeric/infinity.h"

namespace gauze {
namespace {

const Ratio& finest() {
  static const Ratio step = parse_ratio("1e-30");
  return step;
}

/// The largest decimal with 15 significant digits and 30 places that is not above the value.
Ratio short_decimal_below(const Ratio& value) {
  if (value <= 0) return 0;
  Ratio step = 1;
  while (step > finest() && value < step * parse_ratio("1e14")) step /= 10;
  return Ratio(floor(Ratio(value / step))) * step;
}

Ratio short_decimal_above(const Ratio& value) {
  return Ratio(ceil(Ratio(value / finest()))) * finest();
}

void check_relation(Relation have, Relation want) {
  if (have == want) return;
  throw Error(ErrorCode::kCannotCompose, "this event's relation is " + std::string(name(have)) +
                                             ", the budget is kept under " +
                                             std::string(name(want)));
}

[[noreturn]] void exceeded() {
  throw Error(ErrorCode::kBudgetExceeded,
              "this event costs more than is left of the budget; nothing was charged");
}

/// The price by basic composition, or that of the whole at `delta` where it is lower.
std::optional<Budget> approximate_price(const Event& event, const Ratio& delta) {
  require(delta >= 0 && delta < 1, "delta: must lie in [0, 1)");
  const std::optional<Budget> basic = Budget::basic_price(event);
  if (delta == 0) return basic;
  const double epsilon = epsilon_at({event}, round_down(delta)).epsilon;
  if (std::isinf(epsilon)) return basic;
  const Budget whole = {Budget::Currency::kApproximate, ratio_of_bits(epsilon), delta};
  // A hair of epsilon is not worth the delta.
  const Ratio worthwhile = whole.amount * Ratio(1001, 1000);
  return basic && basic->delta <= delta && basic->amount <= worthwhile ? *basic : whole;
}

}  // namespace

Budget Budget::pure(const Ratio& epsilon) {
  require(epsilon >= 0, "epsilon: must not be negative");
  return {Currency::kPure, epsilon, 0};
}

Budget Budget::zcdp(const Ratio& rho, const Ratio& delta) {
  require(rho >= 0, "rho: must not be negative");
  require(delta >= 0 && delta <= 1, "delta: must lie in [0, 1]");
  return {Currency::kZcdp, rho, delta};
}

Budget Budget::approximate(const Ratio& epsilon, const Ratio& delta) {
  require(epsilon >= 0, "epsilon: must not be negative");
  require(delta >= 0 && delta <= 1, "delta: must lie in [0, 1]");
  return {Currency::kApproximate, epsilon, delta};
}

std::optional<Budget> Budget::basic_price(const Event& event) {
  const auto loss = approximate_loss(event);
  if (!loss) return std::nullopt;
  return Budget{Currency::kApproximate, loss->epsilon, loss->delta};
}

Budget Budget::price(const Event& event, Currency currency, const Ratio& delta) {
  event.validate();
  switch (currency) {
    case Currency::kPure:
      if (const auto epsilon = pure_epsilon(event)) return pure(*epsilon);
      break;
    case Currency::kZcdp:
      if (const auto loss = concentrated_loss(event)) return {currency, loss->rho, loss->delta};
      break;
    case Currency::kApproximate:
      if (const auto price = approximate_price(event, delta)) return *price;
      break;
  }
  if (currency == Currency::kPure) {
    throw Error(
        ErrorCode::kCannotCompose,
        "this needs a delta, and the budget is kept in epsilon alone: ask with delta 0, about "
        "groups that have a public list, or have a budget set with a delta, like --epsilon 3 "
        "--delta 1e-6");
  }
  throw Error(ErrorCode::kCannotCompose,
              "an event of type " + std::string(type_name(event)) +
                  " has no price in a budget of " +
                  (currency == Currency::kZcdp ? "rho; one of epsilon and delta may have"
                                               : "epsilon and delta unless a delta is asked for"));
}

Budget Budget::rounded_up() const {
  return {currency, short_decimal_above(amount), short_decimal_above(delta)};
}

std::vector<Budget> Budget::split(std::size_t parts) const {
  require(parts >= 1, "parts: must be at least 1");
  return split(std::vector<Ratio>(parts, Ratio(1)));
}

std::vector<Budget> Budget::split(std::span<const Ratio> weights) const {
  Ratio total = 0;
  for (const Ratio& weight : weights) {
    require(weight >= 0, "weights: must not be negative");
    total += weight;
  }
  require(total > 0, "weights: at least one must be positive");
  std::vector<Budget> shares;
  for (const Ratio& weight : weights) {
    shares.push_back({currency, short_decimal_below(amount * weight / total),
                      short_decimal_below(delta * weight / total)});
  }
  return shares;
}

bool Budget::covers(const Budget& other) const {
  return currency == other.currency && other.amount <= amount && other.delta <= delta;
}

Budget Budget::minus(const Budget& other) const {
  return {currency, amount - other.amount, delta - other.delta};
}

PrivacyFilter::PrivacyFilter(Budget budget, Relation relation)
    : left_(std::move(budget)), relation_(relation) {}

bool PrivacyFilter::accepts(const Event& event, const Ratio& delta) const {
  check_relation(event.relation, relation_);
  return left_.covers(Budget::price(event, left_.currency, delta));
}

void PrivacyFilter::charge(const Event& event, const Ratio& delta) {
  check_relation(event.relation, relation_);
  const Budget price = Budget::price(event, left_.currency, delta);
  if (!left_.covers(price)) exceeded();
  left_ = left_.minus(price);
}

RenyiFilter::RenyiFilter(double epsilon, double delta, Relation relation, double order)
    : order_(order), relation_(relation) {
  require(epsilon > 0 && std::isfinite(epsilon), "epsilon: must be positive and finite");
  require(delta > 0 && delta < 1, "delta: must lie in (0, 1)");
  require(order == 0 || (order > 1 && std::isfinite(order)), "order: must be above 1");
  // epsilon = D + ln(1 - 1/a) - (ln delta + ln a)/(a - 1), solved for D.
  const auto allowed = [&](double a) {
    return epsilon - std::log1p(-1 / a) + (std::log(delta) + std::log(a)) / (a - 1);
  };
  if (order_ == 0) {
    double best = 0;
    for (const double a : renyi_orders()) {
      if (allowed(a) / a > best) {
        best = allowed(a) / a;
        order_ = a;
      }
    }
    require(order_ != 0, "epsilon: too small for a Renyi filter at this delta");
  }
  const double room = allowed(order_);
  budget_ = std::max(0.0, room - 1e-14 * (std::abs(room) + epsilon));
}

double RenyiFilter::after(const Event& event) const {
  event.validate();
  check_relation(event.relation, relation_);
  const double cost = renyi_curve({event}, {order_}).epsilons[0];
  return cost == 0 ? spent_ : (spent_ + cost) * (1 + 1e-15);
}

bool RenyiFilter::accepts(const Event& event) const {
  return after(event) <= budget_;
}

void RenyiFilter::charge(const Event& event) {
  const double total = after(event);
  if (!(total <= budget_)) exceeded();
  spent_ = total;
}

void Odometer::record(const Event& event) {
  event.validate();
  check_relation(event.relation, relation_);
  const auto epsilon = pure_epsilon(event);
  const auto rho = zcdp_rho(event);
  if (!rho) {
    throw Error(ErrorCode::kCannotCompose, "an event of type " + std::string(type_name(event)) +
                                               " has no rho; an odometer adds up rho");
  }
  rho_ += *rho;
  pure_ = pure_ && epsilon.has_value();
  if (epsilon) epsilon_ += *epsilon;
}

Guarantee Odometer::spent(double delta) const {
  require(delta >= 0 && delta < 1, "delta: must lie in [0, 1)");
  const double pure = pure_ ? round_up(epsilon_) : kInfinity;
  if (delta == 0 || rho_ == 0) return {pure, delta, Accountant::kPure};
  // The rung that covers rho: 2^k >= rho. Rungs share delta as 1/(1 + k^2), whose sum over all
  // integers is pi coth(pi) < 3.2.
  const double about = round_up(rho_);
  if (std::isinf(about)) return {pure, delta, Accountant::kPure};
  int rung = std::ilogb(about);
  while (power_of_two(rung) < rho_) ++rung;
  const double share = delta / 3.2 / (1.0 + static_cast<double>(rung) * rung);
  const double ladder = zcdp_epsilon(power_of_two(rung), share);
  if (pure <= ladder) return {pure, delta, Accountant::kPure};
  return {ladder, delta, Accountant::kZcdp};
}

}  // namespace gauze
