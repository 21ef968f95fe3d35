#pragma once

#include <string>
#include <string_view>

namespace gauze::service {

/// SHA-256 in 64 hexadecimal digits.
std::string digest_of(std::string_view bytes);

}  // namespace gauze::service
