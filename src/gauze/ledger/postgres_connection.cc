// PostgreSQL keeps the ledger of several machines.
#include <libpq-fe.h>
#include <poll.h>

#include <array>
#include <string_view>
#include <thread>

#include "gauze/base/error.h"
#include "gauze/ledger/connection_internal.h"
#include "gauze/ledger/record_internal.h"

namespace gauze::ledger {
namespace {

// Whoever writes holds this lock. Advisory, so that analysts need no right but to select and insert.
constexpr const char* kLock = "5147529362114871913";

// Where the fate of a commit is not known.
constexpr std::chrono::milliseconds kBetweenTries{50};
// For which a server may be silent beyond its limit on waiting for others.
constexpr std::chrono::milliseconds kBeyondPatience{10'000};

struct PostgresCloser {
  void operator()(PGconn* connection) const { PQfinish(connection); }
  void operator()(PGresult* result) const { PQclear(result); }
};

// Messages never contain the address, which may contain a password.
[[noreturn]] void unavailable() {
  throw Error(ErrorCode::kUnavailable,
              "the database server that keeps the ledger does not answer, or does not let us in; "
              "check the address, user and password, and that the server runs");
}

[[noreturn]] void fail(std::string_view state) {
  const std::string_view group = state.substr(0, 2);
  if (state == "55P03" || group == "40" || state == "23505") {
    throw Error(ErrorCode::kBusy,
                "the ledger is in use by somebody else; nothing was charged, try again");
  }
  if (state == "42P01" || state == "3D000") {
    throw Error(ErrorCode::kIo,
                "this database holds no ledger; `gauze ledger init` makes one in it");
  }
  if (state == "42P07") {
    throw Error(ErrorCode::kInvalidOption,
                "this database holds a ledger already, which is left as it is; add a data set to "
                "it with `gauze ledger add`");
  }
  if (state == "42501" || state == "25006" || state == "53100" || group == "58") {
    throw Error(ErrorCode::kIo,
                "the database server cannot write the ledger; check the rights of the user (select "
                "and insert on gauze_ledger) and the room on its disk");
  }
  if (group.empty() || group == "08" || group == "57" || group == "53" || group == "28") {
    unavailable();
  }
  throw Error(ErrorCode::kLedgerDamaged,
              "the table gauze_ledger of this database is not that of a ledger; restore a copy");
}

class PostgresConnection final : public Connection {
 public:
  PostgresConnection(const std::string& url, std::chrono::milliseconds patience)
      : patience_(patience) {
    // Defaults that the address may override: a server that vanishes is noticed within the minute.
    const std::array<const char*, 7> names = {"connect_timeout",
                                              "keepalives_idle",
                                              "tcp_user_timeout",
                                              "application_name",
                                              "dbname",
                                              "client_encoding",
                                              nullptr};
    const std::array<const char*, 7> values = {"10",        "10",   "30000", "gauze",
                                               url.c_str(), "UTF8", nullptr};
    connection_.reset(PQconnectdbParams(names.data(), values.data(), /*expand_dbname=*/1));
    if (PQstatus(connection_.get()) != CONNECTION_OK) unavailable();
    prepare_session();
  }

  Rows execute(const std::string& sql, const std::vector<std::string>& parameters = {}) override {
    if (!in_transaction_) revive();
    std::vector<const char*> values;
    for (const std::string& parameter : parameters) values.push_back(parameter.c_str());
    if (PQsendQueryParams(connection_.get(), sql.c_str(), static_cast<int>(values.size()), nullptr,
                          values.data(), nullptr, nullptr, /*resultFormat=*/0) != 1) {
      unavailable();
    }
    const auto result = answer();
    const ExecStatusType status = PQresultStatus(result.get());
    if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK) {
      const char* state = PQresultErrorField(result.get(), PG_DIAG_SQLSTATE);
      if (is_lost()) unavailable();
      fail(state == nullptr ? "" : state);
    }
    // A commit of a failed transaction is answered politely, with a rollback.
    if (sql == "COMMIT" && std::string_view(PQcmdStatus(result.get())) != "COMMIT") unavailable();
    Rows rows(static_cast<std::size_t>(PQntuples(result.get())));
    for (int row = 0; row < PQntuples(result.get()); ++row) {
      for (int column = 0; column < PQnfields(result.get()); ++column) {
        rows[static_cast<std::size_t>(row)].emplace_back(
            PQgetvalue(result.get(), row, column),
            static_cast<std::size_t>(PQgetlength(result.get(), row, column)));
      }
    }
    return rows;
  }

  void begin(Access access) override {
    const bool writes = access == Access::kWrite;
    execute(writes ? "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE"
                   : "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
    in_transaction_ = true;
    if (!writes) return;
    // Each statement after the lock sees all that was committed before it. The settings are those of this transaction, whatever
    // stands between us and the server.
    try {
      execute(
          "SELECT set_config('synchronous_commit', 'on', true), set_config('lock_timeout', $1, "
          "true)",
          {std::to_string(patience_.count())});
      execute(std::string("SELECT pg_advisory_xact_lock(") + kLock + ")");
    } catch (...) {
      roll_back();
      throw;
    }
  }
  void commit(const Record& last) override {
    try {
      execute("COMMIT");
    } catch (const Error&) {
      // The answer may be lost on its way, and the commit not: whoever asks again would pay twice.
      if (!is_lost() || !is_stored(last)) throw;
    }
    in_transaction_ = false;
  }
  void roll_back() noexcept override {
    // What cannot be ended is ended by the server, when the connection is.
    try {
      in_transaction_ = true;
      if (!is_lost()) execute("ROLLBACK");
    } catch (const Error&) {
      stalled_ = true;
    }
    in_transaction_ = false;
  }
  void check() override {}

 private:
  using Result = std::unique_ptr<PGresult, PostgresCloser>;

  bool is_lost() const { return stalled_ || PQstatus(connection_.get()) != CONNECTION_OK; }

  /// What the server says to the statement that was sent. One that does not answer for longer than its own limit on waiting
  /// is lost, although the wire may hold.
  Result answer() {
    const auto deadline = std::chrono::steady_clock::now() + patience_ + kBeyondPatience;
    Result last;
    for (;;) {
      while (PQisBusy(connection_.get()) == 1) {
        const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
            deadline - std::chrono::steady_clock::now());
        pollfd wire{PQsocket(connection_.get()), POLLIN, 0};
        if (left.count() <= 0) {
          stalled_ = true;
          unavailable();
        }
        const bool ready = poll(&wire, 1, static_cast<int>(left.count())) > 0;
        if (ready && PQconsumeInput(connection_.get()) != 1) break;
      }
      Result next(PQgetResult(connection_.get()));
      if (!next) return last;
      last = std::move(next);
    }
  }

  /// Whether the transaction that was under way when the connection was lost has happened: whoever holds the lock knows
  /// that it has ended. Numbers of transactions would not tell, for a server that crashed gives them again. Throws where the server
  /// does not come back before patience ends.
  bool is_stored(const Record& last) {
    in_transaction_ = false;
    const auto deadline = std::chrono::steady_clock::now() + patience_;
    for (;; std::this_thread::sleep_for(kBetweenTries)) {
      try {
        begin(Access::kWrite);
        const bool stored = !execute("SELECT id FROM gauze_ledger WHERE id = $1 AND hash = $2",
                                     {last.id, last.hash})
                                 .empty();
        roll_back();
        return stored;
      } catch (const Error&) {
        in_transaction_ = false;
      }
      if (std::chrono::steady_clock::now() > deadline)
        throw Error(ErrorCode::kUnavailable,
                    "the database server that keeps the ledger went away while it was written, and "
                    "whether something was charged is not known; `gauze ledger history` tells when "
                    "it is back");
    }
  }

  /// A server that went away may be back.
  void revive() {
    if (!is_lost()) return;
    PQreset(connection_.get());
    stalled_ = false;
    if (is_lost()) unavailable();
    prepare_session();
  }

  void prepare_session() { execute("SET client_min_messages = error"); }

  std::chrono::milliseconds patience_;
  bool in_transaction_ = false;
  bool stalled_ = false;  ///< the server did not answer, though the connection stands
  std::unique_ptr<PGconn, PostgresCloser> connection_;
};

}  // namespace

void create_postgres(const std::string& url, const Setup& setup,
                     std::chrono::milliseconds patience) {
  PostgresConnection connection(url, patience);
  Transaction transaction(connection, Connection::Access::kWrite);
  transaction.commit(setup(connection));
}

std::unique_ptr<Connection> open_postgres(const std::string& url,
                                          std::chrono::milliseconds patience) {
  return std::make_unique<PostgresConnection>(url, patience);
}

}  // namespace gauze::ledger
