#include "gauze/service/files.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <memory>

#include "gauze/base/error.h"

namespace gauze::service {
namespace {

[[noreturn]] void cannot_write(const std::string& path) {
  throw Error(ErrorCode::kIo, "the file '" + path +
                                  "' cannot be written; check its name, that it is no folder, its "
                                  "folder, its permissions and that the disk is not full");
}

}  // namespace

std::string read_all(const std::string& path) {
  const bool standard = path == "-";
  const auto close = [](std::FILE* file) { return file == stdin ? 0 : std::fclose(file); };
  const std::unique_ptr<std::FILE, decltype(close)> file(
      standard ? stdin : std::fopen(path.c_str(), "rb"), close);
  std::string contents;
  char block[1 << 16];
  while (file != nullptr) {
    const std::size_t got = std::fread(block, 1, sizeof block, file.get());
    if (got == 0) break;
    contents.append(block, got);
  }
  // Opening a folder works; reading it does not.
  if (file == nullptr || std::ferror(file.get()) != 0) {
    throw Error(ErrorCode::kIo,
                (standard ? "standard input" : "the file '" + path + "'") +
                    " cannot be read; check its name and permissions, and that it is no folder" +
                    (standard ? "" : ", or give - to read standard input"));
  }
  return contents;
}

void write_all(const std::string& path, std::string_view contents) {
  const std::string unfinished = path + ".part";
  std::FILE* file = std::fopen(unfinished.c_str(), "wb");
  bool good = file != nullptr;
  good = good && std::fwrite(contents.data(), 1, contents.size(), file) == contents.size();
  good = (file == nullptr || std::fclose(file) == 0) && good;
  good = good && std::rename(unfinished.c_str(), path.c_str()) == 0;
  if (good) return;
  if (file != nullptr) std::remove(unfinished.c_str());
  cannot_write(path);
}

void check_writable(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code failed;
  if (fs::is_directory(fs::symlink_status(path, failed))) cannot_write(path);
  // Files are written under a longer name first, and moved when they are whole; none is longer than this.
  const std::string draft = path + ".part" + std::to_string(getpid()) + "-trial";
  const int file = open(draft.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (file < 0) cannot_write(path);
  close(file);
  unlink(draft.c_str());
}

bool same_file(const std::string& path, const std::string& other) {
  namespace fs = std::filesystem;
  std::error_code failed;
  if (fs::equivalent(path, other, failed)) return true;
  const auto canonical = [&](const std::string& name) {
    return fs::weakly_canonical(fs::absolute(name, failed), failed);
  };
  return canonical(path) == canonical(other);
}

void refuse_to_replace(const std::string& path, const char* option) {
  throw Error(ErrorCode::kInvalidOption, std::string(option) + ": '" + path +
                                             "' is what the question reads (data, schema or "
                                             "ledger), or would be next time; choose another name");
}

}  // namespace gauze::service
