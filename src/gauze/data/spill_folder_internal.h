#pragma once

#include <string>

namespace gauze::internal {

/// A folder of its own in the temporary one, where the engine writes what does not fit into memory.
/// It is removed with what it holds, and so are those that killed processes of this user have left.
class SpillFolder {
 public:
  /// Below `under`; "": the system's. Throws `kIo`.
  explicit SpillFolder(const std::string& under);
  ~SpillFolder();
  SpillFolder(const SpillFolder&) = delete;
  SpillFolder& operator=(const SpillFolder&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
  int lock_ = -1;  // held as long as somebody writes there
};

}  // namespace gauze::internal
