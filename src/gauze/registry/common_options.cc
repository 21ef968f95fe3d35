#include "gauze/registry/common_options.h"

namespace gauze {

OptionSpec epsilon_option() {
  return {"epsilon", OptionSpec::Type::kNumber, "what the release may cost, above 0; 0.1 is strong",
          ""};
}

OptionSpec relation_option(const char* fallback) {
  return {"relation", OptionSpec::Type::kText,
          "what makes two data sets neighbours: add_remove (one person more or less) or replace "
          "(one person changed)",
          fallback};
}

}  // namespace gauze
