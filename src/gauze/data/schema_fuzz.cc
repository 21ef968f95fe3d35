// Bytes that claim to be a schema: reading them throws a gauze::Error or gives a schema that survives a round trip.
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string_view>

#include "gauze/base/error.h"
#include "gauze/data/schema.h"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  try {
    const auto schema = gauze::parse_schema({reinterpret_cast<const char*>(data), size});
    if (gauze::parse_schema(gauze::to_json(schema).dump()) != schema) std::abort();
  } catch (const gauze::Error&) {
  }
  return 0;
}
