#include <zlib.h>
#include <zstd.h>

#include <fstream>
#include <memory>
#include <vector>

#include "gauze/data/text_files_internal.h"

namespace gauze::internal {
namespace {

constexpr std::size_t kBuffer = 1 << 17;
using Take = std::function<bool(std::string_view bytes)>;

bool read_gzip(const std::string& path, const Take& take) {
  const std::unique_ptr<gzFile_s, int (*)(gzFile)> file(gzopen(path.c_str(), "rb"), gzclose);
  if (!file) return false;
  std::vector<char> unpacked(kBuffer);
  int read = 0;
  do {
    read = gzread(file.get(), unpacked.data(), static_cast<unsigned>(unpacked.size()));
    if (read > 0 && !take({unpacked.data(), static_cast<std::size_t>(read)})) return true;
  } while (read > 0);
  int problem = Z_OK;
  gzerror(file.get(), &problem);
  return read == 0 && problem == Z_OK;
}

bool read_zstandard(const std::string& path, const Take& take) {
  std::ifstream file(path, std::ios::binary);
  const std::unique_ptr<ZSTD_DCtx, std::size_t (*)(ZSTD_DCtx*)> context(ZSTD_createDCtx(),
                                                                        ZSTD_freeDCtx);
  std::vector<char> packed(kBuffer), unpacked(kBuffer);
  std::size_t expected = 0;  // of the frame that was begun
  while (file) {
    file.read(packed.data(), static_cast<std::streamsize>(packed.size()));
    ZSTD_inBuffer in{packed.data(), static_cast<std::size_t>(file.gcount()), 0};
    while (in.pos < in.size) {
      ZSTD_outBuffer out{unpacked.data(), unpacked.size(), 0};
      expected = ZSTD_decompressStream(context.get(), &out, &in);
      if (ZSTD_isError(expected)) return false;
      if (!take({unpacked.data(), out.pos})) return true;
    }
  }
  return file.eof() && expected == 0;
}

bool read_plain(const std::string& path, const Take& take) {
  std::ifstream file(path, std::ios::binary);
  std::vector<char> bytes(kBuffer);
  while (file) {
    file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    if (!take({bytes.data(), static_cast<std::size_t>(file.gcount())})) return true;
  }
  return file.eof();
}

}  // namespace

bool read_unpacked(const std::string& path, const Take& take) {
  if (ends_with_any(path, {".gz"})) return read_gzip(path, take);
  if (ends_with_any(path, {".zst"})) return read_zstandard(path, take);
  return read_plain(path, take);
}

bool breaks_off(const std::string& path) {
  return is_packed(path) && !read_unpacked(path, [](std::string_view) { return true; });
}

}  // namespace gauze::internal
