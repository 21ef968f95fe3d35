#pragma once

#include <vector>

#include "gauze/accounting/event.h"

namespace gauze {

/// Renyi divergences of a composition at a list of orders, none below the true value.
/// Argument: rdp.md
struct RenyiCurve {
  std::vector<double> orders;
  std::vector<double> epsilons;
};

/// The usual orders: 1 + 10^-8 ... 1.05, 1.1, 1.2, ... 10.9, 11, 12, ... 512, then four per
/// doubling to 10^6. With those of the rdp events among `events`.
std::vector<double> renyi_orders(const std::vector<Event>& events = {});

/// The curve of all events together at the given orders; at the usual ones and those of the rdp
/// events among them when none are given. Infinite where there is no guarantee.
RenyiCurve renyi_curve(const std::vector<Event>& events, std::vector<double> orders = {});

/// Smallest epsilon over the orders, by the conversion of Canonne, Kamath and Steinke 2020.
double renyi_epsilon(const RenyiCurve& curve, double delta);

/// The same by the older conversion of Mironov 2017, epsilon + ln(1/delta)/(order - 1): never
/// smaller; kept because published figures use it.
double renyi_epsilon_classic(const RenyiCurve& curve, double delta);

/// Smallest delta at `epsilon` over the orders.
double renyi_delta(const RenyiCurve& curve, double epsilon);

}  // namespace gauze
