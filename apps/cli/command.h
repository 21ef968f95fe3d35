#pragma once

#include <CLI/App.hpp>

#include "gauze/registry/algorithm.h"

namespace gauze::cli {

/// Thrown by a command that has said all there is to say and ends with this code.
struct Exit {
  int code = 0;
};
constexpr int kViolationFound = 6;

/// Each subcommand lives in the file of its name and adds itself to the program: its options, its
/// help with examples, and the callback that does the work and prints the answer to standard
/// output. Errors are thrown and become exit codes in program.cc.
void add_audit(CLI::App& app, const Registry& registry);
void add_sql(CLI::App& app, const Registry& registry);
void add_example(CLI::App& app);
void add_schema(CLI::App& app);
void add_run(CLI::App& app, const Registry& registry);
void add_ledger(CLI::App& app);
void add_list(CLI::App& app, const Registry& registry);
void add_describe(CLI::App& app, const Registry& registry);
void add_release(CLI::App& app, const Registry& registry);
void add_account(CLI::App& app);
void add_calibrate(CLI::App& app);
void add_noise(CLI::App& app);
void add_explain(CLI::App& app);
void add_tour(CLI::App& app, const Registry& registry);
void add_version(CLI::App& app);

}  // namespace gauze::cli
