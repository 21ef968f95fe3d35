// A table of exactly known proposals, corrected exactly (additive.md): pick a bucket of 2^width
// consecutive integers by the alias method (Walker 1977, Vose 1991) on 64-bit integer weights, a
// uniform integer in it, and accept with probability kappa 2^64 e^-phi(x) / weight. The comparison
// is decided by a 32-bit bound, else by a double with a margin, else by intervals of growing
// precision.
#include "gauze/noise/additive.h"

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <vector>

#include "gauze/base/error.h"
#include "gauze/noise/additive_internal.h"
#include "gauze/noise/proposal_internal.h"
#include "gauze/random/uniform.h"

namespace gauze {

using noise_internal::Shape;

struct AdditiveNoise::Table {
  explicit Table(const Shape& s);

  template <class Value>  // std::int64_t where the table is narrow, Integer anywhere
  Value draw(BitSource& bits) const;

  bool narrow() const { return width <= 50; }  ///< every value in the table fits in 63 bits

  double phi(double z) const { return linear * z + quadratic * z * z; }
  double peak(std::uint64_t bucket) const;  ///< smallest |z| in the bucket
  Integer tail_start(bool negative) const;  ///< smallest |x| beyond the table on that side
  Ratio tail_slope(const Integer& start) const {
    return shape.linear + shape.quadratic * Ratio(2 * start + 1);
  }
  double tail_cover(const Ratio& slope) const;  ///< 2^width (1 - e^-slope)
  void build_columns();
  void build_sure();

  struct Pick {
    std::uint64_t bucket;
    std::uint64_t column;
    std::uint64_t own;  // all ones if the bucket is the column's own, zero if it is the alias
  };
  /// The bucket a uniform word stands for; without a branch, since which of its two buckets a
  /// column gave must not show in the time.
  Pick pick(std::uint64_t word) const {
    const std::uint64_t column = word >> (64 - index_bits);
    const std::uint64_t entry = columns[column];
    const std::uint64_t rest = word & (~std::uint64_t{0} >> index_bits);
    const std::uint64_t other = entry & ((std::uint64_t{1} << index_bits) - 1);
    const std::uint64_t own = 0 - static_cast<std::uint64_t>(rest < (entry >> index_bits));
    return {(column & own) | (other & ~own), column, own};
  }
  /// The weight of the picked bucket. In uniform time it is read from where the column points, not
  /// the bucket: columns are uniform, so what the cache holds says nothing about the value.
  std::uint64_t weight(const Pick& p) const {
    if (pairs.empty()) return weights[p.bucket];
    const auto [mine, alias] = pairs[p.column];
    return (mine & p.own) | (alias & ~p.own);
  }
  template <class Value>
  bool accept(std::uint64_t share, const Value& value, LazyUniform uniform) const;
  Integer draw_tail(BitSource& bits, bool negative, bool& accepted) const;

  Shape shape;
  unsigned width = 0;         // a bucket holds 2^width integers; z = x / 2^width
  double per_unit = 1;        // 2^-width, where the table is narrow
  double linear = 0;          // coefficients of |z| and z^2
  double quadratic = 0;       //
  std::uint64_t left = 0;     // buckets below zero
  std::uint64_t buckets = 0;  // in all; behind them come the right tail and, if two-sided, the left
  unsigned index_bits = 0;    // the table has 2^index_bits columns
  double kappa = 0;
  std::vector<std::uint64_t> weights;  // of buckets, tails and unused columns; they sum to 2^64
  std::vector<std::uint64_t> columns;  // alias table: threshold in the high bits, alias in the low
  std::vector<std::pair<std::uint64_t, std::uint64_t>>
      pairs;                        // uniform time: both weights of a column
  std::vector<std::uint32_t> sure;  // a 32-bit uniform below this is accepted all over the bucket
};

namespace {

constexpr unsigned kMaxIndexBits = 11;

// How far a table reaches, in scales: e^-44 and e^-45 are below 2^-63, so a draw meets the tail
// once in about 2^60.
constexpr int kReachLinear = 44;
constexpr double kReachQuadratic = 9.5;

/// Large enough that e^-x is nothing, small enough that products stay finite.
double capped(const Ratio& value) {
  return std::min(value.convert_to<double>(), 1e150);
}

/// kappa 2^64 / weight * e^-exponent, with as many bits as asked for.
Interval acceptance(double kappa, std::uint64_t weight, const Ratio& exponent, unsigned bits) {
  return Interval(kappa, bits) * Interval(power_of_two(64), bits) /
         Interval(Integer(weight), bits) * exp(-Interval(exponent, bits));
}

}  // namespace

AdditiveNoise::Table::Table(const Shape& s) : shape(s) {
  const std::uint64_t sides = shape.two_sided ? 2 : 1;
  const std::uint64_t most = ((std::uint64_t{1} << kMaxIndexBits) - sides) / sides;
  const Integer extent = ceil(shape.extent);
  while ((Integer(most) << width) < extent) ++width;
  const Integer unit = Integer(1) << width;
  const auto per_side = Integer((extent + unit - 1) / unit).convert_to<std::uint64_t>();
  per_unit = std::ldexp(1.0, -static_cast<int>(width));
  linear = capped(shape.linear * Ratio(unit));
  quadratic = capped(shape.quadratic * Ratio(unit * unit));
  left = shape.two_sided ? per_side : 0;
  buckets = sides * per_side;
  while ((std::uint64_t{1} << index_bits) < buckets + sides) ++index_bits;

  // A bucket weighs as much as its peak; a tail as much as the geometric law that covers it, in
  // units of a bucket. A weight that underflows still needs its unit.
  std::vector<double> approximate(buckets + sides);
  for (std::uint64_t b = 0; b < buckets; ++b) approximate[b] = std::exp(-phi(peak(b)));
  for (std::uint64_t side = 0; side < sides; ++side) {
    const Integer start = tail_start(side == 1);
    const double z = (Ratio(start) / Ratio(unit)).convert_to<double>();
    approximate[buckets + side] = std::exp(-phi(z)) / tail_cover(tail_slope(start));
  }
  for (double& weight : approximate) weight = std::max(weight, 0x1p-200);
  weights.resize(std::size_t{1} << index_bits, 0);
  kappa = noise_internal::quantise(approximate, weights);
  build_columns();
  build_sure();
}

double AdditiveNoise::Table::peak(std::uint64_t bucket) const {
  // Bucket b covers b - left <= z < b - left + 1.
  return bucket >= left
             ? static_cast<double>(bucket - left)
             : static_cast<double>(left - bucket - 1) + std::ldexp(1.0, -static_cast<int>(width));
}

Integer AdditiveNoise::Table::tail_start(bool negative) const {
  return negative ? (Integer(left) << width) + 1 : Integer(buckets - left) << width;
}

double AdditiveNoise::Table::tail_cover(const Ratio& slope) const {
  const double rate = capped(slope);
  if (rate > 0x1p-60) return std::ldexp(-std::expm1(-rate), static_cast<int>(width));
  // 1 - e^-s is s to 2^-61; the product is of ordinary size where s itself underflows.
  return capped(slope * Ratio(Integer(1) << width));
}

void AdditiveNoise::Table::build_columns() {
  __extension__ using Wide = unsigned __int128;
  const std::size_t count = std::size_t{1} << index_bits;
  const Wide capacity = Wide{1} << (64 - index_bits);
  std::vector<Wide> rest(count, 0);
  std::copy(weights.begin(), weights.end(), rest.begin());
  std::vector<std::size_t> light;
  std::vector<std::size_t> heavy;
  for (std::size_t i = 0; i < count; ++i) (rest[i] < capacity ? light : heavy).push_back(i);
  columns.resize(count);
  while (!light.empty()) {
    const std::size_t from = light.back();
    const std::size_t to = heavy.back();
    light.pop_back();
    columns[from] = (static_cast<std::uint64_t>(rest[from]) << index_bits) | to;
    rest[to] -= capacity - rest[from];
    if (rest[to] < capacity) {
      heavy.pop_back();
      light.push_back(to);
    }
  }
  // What remains is exactly full: its own alias, so the threshold does not matter.
  for (const std::size_t i : heavy) columns[i] = i;
  if (shape.timing == Timing::kFast) return;
  for (std::size_t i = 0; i < count; ++i) {
    pairs.emplace_back(weights[i], weights[columns[i] & (count - 1)]);
  }
}

void AdditiveNoise::Table::build_sure() {
  sure.resize(weights.size(), 0);
  for (std::uint64_t b = 0; b < buckets; ++b) {
    const double far = peak(b) + 1;  // no |z| in the bucket is larger
    const double least = kappa * 0x1p64 / static_cast<double>(weights[b]) * std::exp(-phi(far));
    sure[b] = static_cast<std::uint32_t>(least * (1 - 0x1p-30) * 0x1p32);
  }
  if (width > 0) return;
  // A bucket of one integer has no far end.
  for (std::uint64_t b = 0; b < buckets; ++b) {
    const double only = kappa * 0x1p64 / static_cast<double>(weights[b]) * std::exp(-phi(peak(b)));
    sure[b] = static_cast<std::uint32_t>(only * (1 - 0x1p-30) * 0x1p32);
  }
}

template <class Value>
bool AdditiveNoise::Table::accept(std::uint64_t share, const Value& value,
                                  LazyUniform uniform) const {
  double z = 0;
  if constexpr (std::is_same_v<Value, Integer>) {
    z = (Ratio(abs(value)) / power_of_two(static_cast<int>(width))).template convert_to<double>();
  } else {
    z = std::fabs(static_cast<double>(value)) * per_unit;
  }
  const double estimate = kappa * 0x1p64 / static_cast<double>(share) * std::exp(-phi(z));
  return uniform.below(estimate, [&](unsigned precision) {
    const Ratio x{Integer(abs(Integer(value)))};
    return acceptance(kappa, share, shape.linear * x + shape.quadratic * x * x, precision);
  });
}

/// Beyond the table phi lies above its chord: a shifted geometric law with that slope covers it.
Integer AdditiveNoise::Table::draw_tail(BitSource& bits, bool negative, bool& accepted) const {
  const Integer start = tail_start(negative);
  const Ratio slope = tail_slope(start);
  const Integer beyond = geometric(Ratio(1) / slope).draw_integer(bits);
  const Integer magnitude = start + beyond;
  const Ratio x(magnitude);
  const Ratio exponent = shape.linear * x + shape.quadratic * x * x - slope * Ratio(beyond);
  accepted = LazyUniform(bits).below([&](unsigned precision) {
    const Interval covered = -expm1(-Interval(slope, precision)) *
                             Interval(power_of_two(static_cast<int>(width)), precision);
    return acceptance(kappa, weights[buckets + (negative ? 1 : 0)], exponent, precision) / covered;
  });
  return negative ? Integer(-magnitude) : magnitude;
}

template <class Value>
Value AdditiveNoise::Table::draw(BitSource& bits) const {
  constexpr bool kBig = std::is_same_v<Value, Integer>;
  while (true) {
    const Pick picked = pick(bits.next());
    const std::uint64_t bucket = picked.bucket;
    if (bucket >= buckets) [[unlikely]] {
      bool accepted = false;
      const Integer value = draw_tail(bits, bucket > buckets, accepted);
      if (!accepted) continue;
      if constexpr (kBig) {
        return value;
      } else {
        return saturate(value);
      }
    }
    // The high half of this word decides acceptance, the low half is the place in a small bucket.
    const std::uint64_t word = bits.next();
    Value value;
    if constexpr (kBig) {
      value = ((Integer(bucket) - left) << width) + uniform_bits(bits, width);
    } else {
      const std::uint64_t place = width <= 32 ? word : bits.next();
      const std::uint64_t mask = (std::uint64_t{1} << width) - 1;
      value = static_cast<Value>(((bucket - left) << width) + (place & mask));
    }
    if (shape.timing == Timing::kFast && (word >> 32) < sure[bucket]) [[likely]]
      return value;
    const std::uint64_t head = (word & 0xffffffff00000000u) | (bits.next() >> 32);
    if (accept(weight(picked), value, LazyUniform(bits, head))) return value;
  }
}

AdditiveNoise noise_internal::make_additive(const Shape& shape) {
  return AdditiveNoise(std::make_unique<const AdditiveNoise::Table>(shape));
}

noise_internal::Inspection noise_internal::inspect(const AdditiveNoise& noise) {
  const AdditiveNoise::Table& t = *noise.table_;
  return {t.width, t.index_bits, t.left, t.buckets, t.kappa, t.weights, t.columns, t.sure};
}

AdditiveNoise AdditiveNoise::discrete_laplace(const Ratio& scale, Timing timing) {
  require(scale > 0, "discrete_laplace: scale must be positive");
  return noise_internal::make_additive({.linear = Ratio(1) / scale,
                                        .quadratic = 0,
                                        .two_sided = true,
                                        .extent = scale * kReachLinear,
                                        .timing = timing});
}

AdditiveNoise AdditiveNoise::discrete_gaussian(const Ratio& sigma_squared, Timing timing) {
  require(sigma_squared > 0, "discrete_gaussian: sigma must be positive");
  // ceil(sigma^2)'s integer root is within 1 of sigma: enough for the extent.
  const Ratio sigma(sqrt(ceil(sigma_squared)) + 1);
  return noise_internal::make_additive({.linear = 0,
                                        .quadratic = Ratio(1) / (2 * sigma_squared),
                                        .two_sided = true,
                                        .extent = sigma * Ratio(kReachQuadratic),
                                        .timing = timing});
}

AdditiveNoise AdditiveNoise::geometric(const Ratio& scale, Timing timing) {
  require(scale > 0, "geometric: scale must be positive");
  return noise_internal::make_additive({.linear = Ratio(1) / scale,
                                        .quadratic = 0,
                                        .two_sided = false,
                                        .extent = scale * kReachLinear,
                                        .timing = timing});
}

AdditiveNoise::AdditiveNoise(std::unique_ptr<const Table> table) : table_(std::move(table)) {}
AdditiveNoise::AdditiveNoise(AdditiveNoise&&) noexcept = default;
AdditiveNoise& AdditiveNoise::operator=(AdditiveNoise&&) noexcept = default;
AdditiveNoise::~AdditiveNoise() = default;

std::int64_t AdditiveNoise::draw(BitSource& bits) const {
  return table_->narrow() ? table_->draw<std::int64_t>(bits)
                          : saturate(table_->draw<Integer>(bits));
}

Integer AdditiveNoise::draw_integer(BitSource& bits) const {
  return table_->draw<Integer>(bits);
}

void AdditiveNoise::fill(std::span<std::int64_t> out, BitSource& bits) const {
  if (!table_->narrow()) {
    for (std::int64_t& value : out) value = saturate(table_->draw<Integer>(bits));
    return;
  }
  for (std::int64_t& value : out) value = table_->draw<std::int64_t>(bits);
}

}  // namespace gauze
