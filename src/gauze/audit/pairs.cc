#include "gauze/audit/pairs.h"

#include <algorithm>
#include <cmath>

#include "gauze/base/error.h"

namespace gauze::audit {
namespace {

using Data = std::vector<double>;

Data repeated(std::size_t count, double value) {
  return Data(count, value);
}

Data with(Data data, double value) {
  data.push_back(value);
  return data;
}

/// What a person might bring besides the ends of the range.
constexpr double kNoNumber = std::numeric_limits<double>::quiet_NaN();

NumberPairs somebody_more(double lower, double upper, double outside) {
  const double middle = lower + (upper - lower) / 2;
  const Data many = repeated(40, middle);
  const Data few = repeated(3, middle);
  const Data low = repeated(4, lower);
  const Data high = repeated(4, upper);
  const Data halves = {lower, lower, upper, upper};
  return {
      {"nobody, and one person at the upper bound", {}, {upper}},
      {"nobody, and one person at the lower bound", {}, {lower}},
      {"nobody, and one person in the middle", {}, {middle}},
      {"one person, and another at the upper bound", {middle}, {middle, upper}},
      {"one person, and another at the lower bound", {upper}, {upper, lower}},
      {"four at the lower bound, and one at the upper", low, with(low, upper)},
      {"four at the upper bound, and one at the lower", high, with(high, lower)},
      {"two at each bound, and one more at the upper", halves, with(halves, upper)},
      {"forty in the middle, and one at the upper bound", many, with(many, upper)},
      {"three in the middle, and one at the lower bound", few, with(few, lower)},
      {"three in the middle, and one at the upper bound", few, with(few, upper)},
      {"two people, and one far outside the bounds", {middle, middle}, {middle, middle, outside}},
      {"two people, and one without a number", {middle, middle}, {middle, middle, kNoNumber}}};
}

NumberPairs somebody_else(double lower, double upper, double outside) {
  const double middle = lower + (upper - lower) / 2;
  const Data many = repeated(40, middle);
  const Data low = repeated(4, lower);
  const Data high = repeated(4, upper);
  const Data halves = {lower, lower, upper, upper};
  return {{"one person at either bound", {lower}, {upper}},
          {"one person at the lower bound or in the middle", {lower}, {middle}},
          {"all at the lower bound, or one at the upper", with(low, lower), with(low, upper)},
          {"all at the upper bound, or one at the lower", with(high, upper), with(high, lower)},
          {"two at each bound, and one at either", with(halves, lower), with(halves, upper)},
          {"forty in the middle, and one at either bound", with(many, lower), with(many, upper)},
          {"two people, and one at a bound or far outside",
           {middle, middle, lower},
           {middle, middle, outside}},
          {"two people, and one with or without a number",
           {middle, middle, upper},
           {middle, middle, kNoNumber}}};
}

}  // namespace

NumberPairs people(double lower, double upper, Relation relation) {
  require(lower < upper, "bounds: lower must be below upper");
  require(relation == Relation::kAddRemove || relation == Relation::kReplace,
          "relation: must be add_remove or replace");
  const double outside = upper + 1000 * (upper - lower) + 1;
  NumberPairs pairs = relation == Relation::kAddRemove ? somebody_more(lower, upper, outside)
                                                       : somebody_else(lower, upper, outside);
  Data spread;
  for (int i = 0; i <= 4; ++i) spread.push_back(lower + (upper - lower) * i / 4);
  pairs.push_back({"the same people in another order",
                   spread,
                   {spread.rbegin(), spread.rend()},
                   /*same=*/true});
  return pairs;
}

NumberPairs heaps(double low, double high, double far, Relation relation) {
  NumberPairs pairs;
  const auto add = [&](const std::string& name, const Data& common, double one, double other) {
    if (relation == Relation::kReplace)
      pairs.push_back({name + ", and one at either", with(common, one), with(common, other)});
    else
      pairs.push_back({name + ", and one more", common, with(common, other)});
  };
  for (const std::size_t size : {4, 8, 12}) {
    Data both = repeated(size, low);
    both.resize(2 * size, high);
    const std::string name = std::to_string(size) + " at each of two places";
    if (size == 8) add(name, both, low, high);
    both.resize(2 * size + 2, high);
    add(name + " and two more", both, low, low + (high - low) / 2);
  }
  for (const std::size_t size : {4, 8}) {
    Data three = repeated(2 * size, low);
    three.resize(3 * size, high);
    three.resize(4 * size, far);
    add(std::to_string(size) + " at each of two places, twice as many at a third", three, low, far);
  }
  return pairs;
}

NumberPairs counts(std::size_t cells, std::uint64_t rows_per_unit) {
  require(cells >= 1, "cells: must be at least 1");
  const auto rows = static_cast<double>(rows_per_unit);
  const Data empty(cells, 0);
  const Data even(cells, 3);
  Data ramp(cells);
  for (std::size_t i = 0; i < cells; ++i) ramp[i] = static_cast<double>(i % 7);
  Data peak(cells, 0);
  peak[cells / 2] = 50;
  const auto moved = [&](Data data, std::size_t cell, double by) {
    data[cell] += by;
    return data;
  };
  Data spread = empty;
  for (std::size_t i = 0; i < std::min<std::size_t>(cells, rows_per_unit); ++i) spread[i] += 1;
  NumberPairs pairs = {
      {"no rows, and a person in the first cell", empty, moved(empty, 0, rows)},
      {"no rows, and a person in the last cell", empty, moved(empty, cells - 1, rows)},
      {"even counts, and a person more", even, moved(even, cells / 2, rows)},
      {"uneven counts, and a person more", ramp, moved(ramp, cells - 1, rows)},
      {"one full cell, and a person more in it", peak, moved(peak, cells / 2, rows)},
      {"one full cell, and a person elsewhere", peak, moved(peak, 0, rows)}};
  if (rows_per_unit > 1 && cells > 1)
    pairs.push_back({"no rows, and a person in several cells", empty, spread});
  return pairs;
}

NumberPairs scores(std::size_t candidates, double sensitivity, bool monotone, double level) {
  require(candidates >= 1, "candidates: must be at least 1");
  require(sensitivity > 0, "sensitivity: must be above 0");
  const double s = sensitivity;
  const Data flat(candidates, level);
  const auto all = [&](double value) { return Data(candidates, level + value); };
  const auto but_first = [&](Data data, double value) {
    data.front() = level + value;
    return data;
  };
  const auto halves = [&](double one, double other) {
    Data data(candidates, level + other);
    std::fill_n(data.begin(), (candidates + 1) / 2, level + one);
    return data;
  };
  NumberPairs pairs = {{"all alike, and the first better", flat, but_first(flat, s)},
                       {"all alike, and the rest better", flat, but_first(all(s), 0)},
                       {"all alike, and half better", flat, halves(s, 0)},
                       {"all alike, and all better", flat, all(s)},
                       {"the first ahead, and the rest level with it", but_first(flat, s), all(s)},
                       {"all but the last behind, and the last better",
                        with(Data(candidates - 1, level - s), level - s),
                        with(Data(candidates - 1, level - s), level)}};
  if (monotone) return pairs;
  const NumberPairs more = {
      {"all alike, and the first better, the rest worse", flat, but_first(all(-s), s)},
      {"all alike, and the first worse, the rest better", flat, but_first(all(s), -s)},
      {"all alike, and half better, half worse", flat, halves(s, -s)},
      {"one half ahead, or the other", halves(0, s), halves(s, 0)},
      {"one half behind, or the other", halves(-s, 0), halves(0, -s)},
      {"only the last ahead, or all but the last", with(Data(candidates - 1, level), level + s),
       with(Data(candidates - 1, level + s), level)}};
  pairs.insert(pairs.end(), more.begin(), more.end());
  return pairs;
}

NumberPairs comparisons(std::uint64_t positives, double sensitivity, bool monotone, double level) {
  require(sensitivity > 0, "sensitivity: must be above 0");
  const std::size_t last = std::min<std::uint64_t>(positives, 16);
  NumberPairs pairs;
  const auto add = [&](std::size_t below, double base) {
    const auto data = [&](double moved, double end) {
      Data all(below, base + moved);
      all.resize(below + last, level + end);
      return all;
    };
    pairs.push_back({std::to_string(below) + " answers moved up, the rest " +
                         (monotone ? "not at all" : "down"),
                     data(0, 0), data(sensitivity, monotone ? 0 : -sensitivity)});
  };
  add(8, level);
  add(16, level - 2 * sensitivity);
  return pairs;
}

NumberPairs answers(std::size_t dimension, double sensitivity, Norm norm, bool whole) {
  require(dimension >= 1, "dimension: must be at least 1");
  require(sensitivity > 0, "sensitivity: must be above 0");
  const double all_at_once = whole ? std::floor(sensitivity) : sensitivity;
  const auto d = static_cast<double>(dimension);
  const double each = norm == Norm::kL1 ? sensitivity / d : sensitivity / std::sqrt(d);
  const auto step = [&](double base, double by) {
    Data data(dimension, base);
    data.front() += by;
    return data;
  };
  // Far from 0 doubles are coarser: sums of doubles and noise would show it.
  const double far = std::ldexp(1, 20);
  NumberPairs pairs = {{"zero, and one answer moved up", step(0, 0), step(0, all_at_once)},
                       {"zero, and one answer moved down", step(0, 0), step(0, -all_at_once)},
                       {"large answers, and one moved", step(far, 0), step(far, all_at_once)}};
  if (!whole) {
    const double third = sensitivity / 3;
    pairs.push_back(
        {"answers that are no binary fractions", step(third, 0), step(third, -sensitivity)});
  }
  const double spread = whole ? std::floor(each) : each;
  if (dimension > 1 && spread > 0) {
    Data zigzag(dimension, spread);
    for (std::size_t i = 1; i < dimension; i += 2) zigzag[i] = -spread;
    pairs.push_back(
        {"zero, and all answers moved up", Data(dimension, 0), Data(dimension, spread)});
    pairs.push_back({"zero, and all answers moved to and fro", Data(dimension, 0), zigzag});
  }
  return pairs;
}

LinePairs words(std::uint64_t keys_per_unit, Relation relation) {
  require(relation == Relation::kAddRemove || relation == Relation::kReplace,
          "relation: must be add_remove or replace");
  const auto bundle = [](std::uint64_t count) {
    std::string keys;
    for (std::uint64_t i = 0; i < count; ++i)
      keys.append(i == 0 ? "k" : ";k").append(std::to_string(i));
    return keys;
  };
  const std::string full = bundle(std::min<std::uint64_t>(keys_per_unit, 64));
  const std::string too_full = bundle(std::min<std::uint64_t>(keys_per_unit, 64) + 8);
  const Lines few(3, full);
  const Lines some(4, full);
  const Lines many(12, full);
  const auto plus = [](Lines lines, const std::string& more) {
    lines.push_back(more);
    return lines;
  };
  const Neighbours<Lines> same = {"the same people in another order",
                                  plus(few, "rare"),
                                  {"rare", full, full, full},
                                  /*same=*/true};
  if (relation == Relation::kReplace) {
    return {
        {"one person with one key or another", {"k0"}, {"rare"}},
        {"one person with one key or all the keys allowed", {"rare"}, {full}},
        {"one person with one key or more than count", {"rare"}, {too_full}},
        {"three with the same keys, and one like them or not", plus(few, full), plus(few, "rare")},
        {"four with the same keys, and one like them or not", plus(some, full), plus(some, "rare")},
        {"twelve with the same keys, and one like them or not", plus(many, full),
         plus(many, "rare")},
        same};
  }
  return {{"nobody, and one person with one key", {}, {"k0"}},
          {"nobody, and one person with all the keys allowed", {}, {full}},
          {"nobody, and one person with more keys than count", {}, {too_full}},
          {"three with the same keys, and a fourth", few, plus(few, full)},
          {"four with the same keys, and a fifth", some, plus(some, full)},
          {"twelve with the same keys, and one more", many, plus(many, full)},
          {"three with the same keys, and one with another", few, plus(few, "rare")},
          same};
}

NumberPairs local_answers(std::uint64_t options) {
  require(options >= 2, "options: must be at least 2");
  NumberPairs pairs = {{"the first answer, or the last", {0}, {static_cast<double>(options - 1)}}};
  if (options > 2) pairs.push_back({"the first answer, or the second", {0}, {1}});
  return pairs;
}

LinePairs lines_of(const NumberPairs& pairs) {
  const auto lines = [](const Data& data) {
    Lines result;
    for (const double number : data) result.push_back(shortest(number));
    return result;
  };
  LinePairs result;
  for (const auto& pair : pairs)
    result.push_back({pair.name, lines(pair.first), lines(pair.second), pair.same});
  return result;
}

}  // namespace gauze::audit
