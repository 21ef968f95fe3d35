// Bytes as a packed page: unpacked to the size that is stated, the same after whatever was unpacked before, or refused.
#include <algorithm>
#include <cstdlib>
#include <memory>

#include "gauze/data/parquet_pages_internal.h"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  namespace parquet = gauze::internal::parquet;
  using parquet::Codec;
  static parquet::PageUnpacker used;
  if (size < 3) return 0;
  constexpr Codec kCodecs[] = {Codec::kSnappy, Codec::kGzip, Codec::kZstandard, Codec::kLz4};
  const Codec codec = kCodecs[data[0] % 4];
  const std::size_t stated = data[1] + std::size_t{256} * data[2];
  const auto unpack = [&](parquet::PageUnpacker& unpacker, std::uint8_t* to) {
    try {
      unpacker.unpack(codec, {data + 3, size - 3}, {to, stated});
    } catch (const parquet::Unreadable&) {
      return false;
    }
    return true;
  };
  parquet::PageUnpacker fresh;
  const auto once = std::make_unique<std::uint8_t[]>(stated);
  const auto again = std::make_unique<std::uint8_t[]>(stated);
  const bool is_unpacked = unpack(fresh, once.get());
  if (unpack(used, again.get()) != is_unpacked) abort();
  if (!is_unpacked) return 0;
  if (!std::equal(once.get(), once.get() + stated, again.get())) abort();
  if (stated / parquet::PageUnpacker::most_growth(codec) > size - 3) abort();
  return 0;
}
