#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace gauze {

/// The word of `words` that takes the fewest edits to become `word`; "" when there are none.
std::string nearest_word(std::string_view word, const std::vector<std::string>& words);

/// Whether two names are one to SQL: ASCII letters compare without their case.
bool same_name(std::string_view a, std::string_view b);

}  // namespace gauze
