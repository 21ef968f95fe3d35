#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

namespace gauze::sql_test {

/// A folder that goes away with the test.
struct Folder {
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "gauze_sql_XXXXXX").string();
    path = ::mkdtemp(name.data());
  }
  ~Folder() { std::filesystem::remove_all(path); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::filesystem::path path;
};

}  // namespace gauze::sql_test
