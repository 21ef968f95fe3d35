#include <gtest/gtest.h>
#include <sys/stat.h>
#include <utime.h>

#include <filesystem>
#include <fstream>

#include "gauze/data/spill_folder_internal.h"
#include "gauze/testing/matchers.h"

namespace gauze::internal {
namespace {

namespace fs = std::filesystem;

/// As if it had been there for an hour.
void make_old(const fs::path& path) {
  const utimbuf times{std::time(nullptr) - 3600, std::time(nullptr) - 3600};
  ASSERT_EQ(::utime(path.c_str(), &times), 0);
}

/// With rows in it.
void leave(const fs::path& path) {
  fs::create_directories(path / "inside");
  std::ofstream(path / "inside" / "duckdb_temp_storage_0.tmp") << "person";
}

TEST(SpillFolder, GoesAwayAndTakesWithItWhatKilledProcessesLeft) {
  const SpillFolder outer("");
  const fs::path base = outer.path();
  leave(base / "gauze-spill-killed");
  make_old(base / "gauze-spill-killed");
  leave(base / "gauze-spill-young");
  leave(base / "something-else");
  make_old(base / "something-else");
  fs::create_directory_symlink(base / "something-else", base / "gauze-spill-link");
  const SpillFolder used(base.string());
  leave(used.path());
  make_old(used.path());
  std::string path;
  {
    const SpillFolder folder(base.string());
    path = folder.path();
    leave(path);
    struct stat about {};
    ASSERT_EQ(::stat(path.c_str(), &about), 0);
    EXPECT_EQ(about.st_mode & 0777u, 0700u);
  }
  EXPECT_FALSE(fs::exists(path));
  EXPECT_FALSE(fs::exists(base / "gauze-spill-killed"));
  EXPECT_TRUE(fs::exists(base / "gauze-spill-young/inside"));
  EXPECT_TRUE(fs::exists(base / "something-else/inside"));
  EXPECT_TRUE(fs::is_symlink(base / "gauze-spill-link"));
  EXPECT_TRUE(fs::exists(fs::path(used.path()) / "inside"));
  EXPECT_ERROR(SpillFolder("/nowhere"), ErrorCode::kIo);
}

}  // namespace
}  // namespace gauze::internal
