#include <algorithm>
#include <charconv>
#include <cmath>
#include <memory>
#include <numeric>

#include "gauze/audit/statistic_internal.h"

namespace gauze::audit::internal {
namespace {

constexpr std::size_t kMostCoordinates = 8;  // looked at one by one
constexpr std::size_t kMostJoint = 16;       // taken together

/// The numbers of each output, also of one that stands among texts: what is made of a run must not
/// depend on the runs beside it, or they would not be independent.
class Vectors {
 public:
  explicit Vectors(const Outputs& outputs) : outputs_(outputs) {}

  /// Empty for what is no vector. Valid until the next call.
  std::span<const double> operator[](std::size_t i) {
    if (outputs_.width() > 0) return outputs_.vector(i);
    numbers_.clear();
    const std::string& text = outputs_.words(i);
    const char* at = text.data();
    const char* const end = at + text.size();
    while (at < end) {
      double value = 0;
      const auto [next, error] = std::from_chars(at, end, value);
      if (error != std::errc{} || (next < end && *next != ',')) return {};
      numbers_.push_back(value);
      at = next < end ? next + 1 : end;
    }
    return numbers_;
  }

 private:
  const Outputs& outputs_;
  std::vector<double> numbers_;
};

/// A statistic from a function of the vector; outputs of another length have none.
template <class Function>
Statistic of_vectors(std::string name, std::size_t width, Function function) {
  return {.name = std::move(name), .of = [width, function](const Outputs& outputs) {
            std::vector<double> result(outputs.size(), kNever);
            Vectors vectors(outputs);
            for (std::size_t i = 0; i < result.size(); ++i) {
              const std::span<const double> x = vectors[i];
              if (x.size() != width) continue;
              const double value = function(x);
              result[i] = std::isnan(value) ? kNever : value;
            }
            return result;
          }};
}

std::vector<double> coordinate(const Outputs& outputs, std::size_t j) {
  std::vector<double> values;
  for (std::size_t i = 0; i < std::min(outputs.size(), kLearnFrom); ++i) {
    const double value = outputs.vector(i)[j];
    values.push_back(std::isnan(value) ? kNever : value);
  }
  return values;
}

/// The ranges of one coordinate and how much likelier each is on the first input.
struct Cells {
  std::vector<double> cuts;
  std::vector<double> log_ratio;
  double distance = 0;  // how far the two histograms are apart

  Cells(const Outputs& first, const Outputs& second, std::size_t j, std::size_t parts) {
    const std::vector<double> a = coordinate(first, j);
    const std::vector<double> b = coordinate(second, j);
    std::vector<double> both = a;
    both.insert(both.end(), b.begin(), b.end());
    cuts = cuts_of(std::move(both), parts);
    std::vector<double> hits_a(cuts.size() + 1, 1);
    std::vector<double> hits_b(cuts.size() + 1, 1);
    for (const double value : a) ++hits_a[part_of(cuts, value)];
    for (const double value : b) ++hits_b[part_of(cuts, value)];
    for (std::size_t i = 0; i < hits_a.size(); ++i) {
      log_ratio.push_back(std::log(hits_a[i] / hits_b[i]));
      distance += std::abs(hits_a[i] - hits_b[i]);
    }
  }
};

std::vector<Cells> all_cells(const Outputs& first, const Outputs& second, std::size_t parts) {
  std::vector<Cells> cells;
  for (std::size_t j = 0; j < first.width(); ++j) cells.emplace_back(first, second, j, parts);
  return cells;
}

/// The sum of the log ratios of all coordinates: the best there is when they are independent.
Statistic naive_bayes(const std::vector<Cells>& cells) {
  return of_vectors("the score of a naive Bayes classifier", cells.size(),
                    [cells](std::span<const double> x) {
                      double score = 0;
                      for (std::size_t j = 0; j < cells.size(); ++j)
                        score += cells[j].log_ratio[part_of(cells[j].cuts, x[j])];
                      return score;
                    });
}

/// Solves the symmetric positive definite system in place, by Cholesky.
std::vector<double> solve(std::vector<double> matrix, std::vector<double> x) {
  const std::size_t n = x.size();
  const auto at = [&](std::size_t i, std::size_t j) -> double& { return matrix[i * n + j]; };
  for (std::size_t j = 0; j < n; ++j) {
    for (std::size_t k = 0; k < j; ++k) at(j, j) -= at(j, k) * at(j, k);
    at(j, j) = std::sqrt(std::max(at(j, j), 1e-300));
    for (std::size_t i = j + 1; i < n; ++i) {
      for (std::size_t k = 0; k < j; ++k) at(i, j) -= at(i, k) * at(j, k);
      at(i, j) /= at(j, j);
    }
  }
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t k = 0; k < i; ++k) x[i] -= at(i, k) * x[k];
    x[i] /= at(i, i);
  }
  for (std::size_t i = n; i-- > 0;) {
    for (std::size_t k = i + 1; k < n; ++k) x[i] -= at(k, i) * x[k];
    x[i] /= at(i, i);
  }
  return x;
}

/// Fisher's linear discriminant, for coordinates that depend on each other.
Statistic linear(const Outputs& first, const Outputs& second) {
  const std::size_t width = first.width();
  const std::size_t n = std::min({first.size(), second.size(), kLearnFrom});
  std::vector<double> difference(width);
  std::vector<double> covariance(width * width);
  for (const Outputs* sample : {&first, &second}) {
    std::vector<double> mean(width);
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < width; ++j)
        mean[j] += sample->vector(i)[j] / static_cast<double>(n);
    for (std::size_t i = 0; i < n; ++i) {
      const auto x = sample->vector(i);
      for (std::size_t j = 0; j < width; ++j)
        for (std::size_t k = 0; k < width; ++k)
          covariance[j * width + k] += (x[j] - mean[j]) * (x[k] - mean[k]) / static_cast<double>(n);
    }
    for (std::size_t j = 0; j < width; ++j) difference[j] += sample == &first ? mean[j] : -mean[j];
  }
  for (std::size_t j = 0; j < width; ++j) {
    covariance[j * width + j] += 1e-9 * covariance[j * width + j] + 1e-12;
  }
  const std::vector<double> weights = solve(covariance, difference);
  return of_vectors("the score of a linear classifier", width,
                    [weights](std::span<const double> x) {
                      return std::inner_product(x.begin(), x.end(), weights.begin(), 0.0);
                    });
}

void add_coordinates(std::vector<Statistic>& all, const std::vector<Cells>& cells) {
  std::vector<std::size_t> order(cells.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return cells[a].distance > cells[b].distance;
  });
  order.resize(std::min(order.size(), kMostCoordinates));
  for (const std::size_t j : order) {
    all.push_back(of_vectors(
        cells.size() == 1 ? "the output" : "number " + std::to_string(j + 1) + " of the output",
        cells.size(), [j](std::span<const double> x) { return x[j]; }));
  }
}

std::function<Keys(const Outputs&)> joint_keys(std::vector<Cells> cells) {
  return [cells = std::move(cells)](const Outputs& outputs) {
    Keys keys(outputs.size(), 0);
    Vectors vectors(outputs);
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const auto x = vectors[i];
      if (x.size() != cells.size()) continue;
      for (std::size_t j = 0; j < cells.size(); ++j)
        keys[i] = mixed(keys[i], part_of(cells[j].cuts, x[j]) + 1);
    }
    return keys;
  };
}

/// Where the last binary digit of all numbers stands.
Statistic last_bits(std::size_t width) {
  Statistic statistic = of_vectors("the place of the last binary digit", width, [](auto x) {
    double place = last_bit(0);
    for (const double number : x) place = std::min(place, last_bit(number));
    return place;
  });
  statistic.describe = [](double low, double high) -> std::string {
    const auto power = [](double place) {
      return std::string("2^").append(std::to_string(static_cast<int>(std::ceil(place))));
    };
    if (low > 1023) return "the output is 0";
    if (high > 1023)
      return low < -1074 ? "the output is not 0"
                         : std::string("the output is a multiple of ").append(power(low));
    if (low < -1074) return "the last binary digit of the output is " + power(high) + " or finer";
    return "the last binary digit of the output is from " + power(low) + " to " + power(high);
  };
  return statistic;
}

Keys whole_keys(const Outputs& outputs) {
  Keys keys(outputs.size(), 0);
  Vectors vectors(outputs);
  for (std::size_t i = 0; i < keys.size(); ++i)
    for (const double number : vectors[i]) keys[i] = mixed(keys[i], key_of(number));
  return keys;
}

}  // namespace

std::vector<Statistic> number_statistics(const Outputs& first, const Outputs& second) {
  const std::size_t width = first.width();
  const std::vector<Cells> fine = all_cells(first, second, 16);
  std::vector<Statistic> all;
  add_coordinates(all, fine);
  all.push_back(last_bits(width));
  add_frequencies(all, "the output is", whole_keys, first, second);
  if (width == 1) return all;
  all.push_back(of_vectors("the sum of the output", width,
                           [](auto x) { return std::accumulate(x.begin(), x.end(), 0.0); }));
  all.push_back(naive_bayes(fine));
  if (width > kMostJoint) return all;
  all.push_back(linear(first, second));
  for (const std::size_t parts : {std::size_t{2}, std::size_t{4}}) {
    add_frequencies(all, "the output looks", joint_keys(all_cells(first, second, parts)), first,
                    second);
  }
  return all;
}

}  // namespace gauze::audit::internal
