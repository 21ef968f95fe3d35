#include "gauze/mechanism/quantile_interval.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "gauze/accounting/filter.h"
#include "gauze/mechanism/quantile_internal.h"
#include "gauze/testing/audit.h"
#include "gauze/testing/contract.h"
#include "gauze/testing/statistics.h"

namespace gauze {
namespace {

using testing::release_once;
using testing::SeededBits;
using Data = std::vector<double>;
using Values = std::span<const double>;

QuantileInterval interval(std::vector<Ratio> probabilities, const char* epsilon,
                          const char* upper = "100", std::uint64_t records = 1,
                          Relation relation = Relation::kAddRemove) {
  return QuantileInterval({.lower = 0,
                           .upper = parse_ratio(upper),
                           .epsilon = parse_ratio(epsilon),
                           .relation = relation,
                           .probabilities = std::move(probabilities),
                           .granularity = 1,
                           .records_per_unit = records});
}

/// The probabilities of all candidates 0 .. upper for the rank p n + shift, written out from the
/// definition: the first (last) candidate fits all ranks below (above) its own when the shift is
/// negative (positive).
Data pmf(const Data& data, double p, double shift, double rate, int upper) {
  Data result;
  double total = 0;
  const double wanted = p * static_cast<double>(data.size()) + shift;
  for (int x = 0; x <= upper; ++x) {
    double below = 0;
    double upto = 0;
    for (const double value : data) {
      below += value < x ? 1 : 0;
      upto += value <= x ? 1 : 0;
    }
    if (shift < 0 && x == 0) below = -INFINITY;
    if (shift > 0 && x == upper) upto = INFINITY;
    result.push_back(std::exp(-rate * std::max({0.0, below - wanted, wanted - upto})));
    total += result.back();
  }
  for (double& each : result) each /= total;
  return result;
}

struct Ends {
  double low;
  double high;
};

/// The records between which every definition of the quantile lies.
Ends truth(Data data, double p) {
  std::sort(data.begin(), data.end());
  const double place = p * static_cast<double>(data.size() - 1);
  return {data[static_cast<std::size_t>(std::floor(place))],
          data[static_cast<std::size_t>(std::ceil(place))]};
}

// What the shifts are derived from, for 6 candidates, epsilon 6 (2 per choice): rate 2/(2 s), error
// ln(6/0.025) / rate.
struct Shifts {
  double rate;
  double down;
  double up;
};
Shifts shifts(double p, double sensitivity) {
  const double rate = 1 / sensitivity;
  const double error = std::log(6 / 0.025) / rate;
  return {rate, std::ceil(error + p), std::ceil(error + 1 - p)};
}

// All data sets of up to five records on six candidates: neither end is on the wrong side more often
// than 1 in 40. The ends of plain quantiles at the same rank are, and so are ends that are sought
// one error closer.
TEST(QuantileInterval, CoversTheQuantileOfEveryDataSetAsOftenAsItPromises) {
  for (const double p : {0.0, 0.25, 0.5, 0.9, 1.0}) {
    const Shifts of = shifts(p, std::max(p, 1 - p));
    double worst = 0;
    double worst_without = 0;
    testing::for_all_data(5, 5, [&](const Data& data) {
      if (data.empty()) return;
      const Ends ends = truth(data, p);
      const auto wrong = [&](double down, double up) {
        const Data low = pmf(data, p, -down, of.rate, 5);
        const Data high = pmf(data, p, up, of.rate, 5);
        double above = 0;
        double below = 0;
        for (int x = 0; x <= 5; ++x) {
          above += x > ends.low ? low[static_cast<std::size_t>(x)] : 0;
          below += x < ends.high ? high[static_cast<std::size_t>(x)] : 0;
        }
        return std::max(above, below);
      };
      worst = std::max(worst, wrong(of.down, of.up));
      worst_without = std::max(worst_without, wrong(0, 0));
    });
    EXPECT_LE(worst, 0.025) << p;
    EXPECT_GT(worst_without, 0.2) << p;
  }
}

// The sampler has those probabilities: chi-square on 15,000 runs each, p > 1e-9.
TEST(QuantileInterval, ChoosesItsEndsAsTheFormulaSays) {
  for (const Data& data : {Data{}, Data{3}, Data{1, 1, 2, 5, 5, 5}}) {
    const QuantileInterval mechanism = interval({Ratio(1, 4)}, "6", "5");
    const Shifts of = shifts(0.25, 0.75);
    std::vector<GridCount> counts;
    for (const double value : data) counts.emplace_back(static_cast<std::int64_t>(value), 1);
    SeededBits bits(3);
    std::vector<std::uint64_t> value(6);
    std::map<double, std::uint64_t> low;
    std::map<double, std::uint64_t> high;
    for (int i = 0; i < 15'000; ++i) {
      const auto one = release_once(mechanism, std::span<const GridCount>(counts), bits)[0];
      ++value[static_cast<std::size_t>(one.value)];
      ++low[std::round(one.lower)];
      ++high[std::round(one.upper)];
    }
    const Data middle = pmf(data, 0.25, 0, of.rate, 5);
    EXPECT_GT(testing::chi_square_p(value, middle), 1e-9);
    // min(lower choice, value): P(min >= x) is the product of the tails; likewise above.
    const Data below = pmf(data, 0.25, -of.down, of.rate, 5);
    const Data above = pmf(data, 0.25, of.up, of.rate, 5);
    const auto tail = [](const Data& mass, std::size_t from) {
      double sum = 0;
      for (std::size_t i = from; i < mass.size(); ++i) sum += mass[i];
      return sum;
    };
    Data least;
    Data most;
    std::vector<std::uint64_t> seen_low;
    std::vector<std::uint64_t> seen_high;
    for (std::size_t x = 0; x < 6; ++x) {
      least.push_back(tail(below, x) * tail(middle, x) - tail(below, x + 1) * tail(middle, x + 1));
      most.push_back((1 - tail(above, x + 1)) * (1 - tail(middle, x + 1)) -
                     (1 - tail(above, x)) * (1 - tail(middle, x)));
      seen_low.push_back(low[static_cast<double>(x)]);
      seen_high.push_back(high[static_cast<double>(x)]);
    }
    EXPECT_GT(testing::chi_square_p(seen_low, least), 1e-9);
    EXPECT_GT(testing::chi_square_p(seen_high, most), 1e-9);
  }
}

// Where candidates far from the wanted rank are proposed together, the choice is still exact: 6,000
// draws for each of 50 cases, chi-square p > 1e-9.
TEST(QuantileInterval, RemoteCandidatesAreChosenExactlyToo) {
  const std::vector<Data> cases = {
      {}, {0, 0, 0, 0, 9}, {3, 3, 4, 6, 6, 6, 6, 7}, {9, 9, 9, 9, 9, 9}, {0, 5, 9}};
  for (const Data& data : cases) {
    std::vector<internal::Run> runs;
    for (const double value : data) {
      const auto index = static_cast<std::uint64_t>(value);
      if (runs.empty() || runs.back().index != index) runs.push_back({index, 0});
      ++runs.back().count;
    }
    for (const std::int64_t shift : {-7, -1, 0, 2, 9}) {
      for (const unsigned far_nats : {1u, 2u}) {
        SeededBits bits(8);
        std::vector<std::uint64_t> seen(10);
        for (int i = 0; i < 6'000; ++i) {
          ++seen[internal::choose_quantile(runs, 0, 9, {Ratio(1, 3), shift}, Ratio(4, 5), bits,
                                           far_nats)];
        }
        const Data expected = pmf(data, 1.0 / 3, static_cast<double>(shift), 0.8, 9);
        EXPECT_GT(testing::chi_square_p(seen, expected), 1e-9)
            << data.size() << " " << shift << " " << far_nats;
      }
    }
  }
}

// The loss of one choice over all small neighbours, one unit with up to `records` records more.
double worst_loss(double p, double shift, double rate, int records) {
  double worst = 0;
  testing::for_all_data(3, 3, [&](const Data& data) {
    const Data without = pmf(data, p, shift, rate, 3);
    testing::for_all_data(records, 3, [&](const Data& unit) {
      Data more = data;
      more.insert(more.end(), unit.begin(), unit.end());
      worst = std::max(worst, testing::max_log_ratio(pmf(more, p, shift, rate, 3), without));
    });
  });
  return worst;
}

TEST(QuantileInterval, EachChoiceKeepsItsEpsilonForAllRecordsOfAUnit) {
  for (const double p : {0.0, 0.5, 0.8}) {
    for (const double shift : {-40.0, -2.0, 0.0, 1.0, 3.0}) {
      const double sensitivity = std::max(p, 1 - p);
      EXPECT_LE(worst_loss(p, shift, 1 / (2 * sensitivity), 1), 1 + 1e-9);
      EXPECT_LE(worst_loss(p, shift, 1 / (2 * 2 * sensitivity), 2), 1 + 1e-9);
    }
    // Forgetting that a unit has three records is caught.
    EXPECT_GT(worst_loss(p, 0, 1 / (2 * std::max(p, 1 - p)), 3), 1.05) << p;
  }
}

Data uniform_records(std::size_t records, std::uint64_t seed, double upper, double step) {
  SeededBits bits(seed);
  Data data;
  for (std::size_t i = 0; i < records; ++i) {
    const double unit = static_cast<double>(bits.next() >> 11) * 0x1p-53;
    data.push_back(std::floor(unit * upper / step) * step);
  }
  return data;
}

// 200 runs for each of 7 data sets and 3 probabilities; 95 % promised. A right mechanism shows a
// coverage proved to be below that with probability 1e-6.
TEST(QuantileInterval, CoversInRunsWithFewManyAndTiedRecords) {
  const std::vector<Ratio> probabilities = {Ratio(1, 10), Ratio(1, 2), Ratio(99, 100)};
  const QuantileInterval mechanism = interval(probabilities, "3", "1000");
  Data tied(500, 7);
  tied.insert(tied.end(), 500, 900);
  for (const Data& data :
       {Data{500.3}, Data{0, 1000}, Data{3, 4, 5}, uniform_records(30, 1, 1000, 0.25),
        uniform_records(3'000, 2, 1000, 0.01), uniform_records(3'000, 3, 1000, 250), tied}) {
    SeededBits bits(17);
    std::vector<std::uint64_t> covered(3);
    constexpr std::uint64_t kRuns = 200;
    for (std::uint64_t run = 0; run < kRuns; ++run) {
      const auto answer = release_once(mechanism, Values(data), bits);
      for (std::size_t i = 0; i < 3; ++i) {
        const Ends ends = truth(data, probabilities[i].convert_to<double>());
        EXPECT_LE(answer[i].lower, answer[i].value);
        EXPECT_GE(answer[i].upper, answer[i].value);
        EXPECT_GE(answer[i].lower, 0);
        EXPECT_LE(answer[i].upper, 1000);
        covered[i] += answer[i].lower <= ends.low && answer[i].upper >= ends.high ? 1 : 0;
      }
    }
    for (const std::uint64_t each : covered) {
      EXPECT_GE(testing::probability_at_most(each, kRuns, 1e-6), 0.95);
    }
  }
}

TEST(QuantileInterval, IsAsNarrowAsItSays) {
  const Data data = uniform_records(100'000, 5, 1000, 0.001);
  const QuantileInterval mechanism({.lower = 0,
                                    .upper = 1000,
                                    .epsilon = 1,
                                    .relation = Relation::kAddRemove,
                                    .probabilities = std::vector<Ratio>{Ratio(1, 2)}});
  // 2 * (1/2) ln(2^20/0.025) * 3 = 52.6 each way twice: the ends are within about 107 ranks, of
  // which each is about 0.01 wide.
  EXPECT_NEAR(mechanism.accuracy().half_width, 107, 2);
  SeededBits bits(6);
  for (int run = 0; run < 50; ++run) {
    const auto one = release_once(mechanism, Values(data), bits)[0];
    EXPECT_LT(one.upper - one.lower, 2 * 107 * 0.0115);
  }
}

TEST(QuantileInterval, CostsEpsilonInTotalAndLittleInConcentratedDp) {
  const QuantileInterval mechanism = interval({Ratio(1, 4), Ratio(3, 4)}, "3");
  EXPECT_EQ(Budget::price(mechanism.event(), Budget::Currency::kPure), Budget::pure(3));
  EXPECT_EQ(Budget::price(mechanism.event(), Budget::Currency::kZcdp),
            Budget::zcdp(Ratio(9, 24 * 2)));
}

TEST(QuantileInterval, PassesTheContract) {
  const Data some = {1, 50, 50, 99};
  const Data none = {};
  for (const Relation relation : {Relation::kAddRemove, Relation::kReplace}) {
    testing::expect_contract(interval({Ratio(1, 2)}, "1", "100", 3, relation), Values(some),
                             Values(none));
  }
}

TEST(QuantileInterval, RejectsOptionsOutsideTheirRange) {
  EXPECT_ERROR(interval({}, "1"), ErrorCode::kInvalidOption);
  EXPECT_ERROR(interval({Ratio(3, 2)}, "1"), ErrorCode::kInvalidOption);
  EXPECT_ERROR(interval({Ratio(1, 2)}, "0"), ErrorCode::kInvalidOption);
  EXPECT_ERROR(interval({Ratio(1, 2)}, "1", "0"), ErrorCode::kInvalidOption);
  EXPECT_ERROR(interval({Ratio(1, 2)}, "1", "100", 0), ErrorCode::kInvalidOption);
  EXPECT_ERROR(interval({Ratio(1, 2)}, "1", "100", 1, Relation::kNode), ErrorCode::kInvalidOption);
}

}  // namespace
}  // namespace gauze
