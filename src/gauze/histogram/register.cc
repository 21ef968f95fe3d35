#include "gauze/histogram/register.h"

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "gauze/base/error.h"
#include "gauze/base/words.h"
#include "gauze/histogram/histogram_method.h"
#include "gauze/histogram/histogram_task.h"
#include "gauze/histogram/register_internal.h"
#include "gauze/registry/neighbours.h"

namespace gauze {
namespace {

Algorithm algorithm_of(HistogramEntry entry) {
  Algorithm algorithm = entry.about;
  algorithm.kind = points_kind();
  const auto shared = std::make_shared<const HistogramEntry>(std::move(entry));
  algorithm.make = [shared](const Asked& asked) { return histogram_task(shared, asked); };
  algorithm.neighbours = counts_of_cells;
  return algorithm;
}

Family family_of(std::string heading, std::vector<HistogramEntry> entries) {
  Family family{std::move(heading), {}};
  for (HistogramEntry& each : entries) family.algorithms.push_back(algorithm_of(std::move(each)));
  return family;
}

}  // namespace

std::vector<Family> histogram_families() {
  return {family_of("Counts over a domain", internal::cell_histograms()),
          family_of("Counts of points in space", internal::point_histograms())};
}

std::vector<HistogramEntry> histogram_entries() {
  std::vector<HistogramEntry> all = internal::cell_histograms();
  for (HistogramEntry& each : internal::point_histograms()) all.push_back(std::move(each));
  return all;
}

HistogramEntry find_histogram(std::string_view name) {
  std::vector<std::string> names;
  for (HistogramEntry& each : histogram_entries()) {
    if (each.about.name == name) return std::move(each);
    names.push_back(each.about.name);
  }
  const std::string asked(name.substr(0, 40));
  throw Error(ErrorCode::kUnknownName,
              "there is no histogram '" + asked + "'" + did_you_mean(asked, names));
}

}  // namespace gauze
