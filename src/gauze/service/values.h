#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "gauze/numeric/decimal_text.h"
#include "gauze/numeric/ratio.h"
#include "gauze/registry/answer_json.h"

// Numbers as people write them, and back.
namespace gauze::service {

using Json = nlohmann::ordered_json;

/// A number given on the command line, exactly; `option` names it in the error.
Ratio exact(const std::string& text, const char* option);

/// The same as a double. A number that is no short decimal is rounded down, so that a target given
/// as a fraction is never exceeded; a loss to be judged is rounded up instead.
double number(const std::string& text, const char* option,
              double (*round)(const Ratio&) = round_down);

/// The double whose shortest decimal is exactly the value, as it would be written down; where there is none, rounded.
double decimal(const Ratio& value, double (*round)(const Ratio&));

/// A whole number from `least` to 2^63 - 1; 1e6 counts as whole.
std::uint64_t whole(const std::string& text, const char* option, std::uint64_t least);

/// 4G, 512M, 1e9: bytes. 0 for "" and "0".
std::uint64_t bytes(const std::string& text, const char* option);
/// At most the cores there are. 0, all of them, for "".
unsigned thread_count(const std::string& text);

/// The words between commas.
std::vector<std::string> list_of(const std::string& text);

using gauze::finite;
using gauze::grouped;
using gauze::nearest;
using gauze::upward;

}  // namespace gauze::service
