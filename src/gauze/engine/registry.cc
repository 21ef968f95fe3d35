#include "gauze/engine/registry.h"

#include "gauze/base/error.h"
#include "gauze/engine/registry_internal.h"

namespace gauze {
namespace {

std::vector<Algorithm> all_algorithms() {
  std::vector<Algorithm> all;
  for (auto family :
       {internal::statistics_algorithms, internal::stability_algorithms,
        internal::histogram_algorithms, internal::key_algorithms, internal::choice_algorithms,
        internal::threshold_algorithms, internal::adaptive_algorithms,
        internal::sequence_algorithms, internal::additive_algorithms}) {
    for (Algorithm& each : family()) {
      if (family == internal::statistics_algorithms) each.per_person = true;
      all.push_back(std::move(each));
    }
  }
  return all;
}

}  // namespace

const std::vector<Algorithm>& algorithms() {
  static const std::vector<Algorithm> table = all_algorithms();
  return table;
}

const Algorithm& find_algorithm(std::string_view name) {
  std::vector<std::string> names;
  for (const Algorithm& each : algorithms()) {
    if (each.name == name) return each;
    names.push_back(each.name);
  }
  const std::string asked(name.substr(0, 40));
  const std::string hint = did_you_mean(asked, names);
  throw Error(ErrorCode::kUnknownName, "there is no algorithm '" + asked + "'" +
                                           (hint.empty() ? ";" : hint) +
                                           " `gauze list` names them all");
}

Release<std::uint64_t> DialogueJob::run(Dialogue& dialogue, Context& context) const {
  const Ask ask = start_(context);
  std::uint64_t answered = 0;
  for (bool last = false; !last;) {
    const auto line = dialogue.next();
    if (!line) break;
    if (line->size() != width_)
      throw Error(ErrorCode::kInvalidInput,
                  "a line must have " + std::to_string(width_) + " numbers, separated by ;");
    const DialogueAnswer answer = ask(*line);
    ++answered;
    dialogue.tell(answer.said);
    last = answer.last;
  }
  return {answered, accuracy(answered, 0.95), event()};
}

Job make_job(std::string_view name, const nlohmann::json& options) {
  const Algorithm& algorithm = find_algorithm(name);
  return algorithm.make(OptionValues(algorithm.options, options));
}

}  // namespace gauze
