#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

#include "gauze/ledger/ledger.h"
#include "gauze/testing/events.h"

namespace gauze::testing {

/// A folder of the test's own, removed at the end.
class LedgerFolder {
 public:
  LedgerFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "gauze-ledger-XXXXXX").string();
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
  Ledger ledger = Ledger::create(where);
  ledger.add_dataset({"people", budget});
  return ledger;
}

inline Request ask(const std::string& text = "SELECT COUNT(*) FROM people",
                   const std::string& analyst = "") {
  return {.dataset = "people", .analyst = analyst, .caller = "test", .text = text};
}

}  // namespace gauze::testing
