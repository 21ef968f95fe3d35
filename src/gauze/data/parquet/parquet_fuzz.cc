// Bytes as the metadata of a Parquet file, and as a file that ends with them: whatever reads or
// edits metadata does no more than refuse.
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "gauze/data/parquet/footer_internal.h"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  namespace internal = gauze::internal;
  static const std::string path = "/tmp/gauze_parquet_fuzz_" + std::to_string(getpid());
  // A file of its own, or one whose end is made to fit: few bytes at random say how long their
  // metadata is.
  const std::uint32_t length = size > 1 ? data[0] + 256u * (data[1] & 3) : 0;
  const bool fits = size > 1 && (data[1] & 128) != 0;
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
  if (fits) file.write(reinterpret_cast<const char*>(&length), sizeof length) << "PAR1";
  file.close();
  const std::vector<std::uint8_t> footer = internal::parquet_footer(path);
  if (footer.size() > size) abort();
  for (const std::span<const std::uint8_t> each :
       {std::span<const std::uint8_t>(footer), std::span<const std::uint8_t>(data, size)}) {
    internal::parquet_facts(each);
    const auto once = internal::with_raw_columns(each);
    if (once && internal::with_raw_columns(*once) != once) abort();
  }
  return 0;
}
