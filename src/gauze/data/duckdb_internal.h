#pragma once

#include <duckdb.h>

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "gauze/base/error.h"
#include "gauze/data/source.h"
#include "gauze/data/spill_folder_internal.h"

// The embedded engine's C interface with owners for its handles. No text of its errors passes
// through here except when files are opened, and there only its first words decide.
namespace gauze::internal {

/// A result of a statement, with all rows at hand.
class DuckDbResult {
 public:
  DuckDbResult() = default;
  DuckDbResult(const DuckDbResult&) = delete;
  DuckDbResult& operator=(const DuckDbResult&) = delete;
  ~DuckDbResult() { duckdb_destroy_result(&result_); }

  duckdb_result* get() { return &result_; }
  std::size_t rows() { return duckdb_row_count(&result_); }
  /// "" for null.
  std::string text(std::size_t row, std::size_t column);

 private:
  duckdb_result result_{};
};

class DuckDbConnection {
 public:
  explicit DuckDbConnection(duckdb_database database);
  DuckDbConnection(const DuckDbConnection&) = delete;
  DuckDbConnection& operator=(const DuckDbConnection&) = delete;
  ~DuckDbConnection() { duckdb_disconnect(&connection_); }

  duckdb_connection get() { return connection_; }
  /// Whether the statement succeeded.
  bool try_run(const std::string& sql, DuckDbResult& result);
  /// Throws `code` with `message` when it did not.
  void run(const std::string& sql, ErrorCode code, const std::string& message);

 private:
  duckdb_connection connection_ = nullptr;
};

/// What a source does around the SELECTs of its streams, which may outlive it. Called by one stream
/// at a time; `cancelled` means to stop soon, by throwing `kIo`.
class DuckDbKeeper {
 public:
  virtual ~DuckDbKeeper() = default;
  /// Before it runs. Whether it must be prepared again.
  virtual bool make_ready(const std::string& sql, const std::atomic<bool>& cancelled) = 0;
  /// How many bytes it reads that are read from end to end; 0 if none are.
  virtual std::uint64_t text_bytes(const std::string& sql) const = 0;
  /// When it has failed. Whether it will not fail for this reason again.
  virtual bool mend(const std::string& sql, std::string_view error,
                    const std::atomic<bool>& cancelled) = 0;
};

/// A database in memory, with a folder of its own to spill into. Connections are made while the
/// configuration can still be changed and lent to streams.
class DuckDbDatabase {
 public:
  explicit DuckDbDatabase(const SourceOptions& options);
  DuckDbDatabase(const DuckDbDatabase&) = delete;
  DuckDbDatabase& operator=(const DuckDbDatabase&) = delete;
  ~DuckDbDatabase();

  DuckDbConnection& main() { return *main_; }
  /// Takes away the way to files other than these paths and folders, and to settings.
  void lock(const std::vector<std::string>& paths, const std::vector<std::string>& folders);

  const std::string& folder() const { return spill_.path(); }
  void keep(std::unique_ptr<DuckDbKeeper> keeper) { keeper_ = std::move(keeper); }
  bool make_ready(const std::string& sql, const std::atomic<bool>& cancelled);
  std::uint64_t text_bytes(const std::string& sql);
  /// How often something was mended, and mends: a stream that began before has only to begin again.
  unsigned mended();
  bool mend(const std::string& sql, std::string_view error, unsigned mended_before,
            const std::atomic<bool>& cancelled);

  /// An aggregate as `Source::step_sum` has it, made when it is first asked for.
  std::string step_sum(const StepSum& sum);

  std::unique_ptr<DuckDbConnection> borrow();
  void give_back(std::unique_ptr<DuckDbConnection> connection);

 private:
  SpillFolder spill_;
  duckdb_database database_ = nullptr;
  std::unique_ptr<DuckDbConnection> main_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<DuckDbConnection>> idle_;
  std::vector<StepSum> step_sums_;
  std::mutex keeping_;
  std::unique_ptr<DuckDbKeeper> keeper_;
  unsigned mended_ = 0;
};

/// Starts a SELECT. Throws `kInternal` when the statement is wrong, `kIo` when it cannot start.
std::unique_ptr<Stream> stream(std::shared_ptr<DuckDbDatabase> database, const std::string& sql);

/// The same for few rows: nothing runs, and no statement is found wrong, before the first `next`.
/// What read files is planned once; a prepared statement plans it twice.
std::unique_ptr<Stream> waiting_stream(std::shared_ptr<DuckDbDatabase> database,
                                       const std::string& sql);

/// A source whose tables are views in an embedded engine.
class EmbeddedSource : public Source {
 public:
  const Dialect& dialect() const override { return duckdb_dialect(); }
  std::vector<ColumnInfo> columns(const std::string& table) override;
  std::unique_ptr<Stream> execute(const std::string& sql) override {
    return stream(database_, sql);
  }
  std::unique_ptr<Stream> execute_few(const std::string& sql) override {
    return waiting_stream(database_, sql);
  }
  std::string step_sum(const StepSum& sum) override { return database_->step_sum(sum); }

 protected:
  explicit EmbeddedSource(const SourceOptions& options)
      : database_(std::make_shared<DuckDbDatabase>(options)) {}

  std::shared_ptr<DuckDbDatabase> database_;
  std::map<std::string, std::vector<ColumnInfo>> columns_;  ///< of each table
};

/// 'text' as a SQL literal.
std::string sql_text(const std::string& text);

}  // namespace gauze::internal
