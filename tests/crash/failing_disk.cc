// A layer over SQLite's own file system. Writes go through at once; what they replaced since the last
// sync is kept, so that losing power can put it back.
#include "failing_disk.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <new>
#include <optional>
#include <vector>

namespace gauze::testing {
namespace {

constexpr int kExitOfTheMachine = 77;

struct Write {
  std::string path;
  std::string bytes;
  std::int64_t offset = 0;
  std::optional<std::int64_t> size;  // a truncation
};

struct Disk {
  Stop stop;
  std::uint64_t operations = 0;
  sqlite3_vfs* real = nullptr;
  std::map<std::string, std::string> synced;   // contents at the last sync of files written since
  std::map<std::string, std::string> deleted;  // contents of files deleted since
  std::vector<Write> unsynced;                 // in order, over all files
};

// SQLite calls back without a word about whose disk it is.
Disk& disk() {
  static Disk the_disk;
  return the_disk;
}

std::string contents(const std::string& path) {
  std::string text;
  const int file = open(path.c_str(), O_RDONLY);
  char block[1 << 16];
  for (ssize_t got = 0; (got = read(file, block, sizeof block)) > 0;) {
    text.append(block, static_cast<std::size_t>(got));
  }
  // Closing would drop the locks that SQLite has on the file; the process does not live long.
  return text;
}

void put(const std::string& path, const std::string& text) {
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (file < 0 || write(file, text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
    _exit(78);
  }
}

void apply(const Write& write, std::size_t bytes) {
  const int file = open(write.path.c_str(), O_WRONLY);
  if (file < 0) return;
  if (write.size) {
    if (ftruncate(file, *write.size) != 0) _exit(78);
  } else if (pwrite(file, write.bytes.data(), bytes, write.offset) < 0) {
    _exit(78);
  }
}

void lose_power() {
  Disk& d = disk();
  for (const auto& [path, text] : d.deleted) {
    if (!std::filesystem::exists(path)) put(path, text);
  }
  for (const auto& [path, text] : d.synced) {
    if (std::filesystem::exists(path)) put(path, text);
  }
  const std::size_t half = (d.unsynced.size() + 1) / 2;
  for (std::size_t i = 0; i < d.unsynced.size(); ++i) {
    const Write& write = d.unsynced[i];
    if (d.stop.kind == Stop::Kind::kPowerLostMixed && i % 2 == 0) apply(write, write.bytes.size());
    if (d.stop.kind == Stop::Kind::kPowerLostPrefix && i < half) {
      apply(write, i + 1 == half ? write.bytes.size() / 2 : write.bytes.size());
    }
  }
}

/// Counts, and ends the process when it is time.
void step(const Write* write = nullptr) {
  Disk& d = disk();
  if (++d.operations != d.stop.at) return;
  switch (d.stop.kind) {
    case Stop::Kind::kKilled:
      break;
    case Stop::Kind::kKilledInside:
      if (write != nullptr && !write->size) apply(*write, write->bytes.size() / 2);
      break;
    default:
      if (write != nullptr) d.unsynced.push_back(*write);
      lose_power();
  }
  _exit(kExitOfTheMachine);
}

void remember(const Write& write) {
  Disk& d = disk();
  if (!d.synced.contains(write.path)) d.synced[write.path] = contents(write.path);
}

void forget(const std::string& path) {
  Disk& d = disk();
  d.synced.erase(path);
  std::erase_if(d.unsynced, [&](const Write& write) { return write.path == path; });
}

struct File {
  sqlite3_file base;
  std::string* path;
  // The real file follows.
};

File* mine(sqlite3_file* file) {
  return reinterpret_cast<File*>(file);
}
sqlite3_file* real(sqlite3_file* file) {
  return reinterpret_cast<sqlite3_file*>(mine(file) + 1);
}

int close_file(sqlite3_file* file) {
  delete mine(file)->path;
  return real(file)->pMethods->xClose(real(file));
}
int read_file(sqlite3_file* file, void* to, int size, sqlite3_int64 offset) {
  return real(file)->pMethods->xRead(real(file), to, size, offset);
}
int write_file(sqlite3_file* file, const void* from, int size, sqlite3_int64 offset) {
  const Write write{*mine(file)->path,
                    std::string(static_cast<const char*>(from), static_cast<std::size_t>(size)),
                    offset,
                    {}};
  remember(write);
  step(&write);
  disk().unsynced.push_back(write);
  return real(file)->pMethods->xWrite(real(file), from, size, offset);
}
int truncate_file(sqlite3_file* file, sqlite3_int64 size) {
  const Write write{*mine(file)->path, "", 0, size};
  remember(write);
  step(&write);
  disk().unsynced.push_back(write);
  return real(file)->pMethods->xTruncate(real(file), size);
}
int sync_file(sqlite3_file* file, int flags) {
  step();
  if (disk().stop.sync_is_a_lie) return SQLITE_OK;
  const int result = real(file)->pMethods->xSync(real(file), flags);
  forget(*mine(file)->path);
  return result;
}
int file_size(sqlite3_file* file, sqlite3_int64* size) {
  return real(file)->pMethods->xFileSize(real(file), size);
}
int lock(sqlite3_file* file, int level) {
  return real(file)->pMethods->xLock(real(file), level);
}
int unlock(sqlite3_file* file, int level) {
  return real(file)->pMethods->xUnlock(real(file), level);
}
int check_reserved(sqlite3_file* file, int* out) {
  return real(file)->pMethods->xCheckReservedLock(real(file), out);
}
int control(sqlite3_file* file, int operation, void* argument) {
  return real(file)->pMethods->xFileControl(real(file), operation, argument);
}
int sector_size(sqlite3_file* file) {
  return real(file)->pMethods->xSectorSize(real(file));
}
int characteristics(sqlite3_file* /*file*/) {
  return 0;  // no promise at all, such as writes that are never torn
}
int shm_map(sqlite3_file* file, int page, int size, int extend, void volatile** out) {
  return real(file)->pMethods->xShmMap(real(file), page, size, extend, out);
}
int shm_lock(sqlite3_file* file, int offset, int n, int flags) {
  return real(file)->pMethods->xShmLock(real(file), offset, n, flags);
}
void shm_barrier(sqlite3_file* file) {
  real(file)->pMethods->xShmBarrier(real(file));
}
int shm_unmap(sqlite3_file* file, int remove) {
  return real(file)->pMethods->xShmUnmap(real(file), remove);
}

const sqlite3_io_methods kMethods = {
    2,        close_file,  read_file,      write_file, truncate_file, sync_file,       file_size,
    lock,     unlock,      check_reserved, control,    sector_size,   characteristics, shm_map,
    shm_lock, shm_barrier, shm_unmap,      nullptr,    nullptr};

int open_file(sqlite3_vfs* /*vfs*/, const char* name, sqlite3_file* file, int flags, int* out) {
  file->pMethods = nullptr;
  const int result = disk().real->xOpen(disk().real, name, real(file), flags, out);
  if (result != SQLITE_OK) return result;
  mine(file)->path = new std::string(name == nullptr ? "" : name);
  file->pMethods = &kMethods;
  return SQLITE_OK;
}

int delete_file(sqlite3_vfs* /*vfs*/, const char* name, int sync) {
  step();
  disk().deleted[name] = contents(name);
  forget(name);
  return disk().real->xDelete(disk().real, name, sync);
}

}  // namespace

void put_databases_on_failing_disk(const Stop& stop) {
  Disk& d = disk();
  d.stop = stop;
  d.real = sqlite3_vfs_find(nullptr);
  static sqlite3_vfs layer = *d.real;
  layer.zName = "failing_disk";
  layer.szOsFile = d.real->szOsFile + static_cast<int>(sizeof(File));
  layer.pNext = nullptr;
  layer.xOpen = open_file;
  layer.xDelete = delete_file;
  sqlite3_vfs_register(&layer, /*makeDflt=*/1);
}

std::uint64_t disk_operations() {
  return disk().operations;
}

}  // namespace gauze::testing
