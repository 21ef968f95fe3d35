#include "gauze/audit/audit.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "gauze/audit/confidence.h"
#include "gauze/audit/draw_internal.h"
#include "gauze/audit/exact_internal.h"
#include "gauze/audit/interval_search.h"
#include "gauze/audit/statistic.h"
#include "gauze/base/error.h"
#include "gauze/numeric/infinity.h"

namespace gauze::audit {
namespace {

constexpr std::uint64_t kLearnAtMost = 200'000;  // runs of an input that choose an event
constexpr double kSearchShare = 0.4;             // of a round's runs
constexpr std::uint64_t kRunsOfAPair = 2000;     // of a round's runs, at least
constexpr std::size_t kCurvePoints = 200;
constexpr double kJudged = 2;  // events judged in a round, at most

std::vector<Claim::Point> claim_on(const Subject& subject, std::size_t pair) {
  if (subject.pairs[pair].same) return {{0, 0}};
  return subject.claim.points;
}

/// The most promising event of a pair.
struct Lead {
  std::size_t pair = 0;
  Side likely_side = Side::kFirst;
  Rule rule;
  std::vector<double> cuts = {};  // quantiles of its statistic
  double margin = -kInfinity;
};

/// One half of the sample teaches the statistics, the other chooses among them.
struct Halves {
  Outputs learn;
  Outputs choose;
};

std::vector<double> quantiles_of(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> cuts;
  for (const auto* sorted : {&a, &b}) {
    for (std::size_t i = 0; i < kCurvePoints / 2; ++i)
      cuts.push_back((*sorted)[2 * sorted->size() * i / kCurvePoints]);
  }
  std::sort(cuts.begin(), cuts.end());
  cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
  return cuts;
}

Lead lead_of(const Halves& first, const Halves& second, const Judgement& judgement,
             std::size_t pair) {
  Lead best{.pair = pair, .likely_side = Side::kFirst, .rule = {}};
  for (const Statistic& statistic : fit_statistics(first.learn, second.learn)) {
    std::vector<double> a = statistic.of(first.choose);
    std::vector<double> b = statistic.of(second.choose);
    std::sort(a.begin(), a.end());
    std::sort(b.begin(), b.end());
    for (const Side side : {Side::kFirst, Side::kSecond}) {
      const bool towards_first = side == Side::kFirst;
      const TellingInterval found =
          most_telling(towards_first ? a : b, towards_first ? b : a, judgement);
      // The simpler ones come first, and are easier to understand.
      if (found.margin <= best.margin + 0.01) continue;
      best = {pair, side, {statistic, found.low, found.high}, quantiles_of(a, b), found.margin};
    }
  }
  return best;
}

/// How many runs fall below each cut, and how many satisfy the rule.
struct Tally {
  std::uint64_t hits = 0;
  std::uint64_t runs = 0;
  std::vector<std::uint64_t> parts;
};

Tally tally(const Lead& lead, const Outputs& outputs) {
  const std::vector<double>& cuts = lead.cuts;
  Tally seen{.runs = outputs.size(), .parts = std::vector<std::uint64_t>(cuts.size() + 1)};
  for (const double value : lead.rule.statistic.of(outputs)) {
    seen.hits += value >= lead.rule.low && value <= lead.rule.high;
    ++seen.parts[static_cast<std::size_t>(std::upper_bound(cuts.begin(), cuts.end(), value) -
                                          cuts.begin())];
  }
  return seen;
}

void add(const Tally& part, Tally& total) {
  total.hits += part.hits;
  total.runs += part.runs;
  total.parts.resize(part.parts.size());
  for (std::size_t i = 0; i < part.parts.size(); ++i) total.parts[i] += part.parts[i];
}

/// Parts in the order of their likelihood ratio, added up one by one: the best tests that these parts
/// allow. Drawn, not judged: the order comes from the same runs.
std::vector<CurvePoint> curve_of(const Tally& likely, const Tally& unlikely) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < likely.parts.size(); ++i)
    if (likely.parts[i] + unlikely.parts[i] > 0) order.push_back(i);
  const auto ratio = [&](std::size_t i) {
    return (static_cast<double>(likely.parts[i]) + 0.5) /
           (static_cast<double>(unlikely.parts[i]) + 0.5);
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return ratio(a) > ratio(b); });
  std::vector<CurvePoint> curve = {{0, 0}};
  double power = 0;
  double alarms = 0;
  for (const std::size_t i : order) {
    power += static_cast<double>(likely.parts[i]) / static_cast<double>(likely.runs);
    alarms += static_cast<double>(unlikely.parts[i]) / static_cast<double>(unlikely.runs);
    curve.push_back({std::min(alarms, 1.0), std::min(power, 1.0)});
  }
  return curve;
}

Frequency frequency(const Tally& seen, double failure) {
  return {seen.hits, seen.runs, probability_at_least(seen.hits, seen.runs, failure),
          probability_at_most(seen.hits, seen.runs, failure)};
}

/// What fresh runs prove, at the point of the claim that they come closest to.
Finding judge(const Lead& lead, const Tally& likely, const Tally& unlikely,
              const std::vector<Claim::Point>& points, double failure) {
  Finding finding{.pair = lead.pair,
                  .likely_side = lead.likely_side,
                  .event = describe(lead.rule),
                  .likely = frequency(likely, failure),
                  .unlikely = frequency(unlikely, failure),
                  .claimed = points.front()};
  finding.margin = -kInfinity;
  for (const Claim::Point& point : points) {
    const double allowed = std::exp(point.epsilon) * finding.unlikely.high + point.delta;
    const double margin = std::log(finding.likely.low / allowed);
    // Unless it is refuted at a larger delta, the smallest is the easiest to understand.
    if (margin <= finding.margin || (margin <= 0 && std::isfinite(finding.margin))) continue;
    finding.margin = margin;
    finding.claimed = point;
    finding.epsilon = epsilon_at_least(likely.hits, likely.runs, unlikely.hits, unlikely.runs,
                                       point.delta, failure);
    finding.violation = margin > 0;
  }
  return finding;
}

/// The rounds of an audit: how many runs, how sure.
struct Round {
  std::uint64_t runs = 0;
  double failure = 0;  // of all that is stated in this round
};

/// Each has four times the runs of the one before, the first enough to compare all pairs; the last may
/// fail half as often as all together, the one before a quarter, and so on: a union bound.
std::vector<Round> rounds_of(std::uint64_t runs, std::size_t pairs, double failure) {
  const std::uint64_t least = std::max<std::uint64_t>(4000, kRunsOfAPair * pairs);
  std::vector<std::uint64_t> sizes;
  for (std::uint64_t size = runs * 3 / 4; size >= least && sizes.size() < 5; size /= 4)
    sizes.insert(sizes.begin(), size);
  if (sizes.empty()) sizes = {runs};
  std::vector<Round> rounds;
  for (std::size_t i = 0; i < sizes.size(); ++i)
    rounds.push_back({sizes[i], failure * std::pow(0.5, static_cast<double>(sizes.size() - i))});
  return rounds;
}

class Search {
 public:
  Search(const Subject& subject, const Options& options, Report& report)
      : subject_(subject), drawing_(subject, options), report_(report) {
    for (std::size_t i = 0; i < subject.pairs.size(); ++i) candidates_.push_back(i);
  }

  /// Looks at the candidates, judges the best, keeps the better ones for the next round.
  void run(const Round& round) {
    const auto searching = static_cast<double>(round.runs) * kSearchShare;
    const std::uint64_t learn = std::clamp<std::uint64_t>(
        static_cast<std::uint64_t>(searching) / candidates_.size() / 4, 64, kLearnAtMost);
    const std::uint64_t spent = learn * 4 * candidates_.size();
    const std::uint64_t judged =
        std::max<std::uint64_t>(round.runs > spent ? (round.runs - spent) / 2 : 0, 64);
    const double failure = round.failure / (2 * kJudged);
    std::vector<Lead> leads;
    for (const std::size_t pair : candidates_) leads.push_back(look(pair, learn, judged, failure));
    std::stable_sort(leads.begin(), leads.end(),
                     [](const Lead& a, const Lead& b) { return a.margin > b.margin; });
    keep(leads);
    // Neighbours are always judged, the same rows only when they seem to be told apart.
    std::vector<Lead> chosen;
    for (const bool same : {true, false}) {
      const auto lead = std::find_if(leads.begin(), leads.end(), [&](const Lead& each) {
        return subject_.pairs[each.pair].same == same;
      });
      if (lead != leads.end() && lead->margin > (same ? 0 : -kInfinity)) chosen.push_back(*lead);
    }
    for (const Lead& lead : chosen) {
      settle(lead, judged / chosen.size(), failure);
      if (report_.violation()) return;
    }
  }

  std::uint64_t runs() const { return drawing_.runs(); }

 private:
  Lead look(std::size_t pair, std::uint64_t learn, std::uint64_t judged, double failure) {
    auto [a, b] = drawing_.draw(pair, 2 * learn);
    if (a.width() != b.width()) {
      a.become_texts();
      b.become_texts();
    }
    Halves first{.learn = {}, .choose = a.split(learn)};
    Halves second{.learn = {}, .choose = b.split(learn)};
    first.learn = std::move(a);
    second.learn = std::move(b);
    const std::vector<Claim::Point> points = claim_on(subject_, pair);
    return lead_of(first, second, {.points = points, .judged = judged, .failure = failure}, pair);
  }

  /// A third of the neighbours, at least two, and the same rows in any case: of those nothing says
  /// how promising they are.
  void keep(const std::vector<Lead>& leads) {
    candidates_.clear();
    std::size_t left = std::max<std::size_t>(2, leads.size() / 3);
    for (const Lead& lead : leads) {
      const bool same = subject_.pairs[lead.pair].same;
      if (same || left > 0) candidates_.push_back(lead.pair);
      if (!same && left > 0) --left;
    }
  }

  void settle(const Lead& lead, std::uint64_t judged, double failure) {
    Tally likely;
    Tally unlikely;
    drawing_.each(lead.pair, lead.likely_side, judged, [&](const BothOutputs& outputs) {
      return [&, on_likely = tally(lead, outputs.of(lead.likely_side)),
              on_unlikely = tally(lead, outputs.of(other(lead.likely_side)))] {
        add(on_likely, likely);
        add(on_unlikely, unlikely);
      };
    });
    const Finding found = judge(lead, likely, unlikely, claim_on(subject_, lead.pair), failure);
    if (subject_.pairs[lead.pair].same && !found.violation) return;
    if (!report_.curve.empty() && found.margin <= report_.finding.margin) return;
    report_.finding = found;
    report_.curve = curve_of(likely, unlikely);
  }

  const Subject& subject_;
  Drawing drawing_;
  Report& report_;
  std::vector<std::size_t> candidates_;
};

}  // namespace

Report audit(const Subject& subject, const Options& options) {
  require(options.runs >= 1000, "runs: must be at least 1000");
  require(options.confidence > 0 && options.confidence < 1,
          "confidence: must lie strictly between 0 and 1");
  require(!subject.pairs.empty(), "pairs: must hold at least one pair of inputs");
  Report report{.name = subject.name,
                .claim = subject.claim,
                .pairs = subject.pairs,
                .finding = {},
                .curve = {},
                .confidence = options.confidence,
                .notes = {}};
  if (subject.probabilities) {
    audit_exactly(subject, report);
    return report;
  }
  require(!subject.claim.points.empty(), "claim: must hold at least one epsilon");
  Search search(subject, options, report);
  for (const Round& round : rounds_of(options.runs, subject.pairs.size(), 1 - options.confidence)) {
    search.run(round);
    if (report.violation()) break;
  }
  report.runs = search.runs();
  return report;
}

}  // namespace gauze::audit
