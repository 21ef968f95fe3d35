// SQLite keeps the ledger of one machine: a write-ahead log that is synced at every commit.
#include <fcntl.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <map>
#include <new>
#include <optional>
#include <utility>

#include "gauze/base/address.h"
#include "gauze/base/error.h"
#include "gauze/ledger/connection_internal.h"
#include "gauze/ledger/record_internal.h"

namespace gauze::ledger {
namespace {

constexpr const char* kApplication = "1197569402";  // "Gauz": what `file` and SQLite call us by
constexpr const char* kVersion = "1";

[[noreturn]] void fail(int result, const std::string& path) {
  const std::string where = "the ledger '" + shown_address(path) + "' ";
  switch (result & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_PROTOCOL:
      throw Error(ErrorCode::kBusy,
                  where + "is in use by somebody else; nothing was charged, try again");
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    case SQLITE_FORMAT:
      throw Error(ErrorCode::kLedgerDamaged,
                  where + "is damaged, or no ledger at all; restore a copy");
    case SQLITE_FULL:
      throw Error(ErrorCode::kIo, where + "cannot grow: the disk is full; make room, try again");
    case SQLITE_CANTOPEN:
      throw Error(ErrorCode::kIo, where +
                                      "cannot be opened; check its name, and that it and its "
                                      "folder may be written. `gauze ledger init` makes one");
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_AUTH:
      throw Error(ErrorCode::kIo,
                  where +
                      "cannot be written; check the permissions of the file and its folder, "
                      "and the room on the disk");
    case SQLITE_IOERR:
      throw Error(ErrorCode::kIo,
                  where +
                      "cannot be read or written; check the permissions of the file and its "
                      "folder, and the room on the disk");
    case SQLITE_NOMEM:
      throw std::bad_alloc();
    case SQLITE_TOOBIG:
      throw Error(ErrorCode::kInvalidInput, "this text is too long for a ledger");
    default:
      // Our statements are right for our schema; so the schema is not ours.
      throw Error(ErrorCode::kLedgerDamaged,
                  where + "does not have the tables of a ledger; restore a copy");
  }
}

struct SqliteCloser {
  void operator()(sqlite3* database) const { sqlite3_close_v2(database); }
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};

struct Resetter {
  void operator()(sqlite3_stmt* statement) const {
    sqlite3_reset(statement);
    sqlite3_clear_bindings(statement);
  }
};

class SqliteConnection final : public Connection {
 public:
  SqliteConnection(std::string path, std::chrono::milliseconds patience) : path_(std::move(path)) {
    // SQLite takes ":memory:" and some others for what is no file.
    open_database(std::filesystem::absolute(path_).string());
    sqlite3_busy_timeout(database_.get(), static_cast<int>(patience.count()));
    distrust();
  }

  /// To read only: what the file at `path` held, whole and without a log.
  SqliteConnection(std::string path, std::string contents)
      : path_(std::move(path)), contents_(std::move(contents)) {
    open_database(":memory:");
    auto* bytes = reinterpret_cast<unsigned char*>(contents_->data());
    const auto size = static_cast<sqlite3_int64>(contents_->size());
    require_ok(sqlite3_deserialize(database_.get(), "main", bytes, size, size,
                                   SQLITE_DESERIALIZE_READONLY));
    distrust();
  }

  /// From here on every commit is synced before it returns.
  void make_durable() {
    const Rows mode = execute("PRAGMA journal_mode = WAL");
    if (mode.empty() || mode[0][0] != "wal") fail(SQLITE_IOERR, path_);
    execute("PRAGMA synchronous = FULL");
  }

  void expect_ledger(const std::vector<std::string>& schema) {
    const Rows application = execute("PRAGMA application_id");
    if (application.empty() || application[0][0] != kApplication) fail(SQLITE_NOTADB, path_);
    if (const Rows version = execute("PRAGMA user_version");
        version.empty() || version[0][0] != kVersion) {
      throw Error(ErrorCode::kUnsupported,
                  "the ledger '" + shown_address(path_) +
                      "' was written by another version of Gauze; use that");
    }
    // SQLite keeps the text of each statement that made the schema.
    std::vector<std::string> expected = schema;
    std::vector<std::string> found;
    for (const Row& row :
         execute("SELECT sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\'")) {
      found.push_back(row[0]);
    }
    std::sort(expected.begin(), expected.end());
    std::sort(found.begin(), found.end());
    if (expected != found) fail(SQLITE_ERROR, path_);
  }

  void build(const Setup& setup) {
    execute("PRAGMA synchronous = FULL");
    begin(Access::kWrite);
    execute("PRAGMA application_id = " + std::string(kApplication));
    execute("PRAGMA user_version = " + std::string(kVersion));
    commit(setup(*this));
  }

  Rows execute(const std::string& sql, const std::vector<std::string>& parameters = {}) override {
    sqlite3_stmt* statement = prepared(sql);
    // Leaves the statement as if it had not been used, whatever happens.
    const std::unique_ptr<sqlite3_stmt, Resetter> in_use(statement);
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      // SQLite numbers "$2" by where it stands, so parameters are found by name.
      const std::string name = std::string("$").append(std::to_string(i + 1));
      require_ok(sqlite3_bind_text64(
          statement, sqlite3_bind_parameter_index(statement, name.c_str()), parameters[i].data(),
          parameters[i].size(), SQLITE_STATIC, SQLITE_UTF8));
    }
    Rows rows;
    int result = sqlite3_step(statement);
    for (; result == SQLITE_ROW; result = sqlite3_step(statement)) {
      rows.push_back(row_of(statement));
    }
    if (result != SQLITE_DONE) fail(result, path_);
    return rows;
  }

  void begin(Access access) override {
    if (access == Access::kWrite && contents_) fail(SQLITE_READONLY, path_);
    if (access == Access::kWrite) expect_in_place();
    execute(access == Access::kWrite ? "BEGIN IMMEDIATE" : "BEGIN");
  }
  void commit(const Record& /*last*/) override { execute("COMMIT"); }
  void roll_back() noexcept override {
    sqlite3_exec(database_.get(), "ROLLBACK", nullptr, nullptr, nullptr);
  }
  void check() override {
    const Rows rows = execute("PRAGMA integrity_check(1)");
    if (rows.empty() || rows[0][0] != "ok") fail(SQLITE_CORRUPT, path_);
  }

 private:
  void open_database(const std::string& file) {
    sqlite3* database = nullptr;
    const int result = sqlite3_open_v2(file.c_str(), &database,
                                       SQLITE_OPEN_READWRITE | SQLITE_OPEN_FULLMUTEX, nullptr);
    database_.reset(database);
    if (result != SQLITE_OK) fail(result, path_);
  }

  void distrust() {
    sqlite3* database = database_.get();
    // The file may come from anybody: its schema must not make us do anything but store rows.
    sqlite3_db_config(database, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
    sqlite3_db_config(database, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
    sqlite3_db_config(database, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
    sqlite3_db_config(database, SQLITE_DBCONFIG_ENABLE_VIEW, 0, nullptr);
    execute("PRAGMA cell_size_check = ON");
  }

  void require_ok(int result) const {
    if (result != SQLITE_OK) fail(result, path_);
  }

  /// The log belongs to a name: under another one nobody would see what is in it.
  void expect_in_place() const {
    int moved = 0;
    sqlite3_file_control(database_.get(), "main", SQLITE_FCNTL_HAS_MOVED, &moved);
    if (moved != 0)
      throw Error(ErrorCode::kIo, "the ledger '" + shown_address(path_) +
                                      "' was moved or removed while it was in use; put it back");
  }

  sqlite3_stmt* prepared(const std::string& sql) {
    auto& statement = statements_[sql];
    if (statement == nullptr) {
      sqlite3_stmt* fresh = nullptr;
      require_ok(sqlite3_prepare_v2(database_.get(), sql.c_str(), -1, &fresh, nullptr));
      statement.reset(fresh);
    }
    return statement.get();
  }

  static Row row_of(sqlite3_stmt* statement) {
    Row row;
    for (int i = 0; i < sqlite3_column_count(statement); ++i) {
      const unsigned char* text = sqlite3_column_text(statement, i);
      const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement, i));
      row.emplace_back(reinterpret_cast<const char*>(text), text == nullptr ? 0 : size);
    }
    return row;
  }

  std::string path_;
  std::optional<std::string> contents_;  ///< outlives the database that reads it
  std::unique_ptr<sqlite3, SqliteCloser> database_;
  std::map<std::string, std::unique_ptr<sqlite3_stmt, SqliteCloser>> statements_;
};

/// The files of a database, by how their names end.
constexpr std::array kParts = {"", "-wal", "-shm", "-journal"};
/// Those of them in which something may wait.
constexpr std::array kLogs = {"-wal", "-journal"};

/// A name of our own beside the ledger, removed again whatever happens.
class Draft {
 public:
  explicit Draft(const std::string& path) : path_(path + ".new-XXXXXX") {
    const int file = mkstemp(path_.data());
    if (file < 0) fail(SQLITE_CANTOPEN, path);
    close(file);
  }
  ~Draft() {
    for (const char* suffix : kParts) unlink((path_ + suffix).c_str());
  }
  Draft(const Draft&) = delete;
  Draft& operator=(const Draft&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

[[noreturn]] void taken(const std::string& path) {
  throw Error(ErrorCode::kInvalidOption,
              "there is already something at '" + shown_address(path) +
                  "', which is left as it is; choose another name, or add a data set to it with "
                  "`gauze ledger add`");
}

/// Refuses a place that is not free. SQLite would take the log of a ledger that is gone for that of the new one.
void expect_free(const std::string& path) {
  struct stat status {};
  if (lstat(path.c_str(), &status) == 0) taken(path);
  for (const char* suffix : kParts) {
    if (lstat((path + suffix).c_str(), &status) != 0) continue;
    throw Error(ErrorCode::kInvalidOption,
                "'" + shown_address(path + suffix) +
                    "' is left of another ledger, and may hold what was spent there; put that "
                    "ledger back beside it, or choose another name");
  }
}

/// The log lies beside a name: under two of them each would be asked by itself, and the budget spent twice.
void expect_one_name(const std::string& path) {
  struct statx status {};
  if (statx(AT_FDCWD, path.c_str(), 0, STATX_TYPE | STATX_NLINK, &status) != 0) {
    // Some containers forbid the call.
    struct stat plain {};
    if (stat(path.c_str(), &plain) != 0) return;
    status.stx_mode = static_cast<decltype(status.stx_mode)>(plain.st_mode);
    status.stx_nlink = static_cast<decltype(status.stx_nlink)>(plain.st_nlink);
  }
  if (!S_ISREG(status.stx_mode)) return;
  if (status.stx_nlink > 1)
    throw Error(ErrorCode::kIo, "the ledger '" + shown_address(path) +
                                    "' has a second name (a hard link), under which its budget "
                                    "could be spent twice; remove the other name, or make a copy");
  if ((status.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0)
    throw Error(ErrorCode::kIo,
                "the ledger '" + shown_address(path) +
                    "' is mounted as a single file, so that it has a second name "
                    "under which its budget could be spent twice; mount its folder");
}

/// Of a file that may change: how long it is and when it was written; nothing where there is none.
std::optional<std::array<std::int64_t, 3>> stamp_of(const std::string& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) return std::nullopt;
  return std::array<std::int64_t, 3>{status.st_size, status.st_mtim.tv_sec, status.st_mtim.tv_nsec};
}

/// What the file holds, if nobody writes meanwhile and nothing waits in a log: for a database that has none. SQLite reads
/// it, for whoever else closes the file lets go of all locks that this process has on it.
std::optional<std::string> settled_contents(const std::string& path) {
  constexpr std::size_t kHeader = 100, kVersions = 18;
  const auto logged = [&] {
    return std::any_of(std::begin(kLogs), std::end(kLogs), [&](const char* suffix) {
      const auto log = stamp_of(path + suffix);
      return log && log->front() > 0;
    });
  };
  const auto before = stamp_of(path);
  if (!before || logged()) return std::nullopt;
  std::string name = "file:";
  for (const char c : std::filesystem::absolute(path).string()) {
    char escaped[4];
    std::snprintf(escaped, sizeof escaped, "%%%02X", static_cast<unsigned char>(c));
    name += escaped;
  }
  sqlite3* opened = nullptr;
  const int result =
      sqlite3_open_v2((name + "?immutable=1").c_str(), &opened,
                      SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_FULLMUTEX, nullptr);
  const std::unique_ptr<sqlite3, SqliteCloser> database(opened);
  if (result != SQLITE_OK) return std::nullopt;
  sqlite3_int64 size = 0;
  const std::unique_ptr<unsigned char, decltype(&sqlite3_free)> bytes(
      sqlite3_serialize(opened, "main", &size, 0), sqlite3_free);
  if (bytes == nullptr || size < static_cast<sqlite3_int64>(kHeader) || stamp_of(path) != before ||
      logged())
    return std::nullopt;
  std::string contents(reinterpret_cast<const char*>(bytes.get()), static_cast<std::size_t>(size));
  contents[kVersions] = contents[kVersions + 1] = 1;
  return contents;
}

/// A new name is durable when its folder is.
void sync_folder(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  const int file = open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const bool synced = file >= 0 && fsync(file) == 0;
  if (file >= 0) close(file);
  if (!synced) fail(SQLITE_IOERR, path);
}

}  // namespace

void create_sqlite(const std::string& path, const Setup& setup,
                   std::chrono::milliseconds patience) {
  expect_free(path);
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  if (std::error_code ignored; !folder.empty() && !std::filesystem::exists(folder, ignored))
    throw Error(ErrorCode::kIo, "the folder '" + folder.string() +
                                    "' of the new ledger does not exist; make it first");
  // Built under another name and moved when complete: there is never half a ledger, and of two who
  // create the same one, one is told. The write-ahead log comes last, so that nothing is in it.
  const Draft draft(path);
  {
    SqliteConnection connection(draft.path(), patience);
    connection.build(setup);
    connection.make_durable();
  }
  expect_free(path);
  if (renameat2(AT_FDCWD, draft.path().c_str(), AT_FDCWD, path.c_str(), RENAME_NOREPLACE) != 0) {
    if (errno == EEXIST) taken(path);
    fail(SQLITE_IOERR, path);
  }
  sync_folder(path);
}

std::unique_ptr<Connection> open_sqlite(const std::string& path,
                                        const std::vector<std::string>& schema,
                                        std::chrono::milliseconds patience) {
  expect_one_name(path);
  try {
    auto connection = std::make_unique<SqliteConnection>(path, patience);
    connection->expect_ledger(schema);
    connection->make_durable();
    return connection;
  } catch (const Error& error) {
    // Reading takes a log and its index too, which a full disk or a folder that is mounted to read has no place for.
    if (error.code() != ErrorCode::kIo) throw;
    std::optional<std::string> contents = settled_contents(path);
    if (!contents) throw;
    auto connection = std::make_unique<SqliteConnection>(path, std::move(*contents));
    connection->expect_ledger(schema);
    return connection;
  }
}

}  // namespace gauze::ledger
