#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace gauze {

/// "; did you mean 'ward'?" for the nearest word, case aside, if it takes at most a third of the letters; else "".
std::string did_you_mean(std::string_view word, const std::vector<std::string>& words);

/// One after the other, with the separator between them.
std::string joined(const std::vector<std::string>& parts, std::string_view separator);

/// ASCII letters in lower case, everything else as it is.
std::string lower_case(std::string_view word);

/// Whether two names are one to SQL: ASCII letters compare without their case.
bool same_name(std::string_view a, std::string_view b);

}  // namespace gauze
