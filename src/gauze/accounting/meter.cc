#include "gauze/accounting/meter.h"

#include "gauze/accounting/loss.h"
#include "gauze/base/error.h"

namespace gauze {
namespace {

/// The first currency in which the event has a price.
std::optional<Budget::Currency> currency_of(const Event& event) {
  if (pure_epsilon(event)) return Budget::Currency::kPure;
  if (zcdp_rho(event)) return Budget::Currency::kZcdp;
  if (approximate_loss(event)) return Budget::Currency::kApproximate;
  return std::nullopt;
}

}  // namespace

Meter::Meter(Event reserved) : reserved_(std::move(reserved)) {
  reserved_.validate();
  if (const auto currency = currency_of(reserved_)) {
    filter_.emplace(Budget::price(reserved_, *currency), reserved_.relation);
  } else {
    left_count_ = reserved_.count;
  }
}

void Meter::charge(const Event& event) {
  if (filter_) {
    filter_->charge(event);
  } else {
    event.validate();
    if (event.kind != reserved_.kind || event.relation != reserved_.relation) {
      throw Error(ErrorCode::kCannotCompose,
                  "the run was reserved as " + std::string(type_name(reserved_)) + " under " +
                      std::string(name(reserved_.relation)) +
                      ", which has no price but its own; charge that event");
    }
    if (event.count > left_count_) {
      throw Error(ErrorCode::kBudgetExceeded,
                  "the run was reserved for fewer such steps; nothing was drawn");
    }
    left_count_ -= event.count;
  }
  charged_.push_back(event);
}

bool Meter::exhausted() const {
  return filter_ ? filter_->left().amount == 0 : left_count_ == 0;
}

}  // namespace gauze
