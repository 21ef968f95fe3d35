// Bytes that claim to be events: reading them throws a gauze::Error or gives events that are valid, survive a
// round trip, and have a price that is not negative.
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>

#include "gauze/accounting/event.h"
#include "gauze/accounting/loss.h"
#include "gauze/base/error.h"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  const auto json = nlohmann::json::parse(data, data + size, nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded()) return 0;
  try {
    const auto events = gauze::events_from_json(json);
    if (gauze::events_from_json(gauze::to_json(events)) != events) std::abort();
    for (const gauze::Event& event : events) {
      const auto epsilon = gauze::pure_epsilon(event);
      if (epsilon && *epsilon < 0) std::abort();
    }
  } catch (const gauze::Error&) {
  }
  return 0;
}
