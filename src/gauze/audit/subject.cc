#include "gauze/audit/subject.h"

namespace gauze::audit::internal {

std::string brief(const std::string& text) {
  constexpr std::size_t kMost = 100;
  if (text.size() <= kMost) return text;
  return text.substr(0, kMost) + "...";
}

}  // namespace gauze::audit::internal
