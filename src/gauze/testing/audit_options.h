#pragma once

#include <memory>

#include "gauze/audit/audit.h"
#include "gauze/testing/seeded_bits.h"

namespace gauze::testing {

/// Options of an audit with bits from a seed.
inline audit::Options audit_options(std::uint64_t seed, std::uint64_t runs) {
  return {.runs = runs, .bits = [seed](std::uint64_t stream) {
            return std::make_unique<SeededBits>(seed * 0x10001 + stream * 0x5851f42d4c957f2du);
          }};
}

}  // namespace gauze::testing
