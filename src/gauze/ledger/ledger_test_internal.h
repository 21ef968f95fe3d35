#pragma once

#include <sqlite3.h>

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>

#include "gauze/ledger/ledger.h"
#include "gauze/testing/events.h"

namespace gauze::testing {

/// A folder of the test's own, removed at the end. In memory, if there is such a place, for tests
/// that sync often and lose nothing by it.
class LedgerFolder {
 public:
  enum class Place { kDisk, kMemory };
  explicit LedgerFolder(Place place = Place::kDisk) {
    const bool in_memory = place == Place::kMemory && std::filesystem::is_directory("/dev/shm");
    const auto parent = in_memory ? "/dev/shm" : std::filesystem::temp_directory_path();
    std::string name = (parent / "gauze-ledger-XXXXXX").string();
    path_ = mkdtemp(name.data());
  }
  ~LedgerFolder() { std::filesystem::remove_all(path_); }
  LedgerFolder(const LedgerFolder&) = delete;
  LedgerFolder& operator=(const LedgerFolder&) = delete;

  const std::string& path() const { return path_; }
  std::string file(const std::string& name = "people.ledger") const { return path_ + "/" + name; }

 private:
  std::string path_;
};

/// A ledger with the data set `people`.
inline Ledger new_ledger(const std::string& where, const Budget& budget) {
  return Ledger::create(where, {{"people", budget}});
}

/// Changes the file behind the ledger's back.
inline void tamper(const std::string& path, const std::string& sql) {
  sqlite3* database = nullptr;
  const bool changed = sqlite3_open(path.c_str(), &database) == SQLITE_OK &&
                       sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK;
  sqlite3_close(database);
  if (!changed) throw std::runtime_error("the ledger could not be tampered with: " + sql);
}

inline Request ask(const std::string& text = "SELECT COUNT(*) FROM people",
                   const std::string& analyst = "") {
  return {.dataset = "people", .analyst = analyst, .caller = "test", .text = text};
}

}  // namespace gauze::testing
