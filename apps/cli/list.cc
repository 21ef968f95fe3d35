#include <algorithm>
#include <memory>
#include <string>

#include "command.h"
#include "text.h"

namespace gauze::cli {
namespace {

void list(const Registry& registry, bool json) {
  Json all = Json::array();
  std::size_t width = 0;
  for (const Family& family : registry.families()) {
    for (const Algorithm& each : family.algorithms) {
      width = std::max(width, each.name.size());
      all.push_back({{"name", each.name}, {"summary", each.summary}, {"family", family.heading}});
    }
  }
  if (json) return print_json({{"algorithms", all}});
  for (const Family& family : registry.families()) {
    print_line(heading(family.heading));
    for (const Algorithm& each : family.algorithms)
      print_line("  " + each.name + std::string(width + 2 - each.name.size(), ' ') + each.summary);
    print_line();
  }
  print_line(
      "`gauze describe NAME` says what each promises; `gauze release NAME --help` how to call it.");
}

}  // namespace

void add_list(CLI::App& app, const Registry& registry) {
  CLI::App* command = app.add_subcommand("list", "List the algorithms");
  auto json = std::make_shared<bool>(false);
  command->add_flag("--json", *json,
                    "Print {\"algorithms\": [{\"name\": ..., \"summary\": ..., \"family\": ...}]}");
  command->callback([json, &registry] { list(registry, *json); });
}

}  // namespace gauze::cli
