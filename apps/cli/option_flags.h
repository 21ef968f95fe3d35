#pragma once

#include <CLI/App.hpp>
#include <nlohmann/json.hpp>
#include <vector>

#include "gauze/registry/options.h"

namespace gauze::cli {

/// Whether an option without a default may be left out, to be asked for or filled in later.
enum class Missing : std::uint8_t { kRefused, kAllowed };

/// A flag for each option of the table, with dashes for underscores, or those that it names. `given` holds
/// what was given, as typed, texts that may be repeated as a list; it must outlive the command.
void add_option_flags(CLI::App& command, const std::vector<OptionSpec>& table,
                      nlohmann::json& given, Missing missing);

}  // namespace gauze::cli
