#include "option_flags.h"

#include <algorithm>

namespace gauze::cli {

void add_option_flags(CLI::App& command, const std::vector<OptionSpec>& table,
                      std::map<std::string, std::string>& given, Missing missing) {
  for (const OptionSpec& option : table) {
    std::string flag = "--" + option.name;
    std::replace(flag.begin(), flag.end(), '_', '-');
    const auto keep = [&given, key = option.name](const std::string& value) { given[key] = value; };
    const bool yes_or_no = option.type == OptionSpec::Type::kFlag && option.fallback == "false";
    if (yes_or_no) {
      command.add_flag_callback(
          flag, [keep] { keep("true"); }, option.description);
      continue;
    }
    const std::string described =
        option.description + (option.required() ? "" : " (" + option.fallback + ")");
    command.add_option_function<std::string>(flag, keep, described)
        ->required(option.required() && missing == Missing::kRefused);
  }
}

}  // namespace gauze::cli
