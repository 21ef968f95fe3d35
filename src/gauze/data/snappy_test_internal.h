#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace gauze::testing {

/// Snappy, one byte after the other, as its description has it; nothing where it is damaged. For comparison.
inline std::optional<std::vector<std::uint8_t>> plainly_unpacked(
    std::span<const std::uint8_t> from) {
  std::size_t at = 0;
  const auto number = [&](std::size_t bytes) -> std::optional<std::uint64_t> {
    if (from.size() - at < bytes) return std::nullopt;
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < bytes; ++i) value += std::uint64_t{from[at++]} << (8 * i);
    return value;
  };
  std::uint64_t size = 0;
  for (unsigned i = 0;; ++i) {
    if (at == from.size() || i == 5) return std::nullopt;
    size += std::uint64_t{from[at] % 128u} << (7 * i);
    if (from[at++] < 128) break;
  }
  std::vector<std::uint8_t> to;
  while (at < from.size()) {
    const std::uint8_t tag = from[at++];
    std::uint64_t length = 1 + tag / 4u, offset = 0;
    if (tag % 4 == 0) {
      if (length > 60) {
        const auto long_length = number(static_cast<std::size_t>(length - 60));
        if (!long_length) return std::nullopt;
        length = *long_length + 1;
      }
      if (length > from.size() - at) return std::nullopt;
    } else {
      const auto given = number(tag % 4 == 1 ? 1 : tag % 4 == 2 ? 2 : 4);
      if (!given) return std::nullopt;
      offset = *given;
      if (tag % 4 == 1) {
        offset += std::uint64_t{tag / 32u} * 256;
        length = 4 + tag / 4u % 8;
      }
      if (offset == 0 || offset > to.size()) return std::nullopt;
    }
    if (length > size - to.size()) return std::nullopt;
    for (; length > 0; --length)
      to.push_back(offset == 0 ? from[at++] : to[to.size() - static_cast<std::size_t>(offset)]);
  }
  if (to.size() != size) return std::nullopt;
  return to;
}

}  // namespace gauze::testing
