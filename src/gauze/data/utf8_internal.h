#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

namespace gauze::internal {

/// Whether every character is whole, as the engine expects of its texts (RFC 3629).
inline bool is_utf8(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    for (std::uint64_t eight = 0; text.size() - i >= 8; i += 8) {  // of ASCII, at once
      std::memcpy(&eight, text.data() + i, sizeof eight);
      if ((eight & 0x8080808080808080) != 0) break;
    }
    if (i == text.size()) break;
    const auto byte = [&](std::size_t at) {
      return at < text.size() ? static_cast<std::uint8_t>(text[at]) : std::uint8_t{0};
    };
    const std::uint8_t first = byte(i);
    const std::size_t more = first < 0x80 ? 0 : first < 0xe0 ? 1 : first < 0xf0 ? 2 : 3;
    if ((first >= 0x80 && first < 0xc2) || first > 0xf4) return false;
    const std::uint8_t second = byte(i + 1);
    if ((first == 0xe0 && second < 0xa0) || (first == 0xed && second > 0x9f) ||
        (first == 0xf0 && second < 0x90) || (first == 0xf4 && second > 0x8f)) {
      return false;
    }
    for (std::size_t j = 1; j <= more; ++j) {
      if ((byte(i + j) & 0xc0) != 0x80) return false;
    }
    i += more + 1;
  }
  return true;
}

}  // namespace gauze::internal
