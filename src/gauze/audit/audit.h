#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "gauze/audit/subject.h"

namespace gauze::audit {

struct Options {
  std::uint64_t runs = 1'000'000;  ///< of the mechanism, all inputs together; at least 1000
  double confidence = 0.999;       ///< that no bound stated is above the truth
  std::uint32_t threads = 0;       ///< 0 takes as many as the machine has
  /// A source of bits for part `stream` of the work; the operating system's where this is empty.
  std::function<std::unique_ptr<BitSource>(std::uint64_t stream)> bits = {};
  /// Told how much of the work is done, in [0, 1], from one thread at a time; may throw to stop.
  std::function<void(double done)> progress = {};
};

/// A probability as seen, with an interval that holds it.
struct Frequency {
  std::uint64_t hits = 0;
  std::uint64_t runs = 0;  ///< 0 when `low` was computed, not estimated
  double low = 0;
  double high = 1;
};

/// The event that tells most, on the pair of inputs where it does.
struct Finding {
  std::size_t pair = 0;
  Side likely_side = Side::kFirst;  ///< the input on which the event is likely
  std::string event;
  Frequency likely;
  Frequency unlikely;
  Claim::Point claimed;  ///< the point of the claim that it comes closest to, or breaks
  double epsilon = 0;    ///< at `claimed.delta`, no less than this, with the stated confidence
  /// ln of `likely.low` over what the claim allows given `unlikely.high`.
  double margin = 0;
  bool violation = false;
};

/// Size and power of a test that tells the two inputs apart, as seen.
struct CurvePoint {
  double false_alarms = 0;
  double power = 0;
};

struct Report {
  std::string name;
  Claim claim;
  std::vector<PairText> pairs;
  Finding finding;
  std::vector<CurvePoint>
      curve;  ///< of the finding's statistic, on fresh runs, false alarms rising
  double confidence = 0;
  std::uint64_t runs = 0;  ///< that were made; fewer than allowed when it stopped early
  bool exact = false;      ///< divergences were computed from probabilities; nothing is estimated
  std::vector<std::string> notes;

  bool violation() const { return finding.violation; }
};

/// Tries to refute the subject's claim. Every round looks for the pair and the event that tell most on
/// some runs and judges them on others; a round has four times the runs of the one before, and the
/// first that refutes the claim ends the audit. With probability at least `confidence` every
/// epsilon stated is no larger than the true one, so a sound mechanism is accused at most with
/// probability 1 - confidence. No violation found does not mean that there is none.
/// Argument: audit.md
Report audit(const Subject& subject, const Options& options = {});

}  // namespace gauze::audit
