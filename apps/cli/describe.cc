#include <memory>
#include <string>
#include <vector>

#include "command.h"
#include "text.h"

namespace gauze::cli {
namespace {

Json as_json(const std::vector<OptionSpec>& table) {
  Json options = Json::array();
  for (const OptionSpec& option : table) {
    Json entry = {{"name", option.name},
                  {"type", name(option.type)},
                  {"description", option.description},
                  {"required", option.required()}};
    if (!option.required()) entry["default"] = option.fallback;
    options.push_back(entry);
  }
  return options;
}

Json as_json(const Algorithm& algorithm) {
  return {{"name", algorithm.name},
          {"summary", algorithm.summary},
          {"input", algorithm.input},
          {"guarantee", algorithm.guarantee},
          {"accuracy", algorithm.accuracy},
          {"cost", algorithm.cost},
          {"source", algorithm.source},
          {"document", algorithm.document},
          {"when", algorithm.when},
          {"example", algorithm.example},
          {"options", as_json(algorithm.options)},
          {"asks", as_json(algorithm.kind.asks)}};
}

void print_options(const char* title, const std::vector<OptionSpec>& table) {
  if (table.empty()) return;
  print_line();
  print_line(heading(title));
  for (const OptionSpec& option : table) {
    print_line("  " + option.name + "  (" + std::string(name(option.type)) +
               (option.required() ? ", required)" : ", default " + option.fallback + ")"));
    print(wrap(option.description, "      "));
  }
}

void print_text(const Algorithm& algorithm) {
  const auto section = [](const char* title, const std::string& text) {
    print_line();
    print_line(heading(title));
    print(wrap(text));
  };
  print_line(heading(algorithm.name) + ": " + algorithm.summary);
  if (!algorithm.when.empty()) section("When", algorithm.when);
  section("Guarantee", algorithm.guarantee);
  section("Input", algorithm.input);
  print_options("Parameters", algorithm.options);
  print_options("On which rows", algorithm.kind.asks);
  section("Accuracy", algorithm.accuracy);
  section("Cost", algorithm.cost);
  section("Source", algorithm.source);
  if (!algorithm.example.empty()) section("Example", algorithm.example);
  print_line();
  print_line("The argument is in " + algorithm.document + ".");
}

}  // namespace

void add_describe(CLI::App& app, const Registry& registry) {
  CLI::App* command = app.add_subcommand(
      "describe", "Say what an algorithm promises, takes, costs, and who found it");
  auto algorithm = std::make_shared<std::string>();
  auto json = std::make_shared<bool>(false);
  command->add_option("name", *algorithm, "One of `gauze list`")->required();
  command->add_flag("--json", *json, "Print everything as JSON");
  command->footer("Example: gauze describe laplace");
  command->callback([algorithm, json, &registry] {
    const Algorithm& found = registry.find(*algorithm);
    if (*json) {
      print_json(as_json(found));
    } else {
      print_text(found);
    }
  });
}

}  // namespace gauze::cli
