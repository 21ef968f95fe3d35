#include <algorithm>
#include <cmath>
#include <limits>

#include "gauze/audit/divergence.h"
#include "gauze/audit/exact_internal.h"
#include "gauze/base/error.h"

namespace gauze::audit {
namespace {

/// Sums of doubles differ from the truth by less.
constexpr double kTolerance = 1e-9;
constexpr double kOrders[] = {1.05, 1.25, 1.5, 2, 3, 4, 6, 8, 16, 32};

struct Distribution {
  std::vector<double> likely;
  std::vector<double> unlikely;
};

/// The outputs on which the likely side exceeds e^epsilon times the other by as much as it can.
Finding finding_of(const Distribution& both, std::size_t pair, Side side, Claim::Point point,
                   double epsilon) {
  Finding finding{.pair = pair,
                  .likely_side = side,
                  .event = "",
                  .likely = {},
                  .unlikely = {},
                  .claimed = point,
                  .epsilon = epsilon};
  finding.violation = epsilon > point.epsilon + kTolerance;
  const double ratio = std::exp(std::isfinite(epsilon) ? epsilon * (1 - kTolerance) : 700);
  double p = 0;
  double q = 0;
  std::size_t outputs = 0;
  for (std::size_t i = 0; i < both.likely.size(); ++i) {
    if (both.likely[i] <= ratio * both.unlikely[i]) continue;
    p += both.likely[i];
    q += both.unlikely[i];
    ++outputs;
  }
  finding.event = "one of " + std::to_string(outputs) + " of " +
                  std::to_string(both.likely.size()) + " possible outputs";
  finding.likely = {.low = p, .high = p};
  finding.unlikely = {.low = q, .high = q};
  return finding;
}

void note_renyi(const Distribution& both, const std::string& pair, Report& report) {
  if (!report.claim.rho) return;
  for (const double order : kOrders) {
    const double divergence = renyi_divergence(both.likely, both.unlikely, order);
    if (divergence <= order * *report.claim.rho * (1 + kTolerance) + kTolerance) continue;
    report.finding.violation = true;
    report.notes.push_back("on " + pair + ", the Renyi divergence of order " + shortest(order) +
                           " is " + shortest(divergence) + ", above the claimed " +
                           shortest(order * *report.claim.rho));
    return;
  }
}

}  // namespace

void audit_exactly(const Subject& subject, Report& report) {
  report.exact = true;
  report.confidence = 1;
  double best = -std::numeric_limits<double>::infinity();
  for (std::size_t pair = 0; pair < subject.pairs.size(); ++pair) {
    const bool same = subject.pairs[pair].same;
    for (const Side side : {Side::kFirst, Side::kSecond}) {
      const Side other = side == Side::kFirst ? Side::kSecond : Side::kFirst;
      const Distribution both{subject.probabilities(pair, side),
                              subject.probabilities(pair, other)};
      require(both.likely.size() == both.unlikely.size(),
              "probabilities: must be of as many outputs on both inputs");
      for (const Claim::Point& point :
           same ? std::vector<Claim::Point>{{0, 0}} : subject.claim.points) {
        const double epsilon = epsilon_one_way(both.likely, both.unlikely, point.delta);
        if (epsilon - point.epsilon <= best) continue;
        best = epsilon - point.epsilon;
        const bool refuted = report.finding.violation;
        report.finding = finding_of(both, pair, side, point, epsilon);
        report.finding.violation |= refuted;
      }
      note_renyi(both, subject.pairs[pair].name, report);
    }
  }
}

}  // namespace gauze::audit
