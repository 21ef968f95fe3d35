#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <ctime>
#include <filesystem>

#include "gauze/base/error.h"
#include "gauze/data/spill_folder_internal.h"

namespace gauze::internal {
namespace {

namespace fs = std::filesystem;

constexpr const char* kBegin = "gauze-spill-";
constexpr std::time_t kYoung = 60;  // seconds in which whoever made it has surely locked it

/// Takes the lock of a folder that nobody else holds; -1 where somebody does.
int lock_of(const fs::path& folder) {
  const int file = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (file >= 0 && ::flock(file, LOCK_EX | LOCK_NB) == 0) return file;
  if (file >= 0) ::close(file);
  return -1;
}

void remove_left(const fs::path& base) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(base, ignored)) {
    struct stat about {};
    if (!entry.path().filename().string().starts_with(kBegin) ||
        ::lstat(entry.path().c_str(), &about) != 0 || !S_ISDIR(about.st_mode) ||
        about.st_uid != ::geteuid() || about.st_mtime > std::time(nullptr) - kYoung)
      continue;
    const int lock = lock_of(entry.path());
    if (lock < 0) continue;
    fs::remove_all(entry.path(), ignored);
    ::close(lock);
  }
}

}  // namespace

SpillFolder::SpillFolder(const std::string& under) {
  std::error_code ignored;
  const fs::path base = under.empty() ? fs::temp_directory_path(ignored) : fs::path(under);
  remove_left(base);
  path_ = fs::absolute(base / (std::string(kBegin) + "XXXXXX"), ignored).string();
  if (mkdtemp(path_.data()) == nullptr)
    throw Error(ErrorCode::kIo, "cannot make a temporary folder in '" + base.string() +
                                    "'; choose another with TMPDIR");
  lock_ = lock_of(path_);
}

SpillFolder::~SpillFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
  if (lock_ >= 0) ::close(lock_);
}

}  // namespace gauze::internal
