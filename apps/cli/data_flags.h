#pragma once

#include <CLI/App.hpp>

#include "gauze/service/workspace.h"

namespace gauze::cli {

/// Where the rows are, what is known of them and who pays, as flags.
void add_data_options(CLI::App& command, service::DataOptions& options);

}  // namespace gauze::cli
