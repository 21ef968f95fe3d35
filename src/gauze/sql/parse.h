#pragma once

#include <span>
#include <string>
#include <string_view>

#include "gauze/sql/expression.h"

namespace gauze {

/// Whether the text is EXPLAIN of something: a question about a question, answered without reading rows. Throws `kSyntax`.
bool is_explain(std::string_view sql);

/// What stands after WHERE, about these columns: `age >= 18 AND ward IN ('north', 'south')`. Throws `kSyntax`,
/// `kUnsupported`, and `kUnknownName` for other columns.
Expression parse_condition(std::string_view text, std::span<const std::string> columns);

}  // namespace gauze
