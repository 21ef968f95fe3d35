#include "gauze/testing/audit.h"

#include <algorithm>
#include <vector>

#include "gauze/audit/interval_search.h"
#include "gauze/testing/seeded_bits.h"

namespace gauze::testing {
namespace {

std::vector<double> sorted_draws(const std::function<double(BitSource&)>& sampler,
                                 std::uint64_t count, BitSource& bits) {
  std::vector<double> draws;
  for (std::uint64_t i = 0; i < count; ++i) draws.push_back(sampler(bits));
  std::sort(draws.begin(), draws.end());
  return draws;
}

std::uint64_t hits(const std::vector<double>& sorted, const audit::TellingInterval& event) {
  return static_cast<std::uint64_t>(std::upper_bound(sorted.begin(), sorted.end(), event.high) -
                                    std::lower_bound(sorted.begin(), sorted.end(), event.low));
}

}  // namespace

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

double audited_epsilon(const std::function<double(BitSource&)>& first,
                       const std::function<double(BitSource&)>& second,
                       const AuditOptions& options) {
  SeededBits bits_first(options.seed);
  SeededBits bits_second(options.seed + 0x9e3779b9);
  const std::uint64_t half = options.trials / 2;
  const double failure = options.failure / 4;  // two bounds in each direction
  const std::vector<audit::Claim::Point> points = {{0, options.delta}};
  const audit::Judgement judgement{.points = points, .judged = half, .failure = failure};
  const std::vector<double> a = sorted_draws(first, half, bits_first);
  const std::vector<double> b = sorted_draws(second, half, bits_second);
  const auto towards_first = audit::most_telling(a, b, judgement);
  const auto towards_second = audit::most_telling(b, a, judgement);
  const std::vector<double> fresh_a = sorted_draws(first, half, bits_first);
  const std::vector<double> fresh_b = sorted_draws(second, half, bits_second);
  const auto proved = [&](const std::vector<double>& likely, const std::vector<double>& unlikely,
                          const audit::TellingInterval& event) {
    return audit::epsilon_at_least(hits(likely, event), half, hits(unlikely, event), half,
                                   options.delta, failure);
  };
  return std::max(proved(fresh_a, fresh_b, towards_first),
                  proved(fresh_b, fresh_a, towards_second));
}

}  // namespace gauze::testing
