#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace gauze::ledger {

struct Record;

/// The seam between the ledger and the database that keeps it. Statements are in the SQL that both
/// engines read, parameters are $1, $2, ... and every value is text, so that amounts stay exact.
///
/// All functions throw `kBusy` when somebody else holds the database for longer than the patience
/// given at opening, `kUnavailable` when it went away, `kIo` when it cannot be read or written, and
/// `kLedgerDamaged` when what it holds makes no sense.
class Connection {
 public:
  using Row = std::vector<std::string>;
  using Rows = std::vector<Row>;
  enum class Access : std::uint8_t {
    kRead,   ///< everything read until the end is of one moment
    kWrite,  ///< nobody else writes until the end
  };

  virtual ~Connection() = default;

  virtual Rows execute(const std::string& sql, const std::vector<std::string>& parameters = {}) = 0;
  virtual void begin(Access access) = 0;
  /// Durable when it returns, with `last`, the last record that the transaction appended. When it throws, the transaction
  /// may or may not have happened.
  virtual void commit(const Record& last) = 0;
  virtual void roll_back() noexcept = 0;
  /// The engine's own check of its pages.
  virtual void check() = 0;
};

/// Undone unless committed.
class Transaction {
 public:
  Transaction(Connection& connection, Connection::Access access) : connection_(connection) {
    connection_.begin(access);
  }
  ~Transaction() {
    if (open_) connection_.roll_back();
  }
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;

  void commit(const Record& last) {
    connection_.commit(last);
    open_ = false;
  }

 private:
  Connection& connection_;
  bool open_ = true;
};

/// Fail with `kInvalidOption` where there is something already, and leave either all that `setup` does
/// or nothing. `setup` returns the last record it appends.
using Setup = std::function<Record(Connection&)>;
void create_sqlite(const std::string& path, const Setup& setup, std::chrono::milliseconds patience);
void create_postgres(const std::string& url, const Setup& setup,
                     std::chrono::milliseconds patience);

/// `schema` are the statements that made the tables. A file that has others is refused. Where nothing can be written
/// what can be read is read as it was at opening, and beginning to write throws `kIo`.
std::unique_ptr<Connection> open_sqlite(const std::string& path,
                                        const std::vector<std::string>& schema,
                                        std::chrono::milliseconds patience);
std::unique_ptr<Connection> open_postgres(const std::string& url,
                                          std::chrono::milliseconds patience);

}  // namespace gauze::ledger
