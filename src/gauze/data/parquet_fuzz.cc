// Bytes as a Parquet file, and as the metadata of one: counting, scanning, and taking its texts away, never does more than refuse.
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include "gauze/data/parquet_internal.h"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  namespace parquet = gauze::internal;
  static const std::string path = "/tmp/gauze_parquet_fuzz_" + std::to_string(getpid());
  // A file of its own, or one whose end is made to fit: few bytes at random say how long their metadata is.
  const std::uint32_t length = size > 1 ? data[0] + 256u * (data[1] & 3) : 0;
  const bool fits = size > 1 && (data[1] & 128) != 0;
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
  if (fits) file.write(reinterpret_cast<const char*>(&length), sizeof length) << "PAR1";
  file.close();
  for (const gauze::Type type : {gauze::Type::kInteger, gauze::Type::kText}) {
    for (const char* column : {"g", "s"}) {
      const auto counts = parquet::count_parquet({path}, column, type, 1, {});
      if (counts && counts->counts.size() != counts->integers.size() + counts->texts.size())
        abort();
    }
  }
  for (const gauze::Type type : {gauze::Type::kInteger, gauze::Type::kText, gauze::Type::kDouble}) {
    const gauze::ColumnInfo column{"g", type};
    const auto readable = std::make_shared<std::atomic<bool>>(true);
    try {
      for (const auto& stream : parquet::scan_parquet({path}, {&column, 1}, 1, readable)) {
        for (gauze::Batch batch; stream->next(batch);) {
          const gauze::BatchColumn& got = batch.columns[0];
          if (got.integers.size() + got.reals.size() + got.texts.size() != batch.rows) abort();
          std::size_t bytes = 0;
          for (const std::string_view text : got.texts) bytes += text.size();
          if (bytes > (std::size_t{1} << 40)) abort();
        }
      }
    } catch (const gauze::MendedError&) {
      if (*readable) abort();
    }
  }
  const auto once = parquet::with_raw_columns({data, size});
  if (once && parquet::with_raw_columns(*once) != once) abort();
  return 0;
}
