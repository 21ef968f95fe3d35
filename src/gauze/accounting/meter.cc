#include "gauze/accounting/meter.h"

#include "gauze/accounting/loss.h"
#include "gauze/base/error.h"

namespace gauze {
namespace {

[[noreturn]] void exceeded() {
  throw Error(
      ErrorCode::kBudgetExceeded,
      "this step costs more than is left of what was reserved for the run; nothing was drawn");
}

/// The event without its count, for comparing kinds.
bool same_kind(const Event& a, const Event& b) {
  return a.kind == b.kind && a.relation == b.relation;
}

}  // namespace

Meter::Meter(Event reserved) : reserved_(std::move(reserved)), currency_(Currency::kItself) {
  reserved_.validate();
  if (const auto epsilon = pure_epsilon(reserved_)) {
    currency_ = Currency::kPure;
    left_ = *epsilon;
  } else if (const auto rho = zcdp_rho(reserved_)) {
    currency_ = Currency::kZcdp;
    left_ = *rho;
  } else if (const auto loss = approximate_loss(reserved_)) {
    currency_ = Currency::kApproximate;
    left_ = loss->epsilon;
    left_delta_ = loss->delta;
  } else {
    left_count_ = reserved_.count;
  }
}

void Meter::charge(const Event& event) {
  event.validate();
  if (event.relation != reserved_.relation) {
    throw Error(ErrorCode::kCannotCompose,
                "this step's relation is " + std::string(name(event.relation)) +
                    ", the run was reserved under " + std::string(name(reserved_.relation)));
  }
  const auto no_price = [&]() {
    return Error(ErrorCode::kCannotCompose, "a step of type " + std::string(type_name(event)) +
                                                " has no price in the currency of the reserved " +
                                                std::string(type_name(reserved_)));
  };
  switch (currency_) {
    case Currency::kPure: {
      const auto epsilon = pure_epsilon(event);
      if (!epsilon) throw no_price();
      if (*epsilon > left_) exceeded();
      left_ -= *epsilon;
      break;
    }
    case Currency::kZcdp: {
      const auto rho = zcdp_rho(event);
      if (!rho) throw no_price();
      if (*rho > left_) exceeded();
      left_ -= *rho;
      break;
    }
    case Currency::kApproximate: {
      const auto loss = approximate_loss(event);
      if (!loss) throw no_price();
      if (loss->epsilon > left_ || loss->delta > left_delta_) exceeded();
      left_ -= loss->epsilon;
      left_delta_ -= loss->delta;
      break;
    }
    case Currency::kItself: {
      if (!same_kind(event, reserved_)) throw no_price();
      if (event.count > left_count_) exceeded();
      left_count_ -= event.count;
      break;
    }
  }
  charged_.push_back(event);
}

bool Meter::exhausted() const {
  return currency_ == Currency::kItself ? left_count_ == 0 : left_ == 0;
}

}  // namespace gauze
