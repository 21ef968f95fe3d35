// Accuracy and time of every histogram method on arrays of counts: one CSV. `bench/histogram` calls it.
//
//   histogram_bench FOLDER [--scales 1e3,1e6] [--epsilons 0.1] [--trials 3] [--methods a,b] [--arrays a,b]
//                          [--decide 400] [--merge 4] [--boxes 2000] [--sets 1] [--way 2]
//
// With --decide, wherever auto_histogram seems to have more than 1.4 times the error of the best method, it and
// all that seem better by a fifth are measured anew with so many releases. Their lines follow once more; the
// last one counts. With --merge, so many neighbours along each axis are one cell. --boxes is how many random ranges
// are asked; 0 takes the mean over all there are, so that no chance of the questions decides. With --sets there are
// so many sets of them, each with its own releases; methods called :asked are told each. With --way the questions are the
// entries of all tables of so many axes, of which methods called :marginals are told.
//
// Arrays are resampled to a scale: that many rows, each in a cell with the probability the array gives
// it. The error is the root of the mean squared error over the questions of a workload and all trials.
#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <numeric>
#include <optional>
#include <random>
#include <set>

#include "gauze/base/error.h"
#include "gauze/engine/release.h"
#include "gauze/histogram/histogram_method.h"
#include "gauze/random/system_bits.h"

namespace gauze {
namespace {

struct Array {
  std::string name;
  Shape shape;
  std::vector<double> counts;
};

/// NumPy's format, version 1: little-endian integers or doubles, in C order.
Array read_array(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::vector<char> bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const std::size_t header =
      static_cast<unsigned char>(bytes[8]) + 256u * static_cast<unsigned char>(bytes[9]);
  const std::string text(bytes.data() + 10, header);
  const char* data = bytes.data() + 10 + header;
  Array array{path.stem().string(), {}, {}};
  std::size_t at = text.find('(') + 1;
  while (text[at] != ')') {
    char* end = nullptr;
    array.shape.extents.push_back(
        static_cast<std::uint32_t>(std::strtoul(text.c_str() + at, &end, 10)));
    at = text.find_first_of(",)", static_cast<std::size_t>(end - text.c_str()));
    while (text[at] == ',' || text[at] == ' ') ++at;
  }
  const std::string type = text.substr(text.find("'descr': '") + 11, 2);
  for (std::uint64_t i = 0; i < array.shape.cells(); ++i) {
    const auto as = [&](auto value) {
      std::memcpy(&value, data + i * sizeof value, sizeof value);
      array.counts.push_back(static_cast<double>(value));
    };
    if (type == "f8")
      as(double{});
    else if (type == "f4")
      as(float{});
    else if (type == "i4")
      as(std::int32_t{});
    else
      as(std::int64_t{});
  }
  return array;
}

/// The array with so many neighbours along each axis as one cell.
Array merged(const Array& array, std::uint32_t neighbours) {
  Array result{array.name, {}, {}};
  for (const std::uint32_t extent : array.shape.extents)
    result.shape.extents.push_back((extent + neighbours - 1) / neighbours);
  result.counts.assign(result.shape.cells(), 0.0);
  for (std::size_t i = 0; i < array.counts.size(); ++i) {
    std::size_t rest = i;
    std::size_t cell = 0;
    std::size_t stride = 1;
    for (std::size_t axis = array.shape.axes(); axis-- > 0;) {
      cell += rest % array.shape.extents[axis] / neighbours * stride;
      rest /= array.shape.extents[axis];
      stride *= result.shape.extents[axis];
    }
    result.counts[cell] += array.counts[i];
  }
  return result;
}

std::vector<std::int64_t> resampled(const Array& array, double rows, std::mt19937_64& generator) {
  double left_weight = 0;
  for (const double count : array.counts) left_weight += count;
  auto left = static_cast<std::int64_t>(rows);
  std::vector<std::int64_t> counts(array.counts.size(), 0);
  for (std::size_t i = 0; i < counts.size() && left > 0; ++i) {
    const double share = std::min(1.0, array.counts[i] / left_weight);
    if (share > 0) counts[i] = std::binomial_distribution<std::int64_t>(left, share)(generator);
    left -= counts[i];
    left_weight -= array.counts[i];
  }
  return counts;
}

/// Sums of all boxes from the origin.
std::vector<double> running(const Shape& shape, std::vector<double> cells) {
  std::size_t stride = 1;
  for (std::size_t axis = shape.axes(); axis-- > 0;) {
    for (std::size_t i = 0; i < cells.size(); ++i)
      if (i / stride % shape.extents[axis] != 0) cells[i] += cells[i - stride];
    stride *= shape.extents[axis];
  }
  return cells;
}

using Questions = std::vector<Box>;

/// Random boxes, every pair of edges of an axis equally likely.
Questions random_boxes(const Shape& shape, std::size_t count, std::mt19937_64& generator) {
  Questions boxes;
  while (boxes.size() < count) {
    Box box;
    for (const std::uint32_t extent : shape.extents) {
      std::uniform_int_distribution<std::uint32_t> cell(0, extent - 1);
      const std::uint32_t one = cell(generator);
      const std::uint32_t other = cell(generator);
      box.begin.push_back(std::min(one, other));
      box.end.push_back(std::max(one, other) + 1);
    }
    boxes.push_back(box);
  }
  return boxes;
}

/// The entries of all tables of so many axes.
Questions tables(const Shape& shape, std::size_t way) {
  Questions boxes;
  for (std::size_t kept = 0; kept < std::size_t{1} << shape.axes(); ++kept) {
    if (static_cast<std::size_t>(std::popcount(kept)) != way) continue;
    Questions table = {{}};
    for (std::size_t axis = 0; axis < shape.axes(); ++axis) {
      Questions longer;
      for (const Box& box : table) {
        const std::uint32_t cells = (kept >> axis & 1) != 0 ? 1 : shape.extents[axis];
        for (std::uint32_t begin = 0; begin < shape.extents[axis]; begin += cells) {
          longer.push_back(box);
          longer.back().begin.push_back(begin);
          longer.back().end.push_back(begin + cells);
        }
      }
      table = std::move(longer);
    }
    boxes.insert(boxes.end(), table.begin(), table.end());
  }
  return boxes;
}

/// The first and the last cell along each axis, one box after the other.
nlohmann::json ends_of(const Questions& boxes) {
  nlohmann::json ends = nlohmann::json::array();
  for (const Box& box : boxes) {
    for (std::size_t axis = 0; axis < box.begin.size(); ++axis) {
      ends.push_back(box.begin[axis]);
      ends.push_back(box.end[axis] - 1);
    }
  }
  return ends;
}

double sum_of(const Shape& shape, const std::vector<double>& sums, const Box& box) {
  double total = 0;
  for (std::size_t corner = 0; corner < std::size_t{1} << shape.axes(); ++corner) {
    std::size_t cell = 0;
    double sign = 1;
    bool inside = true;
    for (std::size_t axis = 0; axis < shape.axes(); ++axis) {
      const bool low = (corner >> axis & 1) != 0;
      const std::uint32_t edge = low ? box.begin[axis] : box.end[axis];
      if (low) sign = -sign;
      if (edge == 0) inside = false;
      cell = cell * shape.extents[axis] + edge - 1;
    }
    if (inside) total += sign * sums[cell];
  }
  return total;
}

/// The mean square of the sums of all boxes, every pair of edges of an axis equally likely, from the sums of
/// boxes from the origin. On an axis of n cells, with x the sums up to its n + 1 edges, that is
/// 2/n^2 sum over a < b of (x_b - x_a)^2, less half of that for neighbours: a quadratic form, and so for each axis.
double mean_square_of_all_boxes(const Shape& shape, const std::vector<double>& sums) {
  std::size_t edges = 1;
  for (const std::uint32_t extent : shape.extents) edges *= extent + 1u;
  std::vector<double> at(edges, 0.0);
  for (std::size_t i = 0; i < sums.size(); ++i) {
    std::size_t rest = i;
    std::size_t edge = 0;
    std::size_t stride = 1;
    for (std::size_t axis = shape.axes(); axis-- > 0;) {
      edge += (rest % shape.extents[axis] + 1) * stride;
      rest /= shape.extents[axis];
      stride *= shape.extents[axis] + 1u;
    }
    at[edge] = sums[i];
  }
  std::vector<double> form = at;
  std::size_t stride = 1;
  for (std::size_t axis = shape.axes(); axis-- > 0;) {
    const std::size_t cells = shape.extents[axis];
    const auto n = static_cast<double>(cells);
    std::vector<double> x(cells + 1);
    for (std::size_t first = 0; first < edges; ++first) {
      if (first / stride % (cells + 1) != 0) continue;
      double sum = 0;
      for (std::size_t i = 0; i <= cells; ++i) sum += x[i] = form[first + i * stride];
      for (std::size_t i = 0; i <= cells; ++i) {
        const double steps = (i > 0 ? x[i] - x[i - 1] : 0.0) + (i < cells ? x[i] - x[i + 1] : 0.0);
        form[first + i * stride] = (2 * ((n + 1) * x[i] - sum) - steps) / (n * n);
      }
    }
    stride *= cells + 1;
  }
  return std::inner_product(at.begin(), at.end(), form.begin(), 0.0);
}

/// Mean squared errors of cells, prefixes and random ranges.
struct Errors {
  double cells = 0, prefixes = 0, ranges = 0;
};

Errors errors_of(const Shape& shape, const std::vector<std::int64_t>& truth,
                 const std::vector<double>& answer, const Questions& ranges) {
  std::vector<double> difference(truth.size());
  Errors errors;
  for (std::size_t i = 0; i < truth.size(); ++i) {
    difference[i] = answer[i] - static_cast<double>(truth[i]);
    errors.cells += difference[i] * difference[i];
  }
  const std::vector<double> sums = running(shape, difference);
  for (const double sum : sums) errors.prefixes += sum * sum;
  for (const Box& box : ranges) errors.ranges += std::pow(sum_of(shape, sums, box), 2);
  if (ranges.empty()) errors.ranges = mean_square_of_all_boxes(shape, sums);
  errors.cells /= static_cast<double>(truth.size());
  errors.prefixes /= static_cast<double>(truth.size());
  errors.ranges /= static_cast<double>(std::max<std::size_t>(1, ranges.size()));
  return errors;
}

/// A method by its name, with the options of the workload: `dawa:cells`.
struct Contender {
  std::string label, algorithm;
  nlohmann::json options;
};

std::vector<Contender> contenders() {
  std::vector<Contender> all;
  for (const HistogramEntry& entry : histogram_entries()) {
    const Algorithm& each = entry.about;
    const auto has = [&](const char* name) {
      return std::any_of(each.options.begin(), each.options.end(),
                         [&](const OptionSpec& option) { return option.name == name; });
    };
    if (has("workload") && !has("aim")) {
      for (const char* workload : {"cells", "prefixes", "ranges", "asked", "marginals"})
        if (each.name != "auto_histogram" || workload != std::string("prefixes"))
          all.push_back({each.name + ":" + workload, each.name, {{"workload", workload}}});
    } else if (has("split")) {
      for (const char* split : {"median", "balanced", "guided"})
        all.push_back({each.name + ":" + split, each.name, {{"split", split}}});
    } else if (has("aim")) {
      for (const char* aim : {"cells", "ranges"})
        all.push_back({each.name + ":" + aim, each.name, {{"aim", aim}}});
      if (has("asked")) all.push_back({each.name + ":asked", each.name, {{"workload", "asked"}}});
    } else {
      all.push_back({each.name, each.name, nlohmann::json::object()});
    }
  }
  return all;
}

struct Plan {
  std::vector<double> scales = {1e3, 1e4, 1e5, 1e6, 1e7, 1e8};
  std::vector<double> epsilons = {0.1};
  int trials = 3;
  int decide = 0;  ///< releases where a comparison is open
  std::uint32_t merge = 1;
  std::size_t boxes = 2000;  ///< random ones, 0 for all there are
  std::size_t sets = 1;      ///< of random boxes, each with its own releases
  std::size_t way = 0;       ///< all tables of so many axes instead; 0 for none
  std::vector<std::string> methods, arrays;
};

bool chosen(const std::vector<std::string>& names, const std::string& name) {
  if (names.empty()) return true;
  return std::any_of(names.begin(), names.end(),
                     [&](const std::string& each) { return name.starts_with(each); });
}

/// The method on a shape; made once, for some search long for their strategy.
const HistogramMethod& method_of(const Contender& contender, const Shape& shape) {
  static std::map<std::string, HistogramMethod> made;
  std::string key = contender.label + contender.options.dump();
  for (const std::uint32_t extent : shape.extents) key.append(",").append(std::to_string(extent));
  const auto found = made.find(key);
  if (found != made.end()) return found->second;
  const HistogramEntry entry = find_histogram(contender.algorithm);
  return made.emplace(key, entry.on(OptionValues(entry.about.options, contender.options), shape))
      .first->second;
}

/// Root mean squared errors, and the time of a release.
struct Result {
  Errors errors;
  double seconds = 0;
};

/// A method on an array at a scale; nothing if it is not for this shape.
std::optional<Result> result_of(const Contender& contender, const Array& array, double scale,
                                const Questions& ranges, int trials, std::mt19937_64& generator) {
  Errors sum;
  double seconds = 0;
  try {
    const HistogramMethod& method = method_of(contender, array.shape);
    for (int trial = 0; trial < trials; ++trial) {
      const std::vector<std::int64_t> truth = resampled(array, scale, generator);
      const Points points = points_of(array.shape, truth);
      SystemBits bits;
      Meter meter(method.event);
      Context context{meter, bits};
      const auto start = std::chrono::steady_clock::now();
      const auto released = method.run(points, context);
      seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      const Errors errors = errors_of(array.shape, truth, released.value.cells(), ranges);
      sum.cells += errors.cells;
      sum.prefixes += errors.prefixes;
      sum.ranges += errors.ranges;
    }
  } catch (const Error&) {
    return std::nullopt;
  }
  return Result{{std::sqrt(sum.cells / trials), std::sqrt(sum.prefixes / trials),
                 std::sqrt(sum.ranges / trials)},
                seconds / trials};
}

using Results = std::map<std::string, Result>;  // by the label of the method

/// Those whose comparison with auto_histogram is open, for the questions their aim suits.
std::set<std::string> undecided(const Results& results) {
  std::set<std::string> open;
  for (const auto& [error, name] : {std::pair(&Errors::cells, "auto_histogram:cells"),
                                    std::pair(&Errors::prefixes, "auto_histogram:ranges"),
                                    std::pair(&Errors::ranges, "auto_histogram:ranges")}) {
    const auto own = results.find(name);
    if (own == results.end()) continue;
    std::set<std::string> better = {own->first};
    bool is_open = false;
    for (const auto& [label, result] : results) {
      const bool has_aim = label.ends_with(":cells") || label.ends_with(":ranges");
      const bool other_aim = has_aim && label.ends_with(":cells") != (error == &Errors::cells);
      const double ratio = own->second.errors.*error / result.errors.*error;
      if (other_aim || ratio < 1.2) continue;
      better.insert(label);
      is_open = is_open || ratio > 1.4;
    }
    if (is_open) open.merge(better);
  }
  return open;
}

/// Of results with as many releases each.
Result joined(const std::vector<Result>& results) {
  Result all;
  for (const auto error : {&Errors::cells, &Errors::prefixes, &Errors::ranges}) {
    double squares = 0;
    for (const Result& each : results) squares += std::pow(each.errors.*error, 2);
    all.errors.*error = std::sqrt(squares / static_cast<double>(results.size()));
  }
  for (const Result& each : results)
    all.seconds += each.seconds / static_cast<double>(results.size());
  return all;
}

void measure(const Array& array, double scale, double epsilon, const Plan& plan,
             std::mt19937_64& generator) {
  std::vector<Questions> sets;
  for (std::size_t i = 0; i < plan.sets; ++i)
    sets.push_back(plan.way > 0 ? tables(array.shape, plan.way)
                                : random_boxes(array.shape, plan.boxes, generator));
  std::vector<Contender> all = contenders();
  Results results;
  const auto add = [&](Contender each, int trials, std::uint64_t seed) {
    std::mt19937_64 rows(seed);  // the same for all methods
    std::vector<Result> of_sets;
    for (const Questions& ranges : sets) {
      if (each.label.ends_with(":asked")) each.options["asked"] = ends_of(ranges);
      const auto one = result_of(each, array, scale, ranges, trials, rows);
      if (!one) return;
      of_sets.push_back(*one);
    }
    const Result result = joined(of_sets);
    results[each.label] = result;
    std::printf("%s,%s,%g,%g,%.6g,%.6g,%.6g,%.4g\n", each.label.c_str(), array.name.c_str(), scale,
                epsilon, result.errors.cells, result.errors.prefixes, result.errors.ranges,
                result.seconds);
    std::fflush(stdout);
  };
  const std::uint64_t first = generator();
  for (Contender& each : all) {
    each.options["epsilon"] = nlohmann::json(epsilon).dump();
    each.options["rows_per_unit"] = "1";
    each.options["cells"] = "1";
    if (each.algorithm == "structure_first")
      each.options["count_limit"] = std::to_string(
          1 + static_cast<std::int64_t>(scale / static_cast<double>(array.counts.size())));
    if (each.label.ends_with(":marginals")) each.options["way"] = std::to_string(plan.way);
    if (chosen(plan.methods, each.label)) add(each, plan.trials, first);
  }
  if (plan.decide == 0) return;
  const std::set<std::string> open = undecided(results);
  const std::uint64_t second = generator();
  for (const Contender& each : all)
    if (open.contains(each.label)) add(each, plan.decide, second);
}

std::vector<std::string> words(const std::string& text) {
  std::vector<std::string> list;
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t to = std::min(text.find(',', from), text.size());
    list.push_back(text.substr(from, to - from));
    from = to + 1;
  }
  return list;
}

std::vector<double> numbers(const std::string& text) {
  std::vector<double> list;
  for (const std::string& word : words(text)) list.push_back(std::stod(word));
  return list;
}

int run(int argc, char** argv) {
  Plan plan;
  for (int i = 2; i + 1 < argc; i += 2) {
    const std::string option = argv[i];
    const std::string value = argv[i + 1];
    if (option == "--scales") plan.scales = numbers(value);
    if (option == "--epsilons") plan.epsilons = numbers(value);
    if (option == "--trials") plan.trials = std::stoi(value);
    if (option == "--decide") plan.decide = std::stoi(value);
    if (option == "--merge") plan.merge = static_cast<std::uint32_t>(std::stoul(value));
    if (option == "--boxes") plan.boxes = std::stoul(value);
    if (option == "--sets") plan.sets = std::stoul(value);
    if (option == "--way") plan.way = std::stoul(value);
    if (option == "--methods") plan.methods = words(value);
    if (option == "--arrays") plan.arrays = words(value);
  }
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(argv[1]))
    if (entry.path().extension() == ".npy") paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  std::mt19937_64 generator(20161101);
  std::printf("method,array,scale,epsilon,cells,prefixes,ranges,seconds\n");
  for (const auto& path : paths) {
    const Array array = merged(read_array(path), plan.merge);
    if (!chosen(plan.arrays, array.name)) continue;
    for (const double epsilon : plan.epsilons)
      for (const double scale : plan.scales) measure(array, scale, epsilon, plan, generator);
  }
  return 0;
}

}  // namespace
}  // namespace gauze

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: histogram_bench FOLDER [--scales ...] [--epsilons ...]\n");
    return 2;
  }
  return gauze::run(argc, argv);
}
