// Bytes that claim to be a table: only the first line may be refused, and every accepted row is one number.
#include <cstdlib>
#include <string_view>

#include "gauze/base/error.h"
#include "gauze/registry/rows.h"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const char* column : {"", "2", "age"}) {
    try {
      const auto rows = gauze::Rows::parse(text, {column, false});
      if (rows.numbers().size() != rows.cells().size()) std::abort();
      if (rows.integers(0).size() != rows.cells().size()) std::abort();
    } catch (const gauze::Error&) {
    }
  }
  return 0;
}
