#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

namespace gauze::internal {

/// A file without a name: it goes away with the process, however that ends.
class TemporaryFile {
 public:
  /// Throws `kIo`.
  explicit TemporaryFile(const std::string& folder);
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile();

  /// By which this process opens it.
  std::string path() const { return "/proc/self/fd/" + std::to_string(file_); }

  /// All of these throw `kIo` when the disk is full.
  void clear();
  void write(std::string_view bytes);
  /// The first bytes of another file, shared with it where the file system can. Throws `kIo` also
  /// when cancelled.
  void copy(const std::string& path, std::uint64_t bytes, const std::atomic<bool>& cancelled);

 private:
  [[noreturn]] void fail() const;

  int file_ = -1;
};

}  // namespace gauze::internal
