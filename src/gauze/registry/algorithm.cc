#include "gauze/registry/algorithm.h"

#include <set>

#include "gauze/base/error.h"
#include "gauze/base/words.h"

namespace gauze {

Registry::Registry(std::vector<Family> families) : families_(std::move(families)) {
  std::set<std::string> names;
  for (const Algorithm* each : algorithms())
    if (!names.insert(each->name).second)
      throw Error(ErrorCode::kInternal, "two algorithms are called '" + each->name + "'");
}

std::vector<const Algorithm*> Registry::algorithms() const {
  std::vector<const Algorithm*> all;
  for (const Family& family : families_)
    for (const Algorithm& each : family.algorithms) all.push_back(&each);
  return all;
}

const Algorithm& Registry::find(std::string_view name) const {
  std::vector<std::string> names;
  for (const Algorithm* each : algorithms()) {
    if (each->name == name) return *each;
    names.push_back(each->name);
  }
  const std::string asked(name.substr(0, 40));
  const std::string hint = did_you_mean(asked, names);
  throw Error(ErrorCode::kUnknownName, "there is no algorithm '" + asked + "'" +
                                           (hint.empty() ? ";" : hint) +
                                           " `gauze list` names them all");
}

Release<Result> Task::run(const Input& input, Context& context) const {
  const Draw draw = read(input, context);
  if (!tells_drawing) context.begins_to_draw();
  return draw(context);
}

}  // namespace gauze
