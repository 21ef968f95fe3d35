#pragma once

#include <cstdint>
#include <string>

namespace gauze::testing {

/// How the machine stops at the operation that is its last.
struct Stop {
  enum class Kind : std::uint8_t {
    kKilled,           ///< the process dies before the operation; what it wrote is there
    kKilledInside,     ///< it dies when half of a write is done
    kPowerLost,        ///< all that was written since a file's last sync is lost
    kPowerLostPrefix,  ///< the first half of it is kept, and of the last write of these one half
    kPowerLostMixed,   ///< every other write of it is kept: disks may reorder
  };
  Kind kind = Kind::kKilled;
  std::uint64_t at = 0;        ///< number of the last operation, from 1; 0 for never
  bool sync_is_a_lie = false;  ///< a disk that says it has written and has not
};

/// From here on every database that this process opens lies on a disk that counts each write,
/// truncation, sync and deletion, and at the given one ends the process. For a process that has no
/// database open yet.
void put_databases_on_failing_disk(const Stop& stop);

/// Operations so far.
std::uint64_t disk_operations();

}  // namespace gauze::testing
