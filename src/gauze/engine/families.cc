#include "gauze/engine/families.h"

#include <iterator>
#include <utility>

#include "gauze/adaptive/register.h"
#include "gauze/histogram/register.h"
#include "gauze/learn/register.h"
#include "gauze/marginal/register.h"
#include "gauze/mechanism/register.h"
#include "gauze/query/register.h"

namespace gauze {
namespace {

std::vector<Family> all_families() {
  std::vector<Family> all;
  for (auto& folder : {query_families, mechanism_families, histogram_families, learn_families,
                       marginal_families, adaptive_families}) {
    std::vector<Family> families = folder();
    std::move(families.begin(), families.end(), std::back_inserter(all));
  }
  return all;
}

}  // namespace

const Registry& built_in() {
  static const Registry registry(all_families());
  return registry;
}

}  // namespace gauze
