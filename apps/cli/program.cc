// One file per subcommand; errors become exit codes here and nowhere else.
#include "program.h"

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "command.h"
#include "gauze/base/error.h"
#include "gauze/base/words.h"
#include "gauze/engine/release.h"
#include "text.h"

namespace gauze::cli {
namespace {

/// Stable; docs/errors.md lists them.
int exit_code(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidOption:
    case ErrorCode::kUnknownName:
    case ErrorCode::kInvalidInput:
    case ErrorCode::kSyntax:
    case ErrorCode::kUnsupported:
    case ErrorCode::kUnboundedData:
    case ErrorCode::kMissingKnowledge:
    case ErrorCode::kNotPrivate:
      return 2;
    case ErrorCode::kBudgetExceeded:
      return 3;
    case ErrorCode::kCannotCompose:
    case ErrorCode::kUnreachable:
      return 4;
    case ErrorCode::kEntropy:
    case ErrorCode::kIo:
    case ErrorCode::kLedgerDamaged:
    case ErrorCode::kBusy:
    case ErrorCode::kUnavailable:
      return 5;
    case ErrorCode::kInternal:
      break;
  }
  return 70;
}

int report(ErrorCode code, const std::string& message, bool as_json) {
  std::fflush(stdout);
  if (as_json) {
    const Json error = {
        {"code", static_cast<int>(code)}, {"name", name(code)}, {"message", message}};
    std::cerr << Json{{"error", error}}.dump(-1, ' ', false, Json::error_handler_t::replace)
              << '\n';
  } else {
    std::cerr << "gauze: " << message << " [" << name(code) << "]\n";
  }
  return exit_code(code);
}

void add_commands(CLI::App& app, const Registry& registry) {
  add_tour(app, registry);
  add_sql(app, registry);
  add_ledger(app);
  add_schema(app);
  add_release(app, registry);
  add_run(app, registry);
  add_example(app);
  add_list(app, registry);
  add_describe(app, registry);
  add_explain(app);
  add_account(app);
  add_calibrate(app);
  add_audit(app, registry);
  add_noise(app);
  add_version(app);
}

const CLI::App* subcommand(const CLI::App& level, std::string_view word) {
  for (const CLI::App* sub : level.get_subcommands({})) {
    if (sub->get_name() == word) return sub;
  }
  return nullptr;
}

/// A misspelt command or algorithm gets the nearest name, which the parser would not offer.
void check_names(const CLI::App& app, int argc, char** argv) {
  const CLI::App* level = &app;
  for (int i = 1; i < argc && argv[i][0] != '-'; ++i) {
    std::vector<std::string> names;
    for (const CLI::App* sub : level->get_subcommands({})) names.push_back(sub->get_name());
    if (names.empty()) return;
    const CLI::App* next = subcommand(*level, argv[i]);
    if (next == nullptr) {
      const std::string asked = std::string(argv[i]).substr(0, 40);
      const std::string hint = did_you_mean(asked, names);
      throw Error(ErrorCode::kUnknownName,
                  "there is no '" + asked + "' here" + (hint.empty() ? ";" : hint) + " `" +
                      (level == &app ? "gauze" : "gauze " + level->get_name()) +
                      " --help` names them all");
    }
    level = next;
  }
}

/// How to ask for the help of the command that the words name.
std::string help_command(const CLI::App& app, int argc, char** argv) {
  std::string path = "gauze";
  const CLI::App* level = &app;
  for (int i = 1; i < argc && (level = subcommand(*level, argv[i])) != nullptr; ++i) {
    path += " " + level->get_name();
  }
  return "`" + path + " --help`";
}

}  // namespace

int run_program(const Registry& registry, int argc, char** argv) {
  // A file that grows beyond its limit is an error of writing like others.
  std::signal(SIGXFSZ, SIG_IGN);
  bool as_json = false;
  for (int i = 1; i < argc; ++i) as_json = as_json || std::strcmp(argv[i], "--json") == 0;

  CLI::App app("Gauze: see the shape of the data, never the person.", "gauze");
  app.require_subcommand(1);
  app.set_version_flag("--version", "gauze " GAUZE_VERSION);
  app.footer(
      "`gauze COMMAND --help` shows a command's options with examples.\n"
      "New here? `gauze tour` takes a minute.");
  try {
    add_commands(app, registry);
    check_names(app, argc, argv);
    app.parse(argc, argv);
    expect_printed();
    return 0;
  } catch (const CLI::Success& success) {
    return app.exit(success);  // --help
  } catch (const CLI::ParseError& error) {
    const std::string message = error.what();
    return report(ErrorCode::kInvalidOption,
                  message + "; " + help_command(app, argc, argv) + " lists what there is", as_json);
  } catch (const Error& error) {
    return report(error.code(), error.what(), as_json);
  } catch (const Exit& exit) {
    return std::fflush(stdout) == 0 ? exit.code : exit_code(ErrorCode::kIo);
  } catch (const door::Stop& stopped) {
    std::cerr << "gauze: stopped" << stopped.what_it_costs << "\n";
    return 128 + stopped.signal;
  } catch (const std::bad_alloc&) {
    return report(ErrorCode::kInvalidInput, door::kNoMemory, as_json);
  } catch (const std::exception& error) {
    return report(ErrorCode::kInternal, door::kBug + std::string(error.what()), as_json);
  }
}

}  // namespace gauze::cli
