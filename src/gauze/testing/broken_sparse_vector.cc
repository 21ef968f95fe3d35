#include "gauze/testing/broken_sparse_vector.h"

#include <algorithm>
#include <boost/math/quadrature/gauss_kronrod.hpp>
#include <cmath>

#include "gauze/numeric/ratio.h"

namespace gauze::testing {
namespace {

constexpr double kStepsPerUnit = 0x1p20;

std::shared_ptr<const AdditiveNoise> lattice_noise(double scale) {
  if (scale == 0) return nullptr;
  return std::make_shared<const AdditiveNoise>(
      AdditiveNoise::discrete_laplace(Ratio(ratio_of_decimal(scale) * power_of_two(20))));
}

std::int64_t drawn(const std::shared_ptr<const AdditiveNoise>& noise, BitSource& bits) {
  return noise == nullptr ? 0 : noise->draw(bits);
}

std::int64_t in_steps(double value) {
  return std::llround(value * kStepsPerUnit);
}

double threshold_of(std::span<const double> thresholds, std::size_t question) {
  return thresholds.size() == 1 ? thresholds[0] : thresholds[question];
}

/// P(noise <= x) for Laplace noise, or for none.
double below_or_at(double x, double scale) {
  if (scale == 0) return x >= 0 ? 1 : 0;
  return x < 0 ? std::exp(x / scale) / 2 : 1 - std::exp(-x / scale) / 2;
}

/// P(low <= noise <= high), without cancellation in the tails; the noise is continuous or zero.
double between(double low, double high, double scale) {
  if (low > high) return 0;
  if (scale == 0) return low <= 0 && 0 <= high ? 1 : 0;
  if (low > 0) return (std::exp(-low / scale) - std::exp(-high / scale)) / 2;
  return below_or_at(high, scale) - below_or_at(low, scale);
}

/// P(noise < x).
double below(double x, double scale) {
  return scale == 0 ? (x > 0 ? 1 : 0) : below_or_at(x, scale);
}

/// A question of a phase, seen from its threshold: what it says given the noise of the threshold.
struct Question {
  double excess;  // answer - threshold
  double said;    // kBelow, kAbove, or a number minus the answer

  double probability(double noise, double scale) const {
    if (said == kBelow) return below(noise - excess, scale);
    return between(noise - excess, said, scale);
  }
  /// Where it is no smooth function of the noise.
  std::vector<double> kinks() const {
    if (std::isinf(said)) return {excess};
    return {excess, excess + said};
  }
};

/// All questions that share one noise of the threshold.
double phase_probability(std::span<const Question> questions, double threshold_scale,
                         double query_scale) {
  const auto integrand = [&](double noise) {
    double product = std::exp(-std::abs(noise) / threshold_scale) / (2 * threshold_scale);
    for (const Question& each : questions) product *= each.probability(noise, query_scale);
    return product;
  };
  // Many questions below favour a high threshold, up to the tail of their own noise.
  const double end = 45 * (threshold_scale + query_scale);
  std::vector<double> cuts = {-end, 0, end};
  for (const Question& each : questions) {
    for (const double kink : each.kinks()) cuts.push_back(kink);
  }
  std::sort(cuts.begin(), cuts.end());
  cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
  double sum = 0;
  for (std::size_t i = 0; i + 1 < cuts.size(); ++i) {
    sum += boost::math::quadrature::gauss_kronrod<double, 61>::integrate(integrand, cuts[i],
                                                                         cuts[i + 1], 12, 1e-12);
  }
  return sum;
}

}  // namespace

SparseVectorVariant::SparseVectorVariant(const SparseVectorRecipe& recipe)
    : recipe_(recipe),
      threshold_noise_(lattice_noise(recipe.threshold_scale)),
      refresh_noise_(lattice_noise(recipe.refresh_scale)),
      query_noise_(lattice_noise(recipe.query_scale)) {}

Transcript SparseVectorVariant::run(std::span<const double> answers,
                                    std::span<const double> thresholds, BitSource& bits) const {
  Transcript said;
  said.reserve(answers.size());
  std::uint64_t positives = 0;
  std::int64_t shared = drawn(threshold_noise_, bits);
  for (std::size_t i = 0; i < answers.size() && positives < recipe_.positives; ++i) {
    const std::int64_t noisy = in_steps(answers[i]) + drawn(query_noise_, bits);
    if (noisy < in_steps(threshold_of(thresholds, i)) + shared) {
      said.push_back(kBelow);
      continue;
    }
    const double number = static_cast<double>(noisy) / kStepsPerUnit;
    said.push_back(recipe_.gives_the_compared_number ? number : kAbove);
    ++positives;
    if (refresh_noise_ != nullptr) shared = drawn(refresh_noise_, bits);
  }
  return said;
}

double SparseVectorVariant::probability(std::span<const double> answers,
                                        std::span<const double> thresholds,
                                        std::span<const double> said) const {
  double product = 1;
  double scale = recipe_.threshold_scale;
  std::vector<Question> phase;
  for (std::size_t i = 0; i < said.size(); ++i) {
    phase.push_back({answers[i] - threshold_of(thresholds, i),
                     std::isinf(said[i]) ? said[i] : said[i] - answers[i]});
    if (said[i] == kBelow || recipe_.refresh_scale == 0) continue;
    product *= phase_probability(phase, scale, recipe_.query_scale);
    scale = recipe_.refresh_scale;
    phase.clear();
  }
  return phase.empty() ? product : product * phase_probability(phase, scale, recipe_.query_scale);
}

SparseVectorVariant algorithm_12(double epsilon, std::uint64_t positives) {
  return algorithm_18(epsilon / 2, epsilon / 2, positives, false);
}

SparseVectorVariant algorithm_13(double epsilon, std::uint64_t positives) {
  const auto c = static_cast<double>(positives);
  return SparseVectorVariant({.threshold_scale = 2 * c / epsilon,
                              .refresh_scale = 2 * c / epsilon,
                              .query_scale = 4 * c / epsilon,
                              .positives = positives});
}

SparseVectorVariant algorithm_18(double threshold_epsilon, double query_epsilon,
                                 std::uint64_t positives, bool monotone) {
  const auto c = static_cast<double>(positives);
  return SparseVectorVariant({.threshold_scale = 1 / threshold_epsilon,
                              .query_scale = (monotone ? 1 : 2) * c / query_epsilon,
                              .positives = positives});
}

SparseVectorVariant algorithm_14(double epsilon, std::uint64_t positives) {
  return SparseVectorVariant({.threshold_scale = 2 / epsilon,
                              .query_scale = 2 * static_cast<double>(positives) / epsilon,
                              .positives = positives,
                              .gives_the_compared_number = true});
}

SparseVectorVariant algorithm_15(double epsilon, std::uint64_t positives) {
  return SparseVectorVariant(
      {.threshold_scale = 4 / epsilon, .query_scale = 4 / (3 * epsilon), .positives = positives});
}

SparseVectorVariant algorithm_16(double epsilon) {
  return SparseVectorVariant({.threshold_scale = 2 / epsilon});
}

SparseVectorVariant algorithm_17(double epsilon) {
  return gptt(epsilon / 2, epsilon / 2);
}

SparseVectorVariant gptt(double threshold_epsilon, double query_epsilon) {
  return SparseVectorVariant(
      {.threshold_scale = 1 / threshold_epsilon, .query_scale = 1 / query_epsilon});
}

SparseVectorVariant auditorium_svt2(double epsilon, std::uint64_t positives) {
  const auto c = static_cast<double>(positives);
  return SparseVectorVariant(
      {.threshold_scale = 2 * c / epsilon, .query_scale = 4 * c / epsilon, .positives = positives});
}

SparseVectorVariant auditorium_svt3(double epsilon, std::uint64_t positives) {
  return algorithm_14(epsilon, positives);
}

SparseVectorVariant auditorium_svt5(double epsilon, std::uint64_t positives) {
  return SparseVectorVariant({.threshold_scale = 2 / epsilon, .positives = positives});
}

SparseVectorVariant auditorium_svt6(double epsilon, std::uint64_t positives) {
  return SparseVectorVariant(
      {.threshold_scale = 2 / epsilon, .query_scale = 2 / epsilon, .positives = positives});
}

}  // namespace gauze::testing
