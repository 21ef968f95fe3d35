#include "option_flags.h"

#include <algorithm>
#include <string>

namespace gauze::cli {
namespace {

/// --column,--columns of "column,columns".
std::string flags_of(const OptionSpec& option) {
  std::string flags = "--";
  for (const char c : option.flags.empty() ? option.name : option.flags)
    flags += c == ',' ? ",--" : c == '_' ? "-" : std::string(1, c);
  return flags;
}

/// The default, where it says more than that there is none.
std::string described(const OptionSpec& option) {
  const bool told = !option.required() && option.fallback != "[]" && option.fallback != "-";
  return option.description + (told ? " (" + option.fallback + ")" : "");
}

}  // namespace

void add_option_flags(CLI::App& command, const std::vector<OptionSpec>& table,
                      nlohmann::json& given, Missing missing) {
  given = nlohmann::json::object();
  for (const OptionSpec& option : table) {
    const std::string key = option.name;
    if (option.type == OptionSpec::Type::kFlag && option.fallback == "false") {
      command.add_flag_callback(
          flags_of(option), [&given, key] { given[key] = "true"; }, option.description);
      continue;
    }
    CLI::Option* flag = nullptr;
    if (option.type == OptionSpec::Type::kTexts) {
      const auto keep = [&given, key](const std::vector<std::string>& values) {
        given[key] = values;
      };
      flag = command.add_option_function<std::vector<std::string>>(flags_of(option), keep,
                                                                   described(option));
      flag->allow_extra_args(false);
    } else {
      const auto keep = [&given, key](const std::string& value) { given[key] = value; };
      flag = command.add_option_function<std::string>(flags_of(option), keep, described(option));
    }
    flag->required(option.required() && missing == Missing::kRefused);
  }
}

}  // namespace gauze::cli
