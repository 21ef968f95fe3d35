#include "command.h"
#include "gauze/engine/registry.h"
#include "text.h"

namespace gauze::cli {
namespace {

Json as_json(const Algorithm& algorithm) {
  Json options = Json::array();
  for (const OptionSpec& option : algorithm.options) {
    Json entry = {{"name", option.name},
                  {"type", name(option.type)},
                  {"description", option.description},
                  {"required", option.required()}};
    if (!option.required()) entry["default"] = option.fallback;
    options.push_back(entry);
  }
  return {{"name", algorithm.name},         {"summary", algorithm.summary},
          {"input", algorithm.input},       {"guarantee", algorithm.guarantee},
          {"accuracy", algorithm.accuracy}, {"cost", algorithm.cost},
          {"source", algorithm.source},     {"document", algorithm.document},
          {"when", algorithm.when},         {"options", std::move(options)}};
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
  print_line();
  print_line(heading("Parameters"));
  for (const OptionSpec& option : algorithm.options) {
    print_line("  " + option.name + "  (" + std::string(name(option.type)) +
               (option.required() ? ", required)" : ", default " + option.fallback + ")"));
    print(wrap(option.description, "      "));
  }
  section("Accuracy", algorithm.accuracy);
  section("Cost", algorithm.cost);
  section("Source", algorithm.source);
  print_line();
  print_line("The argument is in " + algorithm.document + ".");
}

}  // namespace

void add_describe(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "describe", "Say what an algorithm promises, takes, costs, and who found it");
  auto algorithm = std::make_shared<std::string>();
  auto json = std::make_shared<bool>(false);
  command->add_option("name", *algorithm, "One of `gauze list`")->required();
  command->add_flag("--json", *json, "Print everything as JSON");
  command->footer("Example: gauze describe laplace");
  command->callback([algorithm, json] {
    const Algorithm& found = find_algorithm(*algorithm);
    if (*json) {
      print_json(as_json(found));
    } else {
      print_text(found);
    }
  });
}

}  // namespace gauze::cli
