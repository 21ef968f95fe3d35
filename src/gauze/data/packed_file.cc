#include <zlib.h>
#include <zstd.h>

#include <fstream>
#include <memory>
#include <vector>

#include "gauze/data/text_files_internal.h"

namespace gauze::internal {
namespace {

constexpr std::size_t kBuffer = 1 << 17;

bool gzip_ends(const std::string& path) {
  const std::unique_ptr<gzFile_s, int (*)(gzFile)> file(gzopen(path.c_str(), "rb"), gzclose);
  if (!file) return false;
  std::vector<char> unpacked(kBuffer);
  int read = 0;
  do {
    read = gzread(file.get(), unpacked.data(), static_cast<unsigned>(unpacked.size()));
  } while (read > 0);
  int problem = Z_OK;
  gzerror(file.get(), &problem);
  return read == 0 && problem == Z_OK;
}

bool zstandard_ends(const std::string& path) {
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
    }
  }
  return file.eof() && expected == 0;
}

}  // namespace

bool breaks_off(const std::string& path) {
  if (!is_packed(path)) return false;
  return !(ends_with_any(path, {".gz"}) ? gzip_ends(path) : zstandard_ends(path));
}

}  // namespace gauze::internal
