// Bytes below a first line that names the columns: whatever they are, the file opens and every row
// comes, normalised.
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <string>

#include "gauze/base/error.h"
#include "gauze/data/source.h"
#include "gauze/data/table.h"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  static const std::string path = "/tmp/gauze_csv_fuzz_" + std::to_string(getpid()) + ".csv";
  std::ofstream(path, std::ios::binary) << "id,age,day\n"
                                        << std::string(reinterpret_cast<const char*>(data), size);
  using gauze::Type;
  gauze::TableSchema schema;
  schema.name = "t";
  schema.columns = {
      {"id", {.type = Type::kText}},
      {"age", {.type = Type::kInteger, .lower = std::int64_t{0}, .upper = std::int64_t{120}}},
      {"day", {.type = Type::kTimestamp}}};
  try {
    const auto source = gauze::open_files({{"t", path}}, {.threads = 1, .memory = 1'000'000'000});
    const auto table = gauze::read_table(*source, schema);
    for (std::size_t row = 0; row < table.rows(); ++row) {
      const auto age = table.columns()[1].integers()[row];
      if (!table.columns()[1].is_null(row) && (age < 0 || age > 120)) std::abort();
    }
  } catch (const gauze::Error&) {
    std::abort();
  }
  std::remove(path.c_str());
  return 0;
}
