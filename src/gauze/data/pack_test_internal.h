#pragma once

#include <lz4.h>
#include <zlib.h>
#include <zstd.h>

#include <cstdint>
#include <string>

#include "gauze/data/parquet_pages_internal.h"

// Bytes packed as pages of Parquet are, by the libraries that do so for its writers.
namespace gauze::testing {

/// Snappy of one literal.
inline std::string packed_snappy(const std::string& bytes) {
  std::string packed;
  std::size_t size = bytes.size();
  for (; size >= 128; size /= 128) packed += static_cast<char>(size % 128 + 128);
  packed += static_cast<char>(size);
  if (bytes.empty()) return packed;
  packed += static_cast<char>(63 * 4);
  for (unsigned i = 0; i < 4; ++i) packed += static_cast<char>((bytes.size() - 1) >> (8 * i));
  return packed + bytes;
}

inline std::string packed_gzip(const std::string& bytes) {
  z_stream stream{};
  deflateInit2(&stream, 9, Z_DEFLATED, 15 + 16, 9, Z_DEFAULT_STRATEGY);
  std::string packed(deflateBound(&stream, static_cast<uLong>(bytes.size())), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

inline std::string packed_zstandard(const std::string& bytes) {
  std::string packed(ZSTD_compressBound(bytes.size()), '\0');
  packed.resize(ZSTD_compress(packed.data(), packed.size(), bytes.data(), bytes.size(), 3));
  return packed;
}

inline std::string packed_lz4(const std::string& bytes) {
  const int size = static_cast<int>(bytes.size());
  std::string packed(static_cast<std::size_t>(LZ4_compressBound(size)), '\0');
  packed.resize(static_cast<std::size_t>(
      LZ4_compress_default(bytes.data(), packed.data(), size, static_cast<int>(packed.size()))));
  return packed;
}

struct Packing {
  internal::parquet::Codec codec;
  const char* name;                         ///< of the engine's option COMPRESSION
  std::string (*pack)(const std::string&);  ///< null where it stays as it is
};

/// All that Gauze unpacks.
inline constexpr Packing kPackings[] = {
    {internal::parquet::Codec::kNone, "uncompressed", nullptr},
    {internal::parquet::Codec::kSnappy, "snappy", &packed_snappy},
    {internal::parquet::Codec::kGzip, "gzip", &packed_gzip},
    {internal::parquet::Codec::kZstandard, "zstd", &packed_zstandard},
    {internal::parquet::Codec::kLz4, "lz4_raw", &packed_lz4}};

}  // namespace gauze::testing
