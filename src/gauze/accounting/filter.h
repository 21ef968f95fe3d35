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
    kZcdp,         ///< `amount` is rho, with `delta`: delta-approximate rho-zCDP
    kApproximate,  ///< `amount` is epsilon, with `delta`, by basic composition
  };

  Currency currency;
  Ratio amount;
  Ratio delta = 0;

  static Budget pure(const Ratio& epsilon);
  static Budget zcdp(const Ratio& rho, const Ratio& delta = 0);
  static Budget approximate(const Ratio& epsilon, const Ratio& delta);

  /// What the event costs in this currency, exactly; throws `kCannotCompose` when it has no price in
  /// it. In zCDP: gaussian (l2^2/(2 sigma^2), 0), pure (epsilon^2/2, 0), exponential (epsilon^2/8,
  /// 0), approximate (epsilon^2/2, delta), composed the sum.
  ///
  /// Gaussian noise has no price of its own in (epsilon, delta). A whole query has one at the
  /// `delta` it was asked at: the epsilon that `epsilon_at` finds there, so a ledger in (epsilon,
  /// delta) keeps the query's own event, whose parts the meter needs, and passes the delta here. An
  /// event that costs at most a thousandth more by basic composition keeps that price, which may
  /// need less delta. Other currencies ignore `delta`.
  static Budget price(const Event& event, Currency currency, const Ratio& delta = 0);

  /// Epsilon and delta by basic composition; nothing where parts have no such price, as Gaussian noise.
  static std::optional<Budget> basic_price(const Event& event);

  /// Amount and delta rounded up to whole multiples of 10^-30. The denominators of exact prices
  /// grow with every addition; sums of rounded ones stay short.
  Budget rounded_up() const;

  /// Equal shares, or shares proportional to the weights (at least one positive, none negative).
  /// Each is rounded down to a decimal of at most 15 digits and 30 places, so that every share
  /// survives being written down and `rounded_up`, and all shares together never exceed the whole.
  std::vector<Budget> split(std::size_t parts) const;
  std::vector<Budget> split(std::span<const Ratio> weights) const;

  bool covers(const Budget& other) const;
  /// What is left after `other`, which is covered.
  Budget minus(const Budget& other) const;

  bool operator==(const Budget&) const = default;
};

/// Stops a fully adaptive interaction, in which each event may depend on all answers so far, before
/// it spends more than its budget. Whatever the interaction does, all it releases together
/// satisfies the budget's guarantee: for pure and approximate DP by basic composition, for
/// (approximate) zCDP by Whitehouse et al. 2023, Theorem 1. Argument: filter.md
class PrivacyFilter {
 public:
  PrivacyFilter(Budget budget, Relation relation);

  /// `delta` is that of `Budget::price`.
  bool accepts(const Event& event, const Ratio& delta = 0) const;

  /// Takes the event's price, or throws `kBudgetExceeded` and leaves everything as it was;
  /// `kCannotCompose` when the relation differs or the event has no price in this currency.
  void charge(const Event& event, const Ratio& delta = 0);

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
