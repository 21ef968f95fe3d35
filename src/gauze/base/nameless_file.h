#pragma once

#include <string>

namespace gauze::internal {

/// A new file in a folder, open for reading and writing, that has no name: it is gone when it is closed, also by a crash.
/// -1 where none can be made.
int open_nameless(const std::string& folder);

}  // namespace gauze::internal
