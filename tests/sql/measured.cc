#include "measured.h"

#include <algorithm>
#include <cstdio>
#include <set>

#include "gauze/query/sql_query_internal.h"
#include "gauze/testing/seeded_bits.h"

namespace gauze::sql_test {
namespace {

using internal::GroupIndex;
using internal::GroupTruth;

std::string key_text(const std::vector<Value>& key) {
  std::string text;
  for (const Value& value : key) text += std::to_string(value.index()) + ":" + to_text(value) + "|";
  return text;
}

template <class T>
std::set<std::string> keys_of(const std::map<std::string, T>& a,
                              const std::map<std::string, T>& b) {
  std::set<std::string> all;
  for (const auto& [key, value] : a) all.insert(key);
  for (const auto& [key, value] : b) all.insert(key);
  return all;
}

template <class T>
T at(const std::map<std::string, std::vector<T>>& map, const std::string& key, std::size_t i) {
  const auto found = map.find(key);
  return found == map.end() ? T{} : found->second[i];
}

int at(const std::map<std::string, int>& map, const std::string& key) {
  const auto found = map.find(key);
  return found == map.end() ? 0 : found->second;
}

/// How far the groups of one measurement moved.
struct Moved {
  Integer groups = 0, l1 = 0, l2_squared = 0, most = 0;

  void add(const Integer& by) {
    const Integer size = abs(by);
    groups += size != 0 ? 1 : 0;
    l1 += size;
    l2_squared += size * size;
    most = std::max(most, size);
  }
  bool within(const Moved& limit) const {
    return groups <= limit.groups && l1 <= limit.l1 && l2_squared <= limit.l2_squared &&
           most <= limit.most;
  }
  std::string text() const {
    return groups.str() + " groups, l1 " + l1.str() + ", l2^2 " + l2_squared.str() + ", one by " +
           most.str();
  }
};

Moved most_allowed(const Measurement& m, const Limits& limits) {
  const bool samples = m.kind == Measurement::Kind::kQuantile;
  const Integer bound = samples ? Integer(1) : Integer(m.row_bound);
  if (m.per_unit && !samples)
    return {limits.groups, limits.groups * bound, limits.groups * bound * bound, bound};
  return {limits.groups, limits.l1 * bound, limits.l2_squared * bound * bound,
          limits.rows_per_group * bound};
}

/// Nothing where values of others went.
std::optional<Moved> moved(const Measurement& m, const Measured& with, const Measured& without) {
  Moved result;
  if (m.kind == Measurement::Kind::kQuantile) {
    for (const std::string& key : keys_of(with.values, without.values)) {
      const auto more = at(with.values, key, m.source), less = at(without.values, key, m.source);
      if (!std::includes(more.begin(), more.end(), less.begin(), less.end())) return std::nullopt;
      result.add(Integer(more.size()) - Integer(less.size()));
    }
    return result;
  }
  const bool sum = m.kind == Measurement::Kind::kSum;
  const auto &a = sum ? with.sums : with.distinct, &b = sum ? without.sums : without.distinct;
  for (const std::string& key : keys_of(a, b))
    result.add(Integer(whole_number(at(a, key, m.source), m.shift)) -
               Integer(whole_number(at(b, key, m.source), m.shift)));
  return result;
}

/// What else than the keys of one unit came.
std::string other_keys(const Measured& with, const Measured& without, const Limits& limits) {
  int more = 0;
  for (const std::string& list : keys_of(with.key_lists, without.key_lists)) {
    const int by = at(with.key_lists, list) - at(without.key_lists, list);
    if (by < 0) return "keys of other units changed: " + list;
    if (by > 0 && std::count(list.begin(), list.end(), '\n') > limits.groups)
      return "a unit has too many keys: " + list;
    more += by;
  }
  return more > 1 ? "keys of several units came" : "";
}

}  // namespace

std::string cell_text(const BatchColumn& column, std::size_t row, int digits) {
  if (column.is_null(row)) return "null";
  if (column.kind == BatchColumn::Kind::kIntegers) return std::to_string(column.integers[row]);
  if (column.kind == BatchColumn::Kind::kTexts) return "'" + std::string(column.texts[row]) + "'";
  char real[40];
  std::snprintf(real, sizeof real, "%.*g", digits, column.reals[row]);
  return real;
}

Measured measured(const Plan& plan, const MeasurementDesign& design, Source& source,
                  std::uint64_t seed, unsigned threads, std::uint64_t memory) {
  const SqlQuery::Options options{
      .plan = plan, .epsilon = 1, .delta = Ratio(1, 1000), .memory = memory, .threads = threads};
  std::optional<GroupIndex> index;
  const GroupTruth truth = read_mended([&] {
    index.emplace(plan);
    testing::SeededBits bits(seed);
    return plan.unit_is_row ? internal::read_sums(options, design, source, *index)
                            : internal::read_units(options, design, source, *index, bits);
  });
  Measured result;
  const std::size_t measures = design.measures.size();
  for (std::uint32_t g = 0; g < truth.groups; ++g) {
    const std::string key = key_text(index->key(g));
    for (std::size_t m = 0; m < measures; ++m)
      result.sums[key].push_back(truth.totals.sums[g * measures + m]);
    for (std::size_t s = 0; s < design.samples.size(); ++s) {
      std::vector<std::int64_t>& values = result.values[key].emplace_back();
      if (s < truth.totals.samples.size() && !truth.totals.samples[s].offsets.empty()) {
        const GroupedValues& all = truth.totals.samples[s];
        values.assign(all.values.begin() + static_cast<std::ptrdiff_t>(all.offsets[g]),
                      all.values.begin() + static_cast<std::ptrdiff_t>(all.offsets[g + 1]));
      }
      result.distinct[key].push_back(design.samples[s].distinct ? truth.distinct[s][g] : 0);
    }
  }
  const UnitKeys& units = truth.totals.unit_keys;
  for (std::size_t u = 0; u + 1 < units.offsets.size(); ++u) {
    std::set<std::string> own;
    for (std::uint64_t i = units.offsets[u]; i < units.offsets[u + 1]; ++i)
      own.insert(key_text(index->key(units.keys[i])));
    std::string list;
    for (const std::string& each : own) list += each + "\n";
    ++result.key_lists[list];
  }
  return result;
}

Limits::Limits(const Plan& plan, const MeasurementDesign& design) {
  const Bounds bounds = plan.unit_is_row ? Bounds{1, 1, 1} : plan.bounds;
  groups = bounds.groups_per_unit;
  if (design.groups > 0) groups = std::min<Integer>(groups, design.groups);
  Integer left = bounds.rows_per_unit;
  rows_per_group = std::min<Integer>(bounds.rows_per_group, left);
  for (Integer g = 0; g < groups && left > 0; ++g) {
    const Integer rows = std::min<Integer>(rows_per_group, left);
    l1 += rows;
    l2_squared += rows * rows;
    left -= rows;
  }
}

std::string refuted(const Measured& with, const Measured& without, const MeasurementDesign& design,
                    const Limits& limits, bool one_less) {
  for (const Measurement& m : design.measurements) {
    const std::optional<Moved> by = moved(m, with, without);
    if (!by) return m.of + " lost values of others";
    Moved allowed = most_allowed(m, limits);
    allowed.l1 -= one_less ? 1 : 0;
    if (!by->within(allowed)) return m.of + " moved " + by->text() + "; allowed: " + allowed.text();
  }
  return design.groups == 0 ? other_keys(with, without, limits) : "";
}

std::string too_little_noise(const MeasurementDesign& design, const Limits& limits) {
  Ratio weights = design.key_weight;
  for (const Measurement& m : design.measurements) {
    weights += m.weight;
    const Moved most = most_allowed(m, limits);
    const bool laplace = m.noise == Measurement::Noise::kLaplace;
    const bool gaussian = m.noise == Measurement::Noise::kGaussian;
    if (laplace && m.sensitivity < Ratio(most.l1)) return m.of;
    if (gaussian && Ratio(m.sensitivity * m.sensitivity) < Ratio(most.l2_squared)) return m.of;
    if (gaussian && Integer(m.moved) < limits.groups) return m.of;
  }
  return weights == 1 || design.measurements.empty() ? "" : "shares do not add up";
}

}  // namespace gauze::sql_test
