#include <filesystem>

#include "command.h"
#include "example_data.h"
#include "text.h"

namespace gauze::cli {
namespace {

void example(const std::string& folder, bool json) {
  const std::vector<Visit> visits = invented_visits();
  const ExampleFiles files = write_example(folder, visits);
  if (json) {
    return print_json({{"visits", files.visits},
                       {"wards", files.wards},
                       {"schema", files.schema},
                       {"rows", visits.size()}});
  }
  print_line("An invented hospital, " + grouped(visits.size()) + " visits in 2024:");
  print(table({{files.visits, "private: rows belong to patients"},
               {files.wards, "public"},
               {files.schema, "what is publicly known of both"}},
              "  ", "l"));
  print_line();
  print_line("Ask it something:");
  print_line("  gauze sql \"SELECT ward, COUNT(*) FROM visits GROUP BY ward\" --data " + folder +
             " --epsilon 1");
}

}  // namespace

void add_example(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("example", "Write an invented hospital to play with into a folder");
  auto folder = std::make_shared<std::string>();
  auto json = std::make_shared<bool>(false);
  command->add_option("folder", *folder, "Where to; it is made if it is not there")->required();
  command->add_flag("--json", *json, "Print the names of the files as JSON");
  command->footer("Example: gauze example hospital");
  command->callback([folder, json] { example(*folder, *json); });
}

}  // namespace gauze::cli
