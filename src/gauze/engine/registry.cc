#include "gauze/engine/registry.h"

#include "gauze/base/error.h"
#include "gauze/engine/registry_internal.h"

namespace gauze {
namespace {

std::vector<Algorithm> all_algorithms() {
  std::vector<Algorithm> all;
  for (auto family : {internal::statistics_algorithms, internal::stability_algorithms,
                      internal::histogram_algorithms, internal::key_algorithms,
                      internal::choice_algorithms, internal::additive_algorithms}) {
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
  throw Error(ErrorCode::kUnknownName, "there is no algorithm '" + asked + "'; did you mean '" +
                                           nearest_word(asked, names) +
                                           "'? `gauze list` names them all");
}

Job make_job(std::string_view name, const nlohmann::json& options) {
  const Algorithm& algorithm = find_algorithm(name);
  return algorithm.make(OptionValues(algorithm.options, options));
}

}  // namespace gauze
