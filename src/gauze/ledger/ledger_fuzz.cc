// A file that claims to be a ledger: any bytes, or a true ledger with some of its bytes changed. It is
// refused, or behaves like one; a ledger that verifies never grants more than its budget.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "gauze/base/error.h"
#include "gauze/ledger/ledger.h"

namespace {

using gauze::Budget;
using gauze::Ledger;

gauze::Event pure(const char* epsilon) {
  return {gauze::events::Pure{gauze::parse_ratio(epsilon)}, gauze::Relation::kAddRemove};
}

/// Removed when the fuzzer ends.
struct Folder {
  Folder() {
    std::string name = std::filesystem::is_directory("/dev/shm")
                           ? "/dev/shm/gauze-ledger-fuzz-XXXXXX"
                           : "/tmp/gauze-ledger-fuzz-XXXXXX";
    path = mkdtemp(name.data());
  }
  ~Folder() { std::filesystem::remove_all(path); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::string path;
};

const std::string& folder() {
  static const Folder kFolder;
  return kFolder.path;
}

const std::string& true_ledger() {
  static const std::string kBytes = [] {
    const std::string path = folder() + "/true";
    {
      Ledger ledger = Ledger::create(path, {{"people", Budget::pure(1)}});
      ledger.set_schema("people", {std::string(64, 'a')});
      ledger.set_share("people", "ada", Budget::pure(1));
      const gauze::Request request{.dataset = "people", .analyst = "ada", .text = "SELECT 1"};
      ledger.settle(ledger.reserve(request, pure("0.25")));
      ledger.interrupt(ledger.reserve(request, pure("0.5")));
    }
    std::ifstream file(path, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
  }();
  return kBytes;
}

void use(const std::string& path) {
  Ledger ledger = Ledger::open(path, std::chrono::milliseconds(1));
  ledger.accounts();
  ledger.history();
  ledger.export_lines([](const std::string&) {});
  try {
    ledger.verify();
  } catch (const gauze::Error&) {
    // Not whole; it must still be safe to ask.
    ledger.reserve({.dataset = "people", .analyst = "ada"}, pure("0.125"));
    return;
  }
  try {
    for (;;) ledger.settle(ledger.reserve({.dataset = "people", .analyst = "ada"}, pure("0.125")));
  } catch (const gauze::Error&) {
  }
  for (const gauze::Account& account : ledger.accounts()) {
    if (!account.limit.covers(account.spent)) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  if (size == 0) return 0;
  std::string bytes;
  if (data[0] % 4 == 0) {
    bytes.assign(reinterpret_cast<const char*>(data) + 1, size - 1);
  } else {
    bytes = true_ledger();
    for (std::size_t i = 1; i + 3 < size; i += 4) {
      const std::size_t at = data[i] + 256u * data[i + 1] + 65536u * data[i + 2];
      bytes[at % bytes.size()] = static_cast<char>(data[i + 3]);
    }
  }
  const std::string path = folder() + "/ledger";
  for (const char* suffix : {"", "-wal", "-shm", "-journal"}) {
    std::filesystem::remove(path + suffix);
  }
  std::ofstream(path, std::ios::binary) << bytes;
  try {
    use(path);
  } catch (const gauze::Error&) {
  }
  return 0;
}
