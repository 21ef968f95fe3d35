#include "gauze/registry/neighbours.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include "gauze/base/error.h"

namespace gauze {

audit::NumberPairs joined(audit::NumberPairs pairs, audit::NumberPairs more) {
  std::move(more.begin(), more.end(), std::back_inserter(pairs));
  return pairs;
}

audit::NumberPairs people_between(double lower, double high, double upper, Relation relation) {
  audit::NumberPairs pairs = audit::people(lower, upper, relation);
  if (relation != Relation::kReplace) return pairs;
  return joined(std::move(pairs), audit::heaps(lower, high, upper, relation));
}

audit::LinePairs people_within_bounds(const OptionValues& values) {
  const double upper = values.real("upper");
  return audit::lines_of(people_between(values.real("lower"), upper, upper, values.relation()));
}

audit::LinePairs counts_of_cells(const OptionValues& values) {
  std::size_t cells = 1;
  for (const std::uint64_t extent : values.wholes("cells")) cells *= extent;
  require(cells <= 4096, "cells: must be at most 4096 altogether for an audit");
  return audit::lines_of(audit::counts(cells, values.whole("rows_per_unit")));
}

audit::LinePairs moved_vectors(const OptionValues& values, const char* sensitivity,
                               std::uint64_t dimension, bool whole) {
  const bool l1 = std::string_view(sensitivity) == "l1_sensitivity";
  return audit::lines_of(audit::answers(std::max<std::uint64_t>(dimension, 1),
                                        values.real(sensitivity),
                                        l1 ? audit::Norm::kL1 : audit::Norm::kL2, whole));
}

audit::LinePairs scored_candidates(const OptionValues& values) {
  return audit::lines_of(
      audit::scores(kAuditedCandidates, values.real("sensitivity"), values.flag("monotone")));
}

audit::NumberPairs answers_about_threshold(const OptionValues& values, std::uint64_t positives,
                                           bool monotone) {
  const double level = values.real("threshold");
  const double sensitivity = values.real("sensitivity");
  return joined(audit::comparisons(positives, sensitivity, monotone, level),
                audit::scores(kAuditedCandidates, sensitivity, monotone, level));
}

}  // namespace gauze
