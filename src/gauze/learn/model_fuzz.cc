#include <cstddef>
#include <cstdint>
#include <string_view>

#include "gauze/base/error.h"
#include "gauze/learn/model.h"

/// A model file is read or refused; what is read predicts, and is read back the same.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const gauze::LinearModel model =
        gauze::parse_model({reinterpret_cast<const char*>(data), size});
    if (!(gauze::parse_model(to_json(model).dump()) == model)) __builtin_trap();
  } catch (const gauze::Error&) {
  }
  return 0;
}
