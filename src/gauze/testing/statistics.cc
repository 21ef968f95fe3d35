#include "gauze/testing/statistics.h"

#include <algorithm>
#include <boost/math/special_functions/gamma.hpp>
#include <cmath>
#include <numeric>
#include <vector>

namespace gauze::testing {

double chi_square_p(std::span<const std::uint64_t> observed,
                    std::span<const double> probabilities) {
  const auto total =
      static_cast<double>(std::accumulate(observed.begin(), observed.end(), std::uint64_t{0}));
  double statistic = 0;
  double seen = 0;
  double expected = 0;
  double last_seen = 0;
  double last_expected = 0;
  int cells = 0;
  const auto contribution = [](double s, double e) { return (s - e) * (s - e) / e; };
  for (std::size_t i = 0; i < observed.size(); ++i) {
    seen += static_cast<double>(observed[i]);
    expected += probabilities[i] * total;
    if (expected < 20) continue;
    statistic += contribution(seen, expected);
    last_seen = seen;
    last_expected = expected;
    seen = expected = 0;
    ++cells;
  }
  if (cells < 2) return 1;
  // What is left at the end joins the last cell.
  statistic += contribution(last_seen + seen, last_expected + expected) -
               contribution(last_seen, last_expected);
  return boost::math::gamma_q((cells - 1) / 2.0, statistic / 2);
}

double chi_square_p(const std::function<std::int64_t()>& draw, std::uint64_t count,
                    std::int64_t low, std::int64_t high,
                    const std::function<double(std::int64_t)>& mass, double mass_below) {
  const auto inside = static_cast<std::size_t>(high - low + 1);
  std::vector<std::uint64_t> observed(inside + 2, 0);
  std::vector<double> probabilities(inside + 2, 0);
  probabilities[0] = mass_below;
  double sum = mass_below;
  for (std::size_t i = 0; i < inside; ++i) {
    probabilities[i + 1] = mass(low + static_cast<std::int64_t>(i));
    sum += probabilities[i + 1];
  }
  probabilities.back() = std::max(0.0, 1 - sum);
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::int64_t value = draw();
    const std::size_t cell = value < low    ? 0
                             : value > high ? inside + 1
                                            : static_cast<std::size_t>(value - low) + 1;
    ++observed[cell];
  }
  return chi_square_p(observed, probabilities);
}

double correlation(std::span<const double> x, std::span<const double> y) {
  const auto n = static_cast<double>(x.size());
  const double mean_x = std::accumulate(x.begin(), x.end(), 0.0) / n;
  const double mean_y = std::accumulate(y.begin(), y.end(), 0.0) / n;
  double xy = 0;
  double xx = 0;
  double yy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    xy += (x[i] - mean_x) * (y[i] - mean_y);
    xx += (x[i] - mean_x) * (x[i] - mean_x);
    yy += (y[i] - mean_y) * (y[i] - mean_y);
  }
  return xy / std::sqrt(xx * yy);
}

}  // namespace gauze::testing
