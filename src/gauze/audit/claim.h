#pragma once

#include <optional>
#include <string>
#include <vector>

#include "gauze/accounting/event.h"

namespace gauze::audit {

/// What a mechanism promises of every pair of neighbours: all of these at once.
struct Claim {
  /// P(event) <= e^epsilon Q(event) + delta.
  struct Point {
    double epsilon = 0;
    double delta = 0;
  };

  std::vector<Point> points;
  std::optional<double>
      rho;  ///< zero-concentrated: Renyi divergence of every order a at most a rho

  static Claim approximate(double epsilon, double delta = 0);
  /// The privacy curve of an event, as the best accountant has it at several deltas, and its rho.
  static Claim of(const Event& event);

  /// The most that a test of size `false_alarms` may detect: the claimed trade-off.
  double most_power(double false_alarms) const;
};

/// `epsilon 1`, `epsilon 1 at delta 1e-06`.
std::string describe(const Claim::Point& point);

}  // namespace gauze::audit
