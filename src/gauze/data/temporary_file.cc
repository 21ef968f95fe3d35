#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <vector>

#include "gauze/base/error.h"
#include "gauze/base/nameless_file.h"
#include "gauze/data/temporary_file_internal.h"

namespace gauze::internal {

TemporaryFile::TemporaryFile(const std::string& folder) {
  file_ = open_nameless(folder);
  if (file_ < 0) fail();
}

TemporaryFile::~TemporaryFile() {
  if (file_ >= 0) ::close(file_);
}

void TemporaryFile::fail() const {
  throw Error(
      ErrorCode::kIo,
      "cannot write to the temporary folder: is the disk full? Make room, or choose another "
      "folder with TMPDIR");
}

void TemporaryFile::clear() {
  if (::ftruncate(file_, 0) != 0 || ::lseek(file_, 0, SEEK_SET) != 0) fail();
}

void TemporaryFile::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file_, bytes.data(), bytes.size());
    if (written <= 0) fail();
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

void TemporaryFile::copy(const std::string& path, std::uint64_t bytes,
                         const std::atomic<bool>& cancelled) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rbe"),
                                                             std::fclose);
  if (!file) fail();
  const int from = ::fileno(file.get());
  constexpr std::uint64_t kAtOnce = std::uint64_t{64} << 20;
  off_t at = 0;
  bool by_kernel = true;
  std::vector<char> buffer;
  while (bytes > 0) {
    if (cancelled) throw Error(ErrorCode::kIo, "cancelled");
    const auto want = static_cast<std::size_t>(std::min(bytes, kAtOnce));
    ssize_t got = by_kernel ? ::copy_file_range(from, &at, file_, nullptr, want, 0) : 0;
    if (got <= 0) {  // not between these file systems, perhaps
      by_kernel = false;
      buffer.resize(std::size_t{1} << 20);
      got = ::pread(from, buffer.data(), std::min(want, buffer.size()), at);
      if (got <= 0) fail();
      write({buffer.data(), static_cast<std::size_t>(got)});
      at += got;
    }
    bytes -= static_cast<std::uint64_t>(got);
  }
}

}  // namespace gauze::internal
