#include "command.h"
#include "gauze/engine/registry.h"
#include "text.h"

namespace gauze::cli {
namespace {

void list(bool json) {
  if (json) {
    Json all = Json::array();
    for (const Algorithm& each : algorithms())
      all.push_back({{"name", each.name}, {"summary", each.summary}});
    return print_json({{"algorithms", all}});
  }
  std::size_t width = 0;
  for (const Algorithm& each : algorithms()) width = std::max(width, each.name.size());
  for (const Algorithm& each : algorithms())
    print_line("  " + each.name + std::string(width + 2 - each.name.size(), ' ') + each.summary);
  print_line();
  print_line(
      "`gauze describe NAME` says what each promises; `gauze release NAME --help` how to call it.");
}

}  // namespace

void add_list(CLI::App& app) {
  CLI::App* command = app.add_subcommand("list", "List the algorithms");
  auto json = std::make_shared<bool>(false);
  command->add_flag("--json", *json, "Print {\"algorithms\": [{\"name\": ..., \"summary\": ...}]}");
  command->callback([json] { list(*json); });
}

}  // namespace gauze::cli
