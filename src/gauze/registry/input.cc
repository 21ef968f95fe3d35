#include "gauze/registry/input.h"

namespace gauze {

InputKind rows_kind() {
  return {.name = "rows"};
}

InputKind column_kind() {
  return {.name = "column",
          .tables = true,
          .asks = {{"column", OptionSpec::Type::kText, "which column of the table", "", "column"}},
          .one_row = true};
}

InputKind lines_kind() {
  return {.name = "lines", .plain = InputKind::Plain::kLines};
}

}  // namespace gauze
