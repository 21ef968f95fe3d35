#pragma once

#include <string>
#include <vector>

namespace gauze::internal {

/// Runs statements one after the other in an embedded engine of their own: to write files. Throws
/// `kIo` at the first that fails, without its text.
void run_duckdb(const std::vector<std::string>& statements);

}  // namespace gauze::internal
