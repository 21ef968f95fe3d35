#include "gauze/registry/auditing.h"

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "gauze/base/error.h"
#include "gauze/random/system_bits.h"

namespace gauze {
namespace {

/// Everything a release says, as numbers where it says nothing else.
void flatten(const nlohmann::ordered_json& json, std::vector<double>& numbers, bool& only_numbers) {
  if (json.is_number()) {
    numbers.push_back(json.get<double>());
  } else if (json.is_boolean()) {
    numbers.push_back(json.get<bool>() ? 1 : 0);
  } else if (json.is_structured()) {
    for (const auto& each : json) flatten(each, numbers, only_numbers);
  } else {
    only_numbers = false;
  }
}

/// What is said, in numbers if it is nothing else. An error bar that was not promised beforehand is part
/// of it. `numbers` is room to work.
void add(audit::Outputs& outputs, const Release<Result>& release, bool promised,
         std::vector<double>& numbers) {
  const Result& result = release.value;
  const auto found = result.json.find("value");
  const nlohmann::ordered_json& said = found == result.json.end() ? result.json : *found;
  numbers.clear();
  bool only_numbers = !result.artifact;
  flatten(said, numbers, only_numbers);
  if (!promised) numbers.push_back(release.accuracy.half_width);
  if (only_numbers && !numbers.empty()) return outputs.add(std::span<const double>(numbers));
  std::string text = said.dump();
  if (result.artifact) text.append(" ").append(result.artifact->bytes);
  if (!promised) text.append(" ").append(audit::shortest(numbers.back()));
  outputs.add(std::move(text));
}

/// Both inputs of a pair, read.
using Draws = std::pair<Task::Draw, Task::Draw>;

std::vector<Draws> read_pairs(const Task& task, audit::LinePairs pairs) {
  Meter meter(task.event);
  SystemBits bits;
  Context context{meter, bits};
  std::vector<Draws> draws;
  for (auto& pair : pairs)
    draws.emplace_back(task.read(Rows(std::move(pair.first)), context),
                       task.read(Rows(std::move(pair.second)), context));
  return draws;
}

}  // namespace

audit::LinePairs neighbours_for(const Algorithm& algorithm, const nlohmann::json& options) {
  algorithm.make({.options = options});  // refuses what the algorithm refuses
  if (algorithm.neighbours) return algorithm.neighbours(OptionValues(algorithm.options, options));
  throw Error(ErrorCode::kUnsupported, "no pairs of neighbouring inputs are known for '" +
                                           algorithm.name +
                                           "'; give one with --data and --neighbour");
}

audit::Subject audit_subject(const Algorithm& algorithm, const nlohmann::json& options,
                             audit::LinePairs pairs) {
  const auto task = std::make_shared<const Task>(
      algorithm.make({.options = options, .wanted = Asked::Wanted::kValue}));
  audit::Subject subject{.name = algorithm.name,
                         .claim = audit::Claim::of(task->event),
                         .pairs = {},
                         .draw = {},
                         .runs_at_once = 1 << 11};
  for (const auto& pair : pairs)
    subject.pairs.push_back({pair.name, audit::internal::text_of(pair.first),
                             audit::internal::text_of(pair.second), pair.same});
  const auto inputs =
      std::make_shared<const std::vector<Draws>>(read_pairs(*task, std::move(pairs)));
  const bool promised = task->accuracy && task->accuracy(1, 0.95).has_value();
  subject.draw = [task, inputs, promised](std::size_t pair, audit::Side side, std::uint64_t runs,
                                          BitSource& bits) {
    const auto& [first, second] = (*inputs)[pair];
    const Task::Draw& draw = side == audit::Side::kFirst ? first : second;
    audit::Outputs outputs;
    std::vector<double> numbers;
    // One meter for some runs: it remembers all that it was charged.
    constexpr std::uint64_t kRunsOfAMeter = 64;
    for (std::uint64_t done = 0; done < runs; done += kRunsOfAMeter) {
      const std::uint64_t now = std::min(kRunsOfAMeter, runs - done);
      Event all = task->event;
      all.count *= now;
      Meter meter(std::move(all));
      Context context{meter, bits};
      for (std::uint64_t i = 0; i < now; ++i) add(outputs, draw(context), promised, numbers);
    }
    return outputs;
  };
  return subject;
}

}  // namespace gauze
