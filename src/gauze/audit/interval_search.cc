#include "gauze/audit/interval_search.h"

#include <algorithm>
#include <cmath>

#include "gauze/audit/confidence.h"
#include "gauze/numeric/infinity.h"

namespace gauze::audit {
namespace {

constexpr std::size_t kQuantiles = 32;
constexpr std::size_t kMostValues = 256;
constexpr std::size_t kLeastTail = 16;  // outputs beyond the outermost quantile

/// Whether enough outputs have exactly this value for open and closed ends to differ.
bool is_frequent(std::span<const double> sorted, double value) {
  const auto [from, to] = std::equal_range(sorted.begin(), sorted.end(), value);
  return to - from > 1 && static_cast<std::size_t>(to - from) * 1000 > sorted.size();
}

void add_cut(std::vector<double>& cuts, std::span<const double> sorted, std::size_t index) {
  const double cut = sorted[index];
  cuts.push_back(cut);
  if (!is_frequent(sorted, cut)) return;
  cuts.push_back(std::nextafter(cut, kInfinity));
  cuts.push_back(std::nextafter(cut, -kInfinity));
}

std::vector<double> cuts_between(std::span<const double> a, std::span<const double> b) {
  std::vector<double> cuts = {-kInfinity, kInfinity};
  for (const auto sample : {a, b}) {
    const std::size_t last = sample.size() - 1;
    for (std::size_t i = 0; i <= kQuantiles; ++i) add_cut(cuts, sample, last * i / kQuantiles);
    for (std::size_t tail = last / kQuantiles / 2; tail > kLeastTail; tail /= 2) {
      add_cut(cuts, sample, tail);
      add_cut(cuts, sample, last - tail);
    }
  }
  std::sort(cuts.begin(), cuts.end());
  cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
  return cuts;
}

/// How many are below, and at most, each cut.
struct Ranks {
  std::vector<double> below;
  std::vector<double> at_most;

  Ranks(std::span<const double> sorted, std::span<const double> cuts) {
    for (const double cut : cuts) {
      const auto [from, to] = std::equal_range(sorted.begin(), sorted.end(), cut);
      below.push_back(static_cast<double>(from - sorted.begin()));
      at_most.push_back(static_cast<double>(to - sorted.begin()));
    }
  }
};

/// Expects what `epsilon_at_least` will say of fresh runs, by normal approximation: two deviations
/// because these runs chose the event, more for the confidence of those.
class Expectation {
 public:
  Expectation(std::size_t likely, std::size_t unlikely, const Judgement& judgement)
      : points_(judgement.points),
        likely_(static_cast<double>(likely)),
        unlikely_(static_cast<double>(unlikely)),
        judged_(static_cast<double>(judgement.judged)),
        deviations_(std::sqrt(2 * std::log(1 / judgement.failure))) {}

  double margin(double hits, double misses) const {
    const double p_seen = (hits - 2 * std::sqrt(hits)) / likely_;
    const double q_seen = (misses + 2 * std::sqrt(misses) + 2) / unlikely_;
    const double p =
        p_seen - deviations_ * std::sqrt(std::max(p_seen, 0.0) * (1 - p_seen) / judged_);
    const double q = q_seen + deviations_ * std::sqrt(q_seen / judged_) +
                     deviations_ * deviations_ / 2 / judged_;
    double best = -kInfinity;
    for (const auto& [epsilon, delta] : points_) {
      if (p <= 0) break;
      double margin = std::log(p / (std::exp(epsilon) * q + delta));
      // Where nothing is refuted, the smallest delta is the easiest to understand.
      if (margin <= 0 && delta > points_.front().delta) margin -= 0.1;
      best = std::max(best, margin);
    }
    return best;
  }

 private:
  std::span<const Claim::Point> points_;
  double likely_, unlikely_, judged_, deviations_;
};

}  // namespace

TellingInterval most_telling(std::span<const double> likely, std::span<const double> unlikely,
                             const Judgement& judgement) {
  const Expectation expected(likely.size(), unlikely.size(), judgement);
  TellingInterval best;
  const auto consider = [&](double low, double high, double hits, double misses) {
    // An event this rare tells nothing; and every comparison costs a logarithm.
    if (hits < 8) return;
    const double margin = expected.margin(hits, misses);
    if (margin > best.margin) best = {low, high, margin};
  };
  const std::vector<double> cuts = cuts_between(likely, unlikely);
  const Ranks p(likely, cuts);
  const Ranks q(unlikely, cuts);
  for (std::size_t i = 0; i < cuts.size(); ++i) {
    for (std::size_t j = i; j < cuts.size(); ++j) {
      consider(cuts[i], cuts[j], p.at_most[j] - p.below[i], q.at_most[j] - q.below[i]);
    }
  }
  std::vector<double> values;
  for (std::size_t i = 0; i < likely.size() && values.size() <= kMostValues; ++i) {
    if (values.empty() || values.back() != likely[i]) values.push_back(likely[i]);
  }
  if (values.size() > kMostValues) return best;
  const Ranks single_p(likely, values);
  const Ranks single_q(unlikely, values);
  for (std::size_t i = 0; i < values.size(); ++i) {
    consider(values[i], values[i], single_p.at_most[i] - single_p.below[i],
             single_q.at_most[i] - single_q.below[i]);
  }
  return best;
}

double epsilon_at_least(std::uint64_t hits, std::uint64_t likely_runs, std::uint64_t misses,
                        std::uint64_t unlikely_runs, double delta, double failure) {
  const double p = probability_at_least(hits, likely_runs, failure);
  const double q = probability_at_most(misses, unlikely_runs, failure);
  return p > delta ? std::max(0.0, std::log((p - delta) / q)) : 0;
}

}  // namespace gauze::audit
