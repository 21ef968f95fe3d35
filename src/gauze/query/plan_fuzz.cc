#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string_view>

#include "gauze/base/error.h"
#include "gauze/query/plan.h"

/// Any text is planned or refused with an Error, never anything else.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const gauze::Schema schema = gauze::schema_from_json(nlohmann::json::parse(R"({
    "version": 1, "dataset": "d", "tables": {
      "v": {"unit": "u", "rows_per_unit": 3, "keys": [["i"]], "columns": {
        "u": {"type": "integer"}, "i": {"type": "integer"}, "t": {"type": "text", "categories": ["a", "b"]},
        "x": {"type": "double", "lower": 0, "upper": 9}, "n": {"type": "integer", "lower": 0, "upper": 9},
        "d": {"type": "date", "lower": "2020-01-01", "upper": "2020-12-31"}, "s": {"type": "text"}, "f": {"type": "boolean"}}},
      "r": {"unit": "row", "columns": {"n": {"type": "integer", "lower": 0, "upper": 9}}},
      "p": {"public": true, "keys": [["n"]], "columns": {"n": {"type": "integer"}, "s": {"type": "text"}}}}})"));
  try {
    const gauze::Plan plan = gauze::plan_query({reinterpret_cast<const char*>(data), size}, schema);
    gauze::describe(plan);
  } catch (const gauze::Error& error) {
    if (error.code() == gauze::ErrorCode::kInternal) __builtin_trap();
  }
  return 0;
}
