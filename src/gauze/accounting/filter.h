#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "gauze/accounting/accountant.h"
#include "gauze/accounting/event.h"

namespace gauze {

/// An amount of privacy loss, kept as exact fractions in one currency.
struct Budget {
  enum class Currency : std::uint8_t {
    kPure,         ///< `amount` is epsilon
    kZcdp,         ///< `amount` is rho
    kApproximate,  ///< `amount` is epsilon, with `delta`, by basic composition
  };

  Currency currency;
  Ratio amount;
  Ratio delta = 0;

  static Budget pure(const Ratio& epsilon);
  static Budget zcdp(const Ratio& rho);
  static Budget approximate(const Ratio& epsilon, const Ratio& delta);

  /// What the event costs in this currency; throws `kCannotCompose` when it has no price in it.
  static Budget price(const Event& event, Currency currency);

  /// Equal shares, or shares proportional to the weights (at least one positive, none negative).
  /// Each is rounded down to a decimal of at most 15 digits, so that every share survives being
  /// written down, and all shares together never exceed the whole.
  std::vector<Budget> split(std::size_t parts) const;
  std::vector<Budget> split(std::span<const Ratio> weights) const;

  bool covers(const Budget& other) const;
  Budget minus(const Budget& other) const;

  bool operator==(const Budget&) const = default;
};

/// Stops a fully adaptive interaction, in which each event may depend on all answers so far, before
/// it spends more than its budget. Whatever the interaction does, all it releases together
/// satisfies the budget's guarantee: for pure and approximate DP by basic composition, for zCDP by
/// Whitehouse et al. 2023, Theorem 1. Argument: filter.md
class PrivacyFilter {
 public:
  PrivacyFilter(Budget budget, Relation relation);

  bool accepts(const Event& event) const;

  /// Takes the event's price, or throws `kBudgetExceeded` and leaves everything as it was;
  /// `kCannotCompose` when the relation differs or the event has no price in this currency.
  void charge(const Event& event);

  const Budget& left() const { return left_; }

 private:
  Budget left_;
  Relation relation_;
};

/// The same with Renyi divergences at one order, which prices sampled events well: the interaction
/// satisfies (epsilon, delta)-DP (Feldman and Zrnic 2021, Theorem 4.3). The order is fixed before
/// the first event; 0 chooses the one that is best for Gaussian noise.
class RenyiFilter {
 public:
  RenyiFilter(double epsilon, double delta, Relation relation, double order = 0);

  bool accepts(const Event& event) const;
  void charge(const Event& event);

  double order() const { return order_; }
  double budget() const { return budget_; }  ///< divergence allowed in total, rounded down
  double spent() const { return spent_; }    ///< divergence so far, rounded up

 private:
  double after(const Event& event) const;

  double order_;
  double budget_;
  double spent_ = 0;
  Relation relation_;
};

/// Says at any moment what an interaction without a limit has cost so far. The moment may depend on
/// the answers: pure losses simply add up; otherwise rho is compared with a ladder of filters, one
/// per power of two, that share delta, so all their guarantees hold at once. Argument: filter.md
class Odometer {
 public:
  explicit Odometer(Relation relation) : relation_(relation) {}

  void record(const Event& event);

  /// The guarantee up to now; delta in [0, 1). With delta = 0 it is pure (infinite when an event is
  /// not).
  Guarantee spent(double delta) const;

 private:
  Relation relation_;
  bool pure_ = true;
  Ratio epsilon_ = 0;
  Ratio rho_ = 0;
};

}  // namespace gauze
