#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "gauze/accounting/release.h"
#include "gauze/registry/result.h"

// Files that one run leaves and a later one reads: a line of JSON that says what they hold, then the
// bytes. Whoever may write the file can also write a fitting checksum: it finds damage, not intent.
namespace gauze::service {

/// Writes all of it or nothing. Throws `kIo`.
void write_artifact(const Artifact& artifact, const std::string& path);

/// The bytes of an artifact of this format and version. Throws `kIo` where the file cannot be read, and
/// `kInvalidInput` where it is no artifact, is of another format or version, is cut short or was changed.
std::string read_artifact(const std::string& path, std::string_view format, std::uint32_t version);

/// Where a run keeps what it has prepared or released, to go on from there when it is started again.
///
///     Checkpoint checkpoint("model.checkpoint", quote.digest);
///     checkpoint.keep_for(watch);
class Checkpoint {
 public:
  /// Reads what is there. Throws `kInvalidOption` for a checkpoint of another job, and what `read_artifact`
  /// and `check_writable` throw.
  Checkpoint(std::string path, std::string job);

  /// The run reads and writes here; this must outlive it.
  void keep_for(Watch& watch);
  /// The run has ended: nothing is to be taken up again.
  void remove() const;

  const std::string& path() const { return path_; }

 private:
  std::string path_, job_;
  std::optional<std::string> state_;
};

}  // namespace gauze::service
