#include "gauze/base/address.h"

#include <algorithm>
#include <array>

namespace gauze {
namespace {

bool is_harmless_parameter(std::string_view parameter) {
  constexpr std::array<std::string_view, 6> kHarmless = {"host",   "hostaddr", "port",
                                                         "dbname", "user",     "sslmode"};
  const std::string_view name = parameter.substr(0, parameter.find('='));
  return std::find(kHarmless.begin(), kHarmless.end(), name) != kHarmless.end();
}

std::string harmless_parameters(std::string_view parameters) {
  std::string kept;
  while (!parameters.empty()) {
    const std::size_t end = std::min(parameters.find('&'), parameters.size());
    const std::string_view each = parameters.substr(0, end);
    if (is_harmless_parameter(each)) kept.append(kept.empty() ? "?" : "&").append(each);
    parameters.remove_prefix(std::min(end + 1, parameters.size()));
  }
  return kept;
}

}  // namespace

bool is_server_address(std::string_view text) {
  return text.starts_with("postgresql://") || text.starts_with("postgres://");
}

std::string shown_address(std::string_view text) {
  const std::size_t scheme = text.find("://");
  if (scheme == std::string_view::npos) return std::string(text);
  std::string shown(text.substr(0, scheme + 3));
  std::string_view rest = text.substr(scheme + 3);
  const std::size_t question = std::min(rest.find('?'), rest.size());
  const std::string_view parameters = rest.substr(std::min(question + 1, rest.size()));
  std::string_view place = rest.substr(0, question);
  const std::string_view who = rest.substr(0, std::min(rest.find_first_of(":/?@"), rest.size()));
  // Passwords may hold any character, also ones that should have been written as %40: whatever stands between the
  // first colon and the last @ is left out. An @ behind the question mark may be a password's or may end one.
  if (const std::size_t at = place.rfind('@'); at != std::string_view::npos) {
    shown.append(who);
    place.remove_prefix(at);
  } else if (parameters.find('@') != std::string_view::npos) {
    return shown.append(who);
  }
  return shown.append(place) + harmless_parameters(parameters);
}

}  // namespace gauze
