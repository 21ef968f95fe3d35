#include "gauze/testing/audit.h"

#include <algorithm>
#include <boost/math/distributions/beta.hpp>
#include <cmath>
#include <limits>
#include <vector>

#include "gauze/testing/seeded_bits.h"

namespace gauze::testing {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr std::size_t kCuts = 32;
constexpr std::size_t kMostValues = 256;

double one_way_hockey_stick(std::span<const double> p, std::span<const double> q, double epsilon) {
  double delta = 0;
  for (std::size_t i = 0; i < p.size(); ++i) {
    delta += std::max(0.0, p[i] - std::exp(epsilon) * q[i]);
  }
  return delta;
}

/// Outputs in [low, high].
struct Event {
  double low = -kInfinity;
  double high = kInfinity;
};

class Sample {
 public:
  Sample(const std::function<double(BitSource&)>& sampler, std::uint64_t count, BitSource& bits) {
    for (std::uint64_t i = 0; i < count; ++i) sorted_.push_back(sampler(bits));
    std::sort(sorted_.begin(), sorted_.end());
  }
  std::uint64_t hits(const Event& event) const {
    return static_cast<std::uint64_t>(std::upper_bound(sorted_.begin(), sorted_.end(), event.high) -
                                      std::lower_bound(sorted_.begin(), sorted_.end(), event.low));
  }
  std::uint64_t size() const { return sorted_.size(); }
  const std::vector<double>& sorted() const { return sorted_; }

 private:
  std::vector<double> sorted_;
};

/// What the counts of one event prove.
double bound(const Sample& likely, const Sample& unlikely, const Event& event, double delta,
             double failure) {
  const double p = probability_at_least(likely.hits(event), likely.size(), failure);
  const double q = probability_at_most(unlikely.hits(event), unlikely.size(), failure);
  return p > delta ? std::log((p - delta) / q) : 0;
}

/// Intervals between quantiles of both samples, with and without their ends, and single values
/// while there are few.
std::vector<Event> events(const Sample& a, const Sample& b) {
  std::vector<double> cuts = {-kInfinity, kInfinity};
  for (const Sample* sample : {&a, &b}) {
    for (std::size_t i = 0; i <= kCuts; ++i) {
      const double cut = sample->sorted()[(sample->size() - 1) * i / kCuts];
      cuts.push_back(cut);
      cuts.push_back(std::nextafter(cut, kInfinity));
      cuts.push_back(std::nextafter(cut, -kInfinity));
    }
  }
  std::sort(cuts.begin(), cuts.end());
  cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
  std::vector<Event> result;
  for (std::size_t i = 0; i < cuts.size(); ++i) {
    for (std::size_t j = i; j < cuts.size(); ++j) result.push_back({cuts[i], cuts[j]});
  }
  std::vector<double> values = a.sorted();
  values.insert(values.end(), b.sorted().begin(), b.sorted().end());
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  if (values.size() <= kMostValues) {
    for (const double value : values) result.push_back({value, value});
  }
  return result;
}

Event most_telling(const Sample& likely, const Sample& unlikely, double delta) {
  Event best;
  double best_score = -kInfinity;
  const auto n = static_cast<double>(likely.size());
  for (const Event& event : events(likely, unlikely)) {
    // A cheap stand-in for `bound`: four standard deviations to either side.
    const auto hits = static_cast<double>(likely.hits(event));
    const auto misses = static_cast<double>(unlikely.hits(event));
    const double p = (hits - 4 * std::sqrt(hits)) / n - delta;
    const double q = (misses + 4 * std::sqrt(misses) + 14) / n;
    const double score = p > 0 ? std::log(p / q) : -kInfinity;
    if (score > best_score) {
      best_score = score;
      best = event;
    }
  }
  return best;
}

}  // namespace

double max_log_ratio(std::span<const double> p, std::span<const double> q) {
  double largest = 0;
  for (std::size_t i = 0; i < p.size(); ++i) {
    if (p[i] == 0 && q[i] == 0) continue;
    largest = std::max(largest, std::abs(std::log(p[i] / q[i])));
  }
  return largest;
}

double hockey_stick(std::span<const double> p, std::span<const double> q, double epsilon) {
  return std::max(one_way_hockey_stick(p, q, epsilon), one_way_hockey_stick(q, p, epsilon));
}

double renyi_divergence(std::span<const double> p, std::span<const double> q, double alpha) {
  double moment = 0;
  for (std::size_t i = 0; i < p.size(); ++i) {
    if (p[i] > 0) moment += q[i] * std::pow(p[i] / q[i], alpha);
  }
  return std::log(moment) / (alpha - 1);
}

void for_all_data(int size, int upper,
                  const std::function<void(const std::vector<double>&)>& visit) {
  std::vector<double> data;
  const std::function<void(int)> grow = [&](int least) {
    visit(data);
    if (static_cast<int>(data.size()) == size) return;
    for (int x = least; x <= upper; ++x) {
      data.push_back(x);
      grow(x);
      data.pop_back();
    }
  };
  grow(0);
}

double probability_at_least(std::uint64_t hits, std::uint64_t trials, double failure) {
  if (hits == 0) return 0;
  const auto k = static_cast<double>(hits);
  const auto n = static_cast<double>(trials);
  return boost::math::quantile(boost::math::beta_distribution<double>(k, n - k + 1), failure);
}

double probability_at_most(std::uint64_t hits, std::uint64_t trials, double failure) {
  if (hits == trials) return 1;
  const auto k = static_cast<double>(hits);
  const auto n = static_cast<double>(trials);
  return boost::math::quantile(
      boost::math::complement(boost::math::beta_distribution<double>(k + 1, n - k), failure));
}

double audited_epsilon(const std::function<double(BitSource&)>& first,
                       const std::function<double(BitSource&)>& second,
                       const AuditOptions& options) {
  SeededBits bits_first(options.seed);
  SeededBits bits_second(options.seed + 0x9e3779b9);
  const std::uint64_t half = options.trials / 2;
  const Sample a(first, half, bits_first);
  const Sample b(second, half, bits_second);
  const Event towards_first = most_telling(a, b, options.delta);
  const Event towards_second = most_telling(b, a, options.delta);
  const Sample fresh_a(first, half, bits_first);
  const Sample fresh_b(second, half, bits_second);
  const double failure = options.failure / 4;  // two bounds in each direction
  return std::max({0.0, bound(fresh_a, fresh_b, towards_first, options.delta, failure),
                   bound(fresh_b, fresh_a, towards_second, options.delta, failure)});
}

}  // namespace gauze::testing
