#pragma once

#include <string_view>

namespace gauze {

/// Whether the text is EXPLAIN of something: a question about a question, answered without reading rows. Throws `kSyntax`.
bool is_explain(std::string_view sql);

}  // namespace gauze
