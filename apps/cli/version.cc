#include "command.h"
#include "text.h"

namespace gauze::cli {

void add_version(CLI::App& app) {
  CLI::App* command = app.add_subcommand("version", "Print the version");
  auto json = std::make_shared<bool>(false);
  command->add_flag("--json", *json, "Print {\"version\": ...}");
  command->callback([json] {
    if (*json) {
      print_json({{"version", GAUZE_VERSION}});
    } else {
      print_line("gauze " GAUZE_VERSION);
    }
  });
}

}  // namespace gauze::cli
