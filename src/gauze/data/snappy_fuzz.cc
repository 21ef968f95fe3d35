// Bytes as what Snappy packed: the same as one byte after the other gives, or nothing where that gives nothing.
#include <algorithm>
#include <cstdlib>
#include <memory>

#include "gauze/data/parquet_pages_internal.h"
#include "gauze/data/snappy_test_internal.h"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  namespace parquet = gauze::internal::parquet;
  const auto plainly = gauze::testing::plainly_unpacked({data, size});
  const std::size_t stated = plainly ? plainly->size() : 1000;
  const auto to = std::make_unique<std::uint8_t[]>(stated);
  try {
    parquet::unpack_snappy({data, size}, {to.get(), stated});
  } catch (const parquet::Unreadable&) {
    if (plainly) abort();
    return 0;
  }
  if (!plainly || !std::equal(plainly->begin(), plainly->end(), to.get())) abort();
  return 0;
}
