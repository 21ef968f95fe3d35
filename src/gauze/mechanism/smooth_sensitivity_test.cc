#include "gauze/mechanism/smooth_sensitivity.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <boost/math/distributions/normal.hpp>
#include <cmath>
#include <functional>
#include <vector>

#include "gauze/mechanism/quantile.h"
#include "gauze/mechanism/ranked_records_internal.h"
#include "gauze/mechanism/smooth_median.h"
#include "gauze/mechanism/smooth_sensitivity_internal.h"
#include "gauze/testing/audit.h"
#include "gauze/testing/contract.h"
#include "gauze/testing/local_sensitivity.h"
#include "gauze/testing/matchers.h"
#include "gauze/testing/seeded_bits.h"

namespace gauze {
namespace {

using testing::release_once;
using testing::SeededBits;
using Data = std::vector<double>;
using Values = std::span<const double>;

constexpr SmoothNoise kAll[] = {SmoothNoise::kCauchy, SmoothNoise::kStudent, SmoothNoise::kLaplace};

SmoothSensitivity::Options options_for(SmoothNoise noise, const Ratio& epsilon,
                                       const Ratio& global = 10) {
  return {.epsilon = epsilon,
          .global_sensitivity = global,
          .relation = Relation::kReplace,
          .noise = noise,
          .delta = noise == SmoothNoise::kLaplace ? Ratio(1, 1000) : Ratio(0)};
}

SmoothMedian median_with(SmoothNoise noise, const Ratio& epsilon, const Ratio& upper) {
  const auto common = options_for(noise, epsilon);
  return SmoothMedian(
      {.lower = 0, .upper = upper, .epsilon = epsilon, .noise = noise, .delta = common.delta});
}

/// The noise laws on the integers, straight from their definition, with the sum as normaliser.
class Law {
 public:
  Law(SmoothNoise noise, double scale, double centre)
      : degrees_(internal::degrees_of(noise)), scale_(scale), centre_(centre) {
    if (degrees_ == 0) {
      log_total_ = std::log(1 / std::tanh(0.5 / scale));
      return;
    }
    double total = 1;
    const double end = std::ceil(3000 * scale);
    for (double x = 1; x <= end; ++x) total += 2 * std::exp(log_weight(x));
    const double spread = degrees_ * scale * scale;  // and the power tail beyond
    total += 2 * std::pow(spread, 0.5 * (degrees_ + 1)) * std::pow(end + 0.5, -double(degrees_)) /
             degrees_;
    log_total_ = std::log(total);
  }
  double log_mass(double at) const { return log_weight(at - centre_) - log_total_; }

 private:
  double log_weight(double x) const {
    if (degrees_ == 0) return -std::abs(x) / scale_;
    return -0.5 * (degrees_ + 1) * std::log1p(x * x / (degrees_ * scale_ * scale_));
  }
  unsigned degrees_;
  double scale_;
  double centre_;
  double log_total_ = 0;
};

/// The largest loss at `delta`: of the likelihood ratio at delta = 0, of the hockey stick else.
double loss(const Law& p, const Law& q, double reach, double epsilon, bool pure) {
  double worst = 0;
  double excess = 0;
  for (double x = -reach; x <= reach; ++x) {
    worst = std::max(worst, std::abs(p.log_mass(x) - q.log_mass(x)));
    excess += std::max(0.0, std::exp(p.log_mass(x)) - std::exp(epsilon + q.log_mass(x)));
  }
  return pure ? worst : excess;
}

TEST(SmoothSensitivity, RejectsOptionsOutsideTheirRange) {
  for (const SmoothNoise noise : kAll) {
    EXPECT_ERROR(SmoothSensitivity(options_for(noise, 0)), ErrorCode::kInvalidOption);
    EXPECT_ERROR(SmoothSensitivity(options_for(noise, Ratio(1, 1000000))),
                 ErrorCode::kInvalidOption);
    EXPECT_ERROR(SmoothSensitivity(options_for(noise, 1, 0)), ErrorCode::kInvalidOption);
    auto other = options_for(noise, 1);
    other.delta = other.delta == 0 ? Ratio(1, 1000) : Ratio(1, 2);
    EXPECT_ERROR(SmoothSensitivity(other), ErrorCode::kInvalidOption);
  }
  EXPECT_ERROR(median_with(SmoothNoise::kCauchy, 1, 0), ErrorCode::kInvalidOption);
}

TEST(SmoothSensitivity, CostsAreThoseOfTheOptions) {
  EXPECT_EQ(SmoothSensitivity(options_for(SmoothNoise::kCauchy, 2)).event(),
            (Event{events::Pure{2}, Relation::kReplace}));
  EXPECT_EQ(SmoothSensitivity(options_for(SmoothNoise::kLaplace, 2)).event(),
            (Event{events::Approximate{2, Ratio(1, 1000)}, Relation::kReplace}));
}

TEST(SmoothSensitivity, PassesTheContractBattery) {
  for (const SmoothNoise noise : kAll) {
    testing::expect_contract(SmoothSensitivity(options_for(noise, 1)), MovableAnswer{1, {2, 3}},
                             MovableAnswer{-1e9, {}});
    testing::expect_contract(median_with(noise, 1, 5), Values(Data{1, 2, 3}),
                             Values(Data{NAN, -1e300}));
  }
}

TEST(SmoothSensitivity, NeverUnderstatesAMoveOrChangesItsScaleByMoreThanBeta) {
  for (const SmoothNoise noise : kAll) {
    for (const Ratio& epsilon : {Ratio(1, 20), Ratio(1), Ratio(40)}) {
      const internal::ScaleLadder ladder(options_for(noise, epsilon));
      for (std::uint64_t i = 0; i + ladder.rungs() <= ladder.highest(); ++i) {
        ASSERT_LE(std::log(ladder.scale(i + ladder.rungs()) / ladder.scale(i)), ladder.beta());
      }
      // Shifting by the move costs half of epsilon: slopes of the log laws at scale 1.
      const double slope = noise == SmoothNoise::kStudent ? 2 / std::sqrt(3) : 1;
      const double step = ladder.lattice().step().convert_to<double>();
      for (const double move : {0.0, 1e-9, 0.1, 3.0, 10.0}) {
        const Data moves = {move};
        EXPECT_GE(ladder.scale(ladder.rung(moves)) * step * epsilon.convert_to<double>() / 2,
                  move * slope);
      }
    }
  }
}

/// Loss between an answer and the worst neighbour at a rung: shifted as far as the scale allows,
/// noised with a scale `rungs` away; `times` tells how many times too much of both.
double worst_loss(SmoothNoise noise, double times) {
  const double epsilon = 1;
  const internal::ScaleLadder ladder(options_for(noise, 1));
  const double slope = noise == SmoothNoise::kStudent ? 2 / std::sqrt(3) : 1;
  const auto away = static_cast<std::uint64_t>(static_cast<double>(ladder.rungs()) * times);
  double worst = 0;
  for (const std::uint64_t rung : {std::uint64_t{0}, std::uint64_t{20}}) {
    const double small = ladder.scale(rung);
    const double large = ladder.scale(rung + away);
    const double shift = std::floor(times * small * epsilon / 2 / slope);
    for (const double direction : {-1.0, 0.0, 1.0}) {
      const Law p(noise, small, 0);
      const Law q(noise, large, direction * shift);
      const bool pure = noise != SmoothNoise::kLaplace;
      worst = std::max(
          {worst, loss(p, q, 100 * large, epsilon, pure), loss(q, p, 100 * large, epsilon, pure)});
    }
  }
  return worst;
}

// The laws differ in scale and place at once; half of epsilon or less is caught.
TEST(SmoothSensitivity, IsPrivateForTheWorstNeighboursOfEachLaw) {
  EXPECT_LE(worst_loss(SmoothNoise::kCauchy, 1), 1);
  EXPECT_LE(worst_loss(SmoothNoise::kStudent, 1), 1);
  EXPECT_LE(worst_loss(SmoothNoise::kLaplace, 1), 0.001);
  EXPECT_GT(worst_loss(SmoothNoise::kCauchy, 2), 1);
  EXPECT_GT(worst_loss(SmoothNoise::kStudent, 2), 1);
  EXPECT_GT(worst_loss(SmoothNoise::kLaplace, 4), 0.001);
}

/// max over k of moves[k] e^(-beta k) for records on [0, upper].
double smooth_sensitivity(const Data& data, int upper, double beta) {
  const internal::QuantileDomain domain = internal::fine_domain(0, upper);
  const internal::RankedRecords records(domain, data);
  const double step = domain.granularity().convert_to<double>();
  double smooth = 0;
  for (std::int64_t k = 0; k <= static_cast<std::int64_t>(data.size()); ++k) {
    const double move = static_cast<double>(records.median_move(k)) * step;
    smooth = std::max(smooth, move * std::exp(-beta * static_cast<double>(k)));
  }
  return smooth;
}

TEST(SmoothMedian, HasThePublishedSmoothSensitivities) {
  EXPECT_NEAR(smooth_sensitivity({1, 2, 4, 7, 9}, 10, 0.1), 6.0653, 5e-5);
  EXPECT_NEAR(smooth_sensitivity({1, 2, 4, 7, 9}, 10, 0.5), 3.0327, 5e-5);
  EXPECT_NEAR(smooth_sensitivity({1, 2, 4, 7, 9}, 10, 1), 3, 5e-5);
  EXPECT_NEAR(smooth_sensitivity({0, 0, 0, 0, 0}, 10, 0.5), 3.6788, 5e-5);
}

/// Every sorted data set with one record replaced.
std::vector<Data> neighbours(const Data& data, int upper) {
  std::vector<Data> result;
  for (std::size_t i = 0; i < data.size(); ++i) {
    for (int x = 0; x <= upper; ++x) {
      Data other = data;
      other[i] = x;
      std::sort(other.begin(), other.end());
      result.push_back(other);
    }
  }
  return result;
}

double plain_median(const Data& sorted) {
  return sorted[(sorted.size() - 1) / 2];
}

TEST(SmoothMedian, MovesAsFarAsBruteForceFinds) {
  constexpr int kUpper = 4;
  const internal::QuantileDomain domain = internal::fine_domain(0, kUpper);
  const double step = domain.granularity().convert_to<double>();
  testing::for_all_data(4, kUpper, [&](const Data& data) {
    if (data.empty()) return;
    const internal::RankedRecords records(domain, data);
    std::vector<Data> within = {data};
    for (std::int64_t k = 0; k < 3; ++k) {
      double largest = 0;
      std::vector<Data> farther;
      for (const Data& each : within) {
        for (const Data& other : neighbours(each, kUpper)) {
          largest = std::max(largest, std::abs(plain_median(each) - plain_median(other)));
          farther.push_back(other);
        }
      }
      ASSERT_EQ(static_cast<double>(records.median_move(k)) * step, largest);
      std::sort(farther.begin(), farther.end());
      farther.erase(std::unique(farther.begin(), farther.end()), farther.end());
      within = std::move(farther);
    }
  });
}

/// The largest shift and ratio of scales over all small neighbours, as multiples of what the noise
/// is made for; with `local` the scale is that of the local sensitivity.
std::pair<double, double> worst_change(SmoothNoise noise, bool local) {
  constexpr int kUpper = 4;
  const internal::ScaleLadder ladder(options_for(noise, 1, kUpper));
  const internal::QuantileDomain domain = internal::fine_domain(0, kUpper);
  const double step = domain.granularity().convert_to<double>();
  const auto scale = [&](const Data& data) {
    const internal::RankedRecords records(domain, data);
    Data moves;
    for (std::size_t k = 0; k < data.size(); ++k) {
      const auto move = static_cast<double>(records.median_move(static_cast<std::int64_t>(k)));
      moves.push_back(local && k > 0 ? 0 : move * step);
    }
    if (local) moves.resize(ladder.distances(), 0);
    return ladder.scale(ladder.rung(moves)) * step;
  };
  const double slope = noise == SmoothNoise::kStudent ? 2 / std::sqrt(3) : 1;
  double shift = 0;
  double ratio = 0;
  testing::for_all_data(5, kUpper, [&](const Data& data) {
    for (const Data& other : neighbours(data, kUpper)) {
      const double moved = std::abs(plain_median(data) - plain_median(other));
      shift = std::max(shift, slope * moved / scale(data) / 0.5);
      ratio = std::max(ratio, std::log(scale(data) / scale(other)) / ladder.beta());
    }
  });
  return {shift, ratio};
}

TEST(SmoothMedian, ShiftsAndRescalesWithinBoundsOnEveryPairOfSmallDataSets) {
  for (const SmoothNoise noise : kAll) {
    const auto [shift, ratio] = worst_change(noise, false);
    EXPECT_LE(shift, 1);
    EXPECT_LE(ratio, 1);
    EXPECT_GT(shift, 0.5);  // and no more noise than needed
    // The local sensitivity jumps from nothing to the range.
    EXPECT_GT(worst_change(noise, true).second, 20);
  }
}

// Three zeros and two tens, or four zeros and one ten: local sensitivity 10 and 0.
TEST(SmoothMedian, SurvivesTheAuditThatCatchesNoiseFromTheLocalSensitivity) {
  const Data before = {0, 0, 0, 10, 10};
  const Data after = {0, 0, 0, 0, 10};
  const testing::AuditOptions options{.trials = 10'000, .delta = 0.001};
  for (const SmoothNoise noise : kAll) {
    const SmoothMedian mechanism = median_with(noise, 1, 10);
    const auto at = [&](const Data& data) {
      return [&](BitSource& bits) { return release_once(mechanism, Values(data), bits); };
    };
    EXPECT_LE(testing::audited_epsilon(at(before), at(after), options), 1);
  }
  const auto broken = [](const Data& data) {
    return [&](BitSource& bits) { return testing::local_sensitivity_median(data, 1, bits); };
  };
  EXPECT_GT(testing::audited_epsilon(broken(before), broken(after), options), 3);
}

TEST(SmoothSensitivity, KeepsItsAccuracyPromise) {
  for (const SmoothNoise noise : kAll) {
    const SmoothSensitivity mechanism(options_for(noise, 1));
    // Moves that grow as fast as they may: smooth sensitivity 0.01.
    MovableAnswer answer{5, {}};
    for (std::uint64_t k = 0; k < mechanism.distances(); ++k) {
      answer.moves.push_back(0.01 * std::exp(mechanism.beta() * static_cast<double>(k)));
    }
    const double promised = mechanism.accuracy_if(0.01).half_width;
    EXPECT_LT(promised, mechanism.accuracy().half_width / 100);
    SeededBits bits(2);
    int kept = 0;
    for (int i = 0; i < 4000; ++i) {
      kept += std::abs(release_once(mechanism, answer, bits) - 5) <= promised ? 1 : 0;
    }
    EXPECT_GE(kept, 4000 * 0.93);  // a promise of 95 % fails this with probability 1e-8
    EXPECT_LE(kept, 4000 * 0.97);
  }
}

TEST(SmoothSensitivity, ReleasesLieOnOneGridWhateverTheScale) {
  const SmoothSensitivity mechanism(options_for(SmoothNoise::kCauchy, 1));
  const double step = std::ldexp(1, -37);  // 10 / 2^40, rounded down to a power of two
  SeededBits bits(3);
  for (int i = 0; i < 200; ++i) {
    const MovableAnswer answer{0.1 * i, Data(60, i % 2 == 0 ? 1e-9 : 10)};
    const double steps = release_once(mechanism, answer, bits) / step;
    EXPECT_EQ(steps, std::floor(steps));
  }
}

/// Mean size of the error of 300 releases, clamped to the range.
double mean_error(const std::function<double(BitSource&)>& release) {
  SeededBits bits(4);
  double sum = 0;
  for (int i = 0; i < 300; ++i) sum += std::abs(std::clamp(release(bits), 0.0, 1000.0) - 500);
  return sum / 300;
}

// Quantiles of a normal law about 500 with deviation 100. As published: Cauchy noise of 6 S/epsilon
// with beta = epsilon/6, Laplace noise of 2 S/epsilon with beta = epsilon / (2 ln(2/delta)).
TEST(SmoothMedian, IsTenTimesWorseThanTheExponentialMechanismAsPublishedAndOursLess) {
  Data data;
  const boost::math::normal law(500, 100);
  for (int i = 1; i <= 1001; ++i) {
    data.push_back(std::clamp(boost::math::quantile(law, i / 1002.0), 0.0, 1000.0));
  }
  for (const Ratio& epsilon : {Ratio(1, 10), Ratio(1, 2), Ratio(1)}) {
    const double e = epsilon.convert_to<double>();
    const Quantile exponential(
        {.lower = 0, .upper = 1000, .epsilon = epsilon, .relation = Relation::kAddRemove});
    const double best =
        mean_error([&](BitSource& bits) { return release_once(exponential, Values(data), bits); });
    const double cauchy = 6 / e * smooth_sensitivity(data, 1000, e / 6);
    const double laplace = 2 / e * smooth_sensitivity(data, 1000, e / 2 / std::log(2e6));
    const double published_cauchy = cauchy / M_PI * std::log1p(250'000 / (cauchy * cauchy)) +
                                    500 * (1 - 2 / M_PI * std::atan(500 / cauchy));
    const double published_laplace = laplace * -std::expm1(-500 / laplace);
    EXPECT_GT(std::min(published_cauchy, published_laplace), 10 * best);
    const SmoothMedian ours = median_with(SmoothNoise::kCauchy, epsilon, 1000);
    const double error =
        mean_error([&](BitSource& bits) { return release_once(ours, Values(data), bits); });
    EXPECT_LT(error, published_cauchy / 2);
    EXPECT_GT(error, 2 * best);
  }
}

}  // namespace
}  // namespace gauze
