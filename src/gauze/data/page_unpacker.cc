#include <lz4.h>
#include <zlib.h>
#include <zstd.h>

#include "gauze/data/parquet_pages_internal.h"

// The one place where pages are unpacked. Whoever damaged them chose the bytes, not the sizes: `to` is as large as the page's header
// says, and nothing else grows with what the bytes hold.
namespace gauze::internal::parquet {
namespace {

void unpack_gzip(Bytes from, std::span<std::uint8_t> to) {
  constexpr int kLargestWindow = 15, kWithHeader = 16;
  z_stream stream{};
  expect(inflateInit2(&stream, kLargestWindow + kWithHeader) == Z_OK);
  const std::unique_ptr<z_stream, int (*)(z_stream*)> ended(&stream, &inflateEnd);
  stream.next_in = const_cast<Bytef*>(from.data());  // which only reads it
  stream.avail_in = static_cast<uInt>(from.size());
  stream.next_out = to.data();
  stream.avail_out = static_cast<uInt>(to.size());
  expect(inflate(&stream, Z_FINISH) == Z_STREAM_END);
  expect(stream.avail_in == 0 && stream.avail_out == 0);
}

void unpack_lz4(Bytes from, std::span<std::uint8_t> to) {
  const int made = LZ4_decompress_safe(reinterpret_cast<const char*>(from.data()),
                                       reinterpret_cast<char*>(to.data()),
                                       static_cast<int>(from.size()), static_cast<int>(to.size()));
  expect(made == static_cast<int>(to.size()));
}

}  // namespace

void PageUnpacker::FreeZstandard::operator()(ZSTD_DCtx_s* context) const {
  ZSTD_freeDCtx(context);
}

std::size_t PageUnpacker::most_growth(Codec codec) {
  switch (codec) {
    case Codec::kNone:
      return 1;
    case Codec::kSnappy:
      return 32;  // 64 bytes of three
    case Codec::kGzip:
      return 1032;  // 258 bytes of two bits
    case Codec::kZstandard:
      return 32768;  // 2^17 bytes of a block of four
    case Codec::kLz4:
      return 255;  // for each byte of a length
  }
  throw Unreadable();
}

void PageUnpacker::unpack(Codec codec, Bytes from, std::span<std::uint8_t> to) {
  switch (codec) {
    case Codec::kNone:
      expect(from.size() == to.size());
      std::copy(from.begin(), from.end(), to.begin());
      return;
    case Codec::kSnappy:
      return unpack_snappy(from, to);
    case Codec::kGzip:
      return unpack_gzip(from, to);
    case Codec::kZstandard:
      return unpack_zstandard(from, to);
    case Codec::kLz4:
      return unpack_lz4(from, to);
  }
  throw Unreadable();
}

// One frame of the format as it is now: the library may know older ones, which the engine does not.
void PageUnpacker::unpack_zstandard(Bytes from, std::span<std::uint8_t> to) {
  expect(from.size() >= 4 && load<std::uint32_t>(from.data()) == ZSTD_MAGICNUMBER);
  expect(ZSTD_findFrameCompressedSize(from.data(), from.size()) == from.size());
  if (!zstandard_) zstandard_.reset(ZSTD_createDCtx());
  expect(zstandard_ != nullptr);
  const std::size_t made =  // or a number beyond all sizes
      ZSTD_decompressDCtx(zstandard_.get(), to.data(), to.size(), from.data(), from.size());
  expect(made == to.size());
}

}  // namespace gauze::internal::parquet
