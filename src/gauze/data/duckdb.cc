#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>

#include "gauze/base/words.h"
#include "gauze/data/duckdb_internal.h"
#include "gauze/data/run_duckdb_internal.h"

namespace gauze::internal {
namespace {

constexpr const char* kCannotStart = "the embedded engine does not start; is there enough memory?";
constexpr const char* kCannotFinish =
    "the embedded engine could not finish reading: a file changed or is damaged, or memory or disk "
    "ran out: `gauze schema check` tells the steward";
/// So many streams know their progress; further ones work as well.
constexpr std::size_t kConnections = 4;

std::uint64_t half_of_memory() {
  const long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
  if (pages <= 0 || size <= 0) return std::uint64_t{1} << 30;
  return static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(size) / 2;
}

/// What a scan takes whatever the rows are, with room to spare. With less, whoever asks could
/// choose a limit at which a question fails if somebody has a row and does not if not.
std::uint64_t least_memory(unsigned threads) {
  return (std::uint64_t{512} + std::uint64_t{128} * threads) << 20;
}

/// What one batch points to.
struct Chunk {
  explicit Chunk(duckdb_data_chunk from) : chunk(from) {}
  Chunk(const Chunk&) = delete;
  Chunk& operator=(const Chunk&) = delete;
  ~Chunk() { duckdb_destroy_data_chunk(&chunk); }

  duckdb_data_chunk chunk;
  std::vector<std::vector<std::string_view>> texts;
  std::vector<std::vector<std::uint8_t>> valid;
};

std::vector<std::uint8_t> validity(duckdb_vector vector, std::size_t rows) {
  uint64_t* mask = duckdb_vector_get_validity(vector);
  std::vector<std::uint8_t> bytes;
  if (!mask) return bytes;
  bytes.resize(rows);
  std::uint8_t all = 1;
  for (std::size_t row = 0; row < rows; ++row) {
    bytes[row] = static_cast<std::uint8_t>(mask[row / 64] >> (row % 64) & 1);
    all &= bytes[row];
  }
  if (all) bytes.clear();
  return bytes;
}

std::vector<std::string_view> text_views(duckdb_vector vector, std::size_t rows,
                                         const std::vector<std::uint8_t>& valid) {
  auto* data = static_cast<duckdb_string_t*>(duckdb_vector_get_data(vector));
  std::vector<std::string_view> views(rows);
  for (std::size_t row = 0; row < rows; ++row) {
    if (!valid.empty() && !valid[row]) continue;
    views[row] = {duckdb_string_t_data(&data[row]), duckdb_string_t_length(data[row])};
  }
  return views;
}

/// Names and types alone decide these errors; everything else stays unsaid.
bool is_of_the_text(std::string_view error) {
  return error.starts_with("Parser Error") || error.starts_with("Binder Error") ||
         error.starts_with("Catalog Error");
}

BatchColumn::Kind kind_of(duckdb_type type, idx_t column) {
  switch (type) {
    case DUCKDB_TYPE_BIGINT:
      return BatchColumn::Kind::kIntegers;
    case DUCKDB_TYPE_DOUBLE:
      return BatchColumn::Kind::kReals;
    case DUCKDB_TYPE_VARCHAR:
      return BatchColumn::Kind::kTexts;
    default:
      throw Error(ErrorCode::kInternal, "column " + std::to_string(column + 1) +
                                            " of a SELECT is not cast to BIGINT, DOUBLE or "
                                            "VARCHAR");
  }
}

/// By this process, whatever for; 0 where the system does not tell.
std::uint64_t bytes_read() {
  std::ifstream file("/proc/self/io");
  std::string name;
  std::uint64_t bytes = 0;
  return file >> name >> bytes && name == "rchar:" ? bytes : 0;
}

/// Chunks of a result that `start` makes, at the first `next`.
class DuckDbStream : public Stream {
 public:
  DuckDbStream(std::shared_ptr<DuckDbDatabase> database, std::string sql)
      : sql_(std::move(sql)),
        database_(std::move(database)),
        connection_(database_->borrow()),
        mended_(database_->mended()) {}
  ~DuckDbStream() override {
    duckdb_destroy_result(&result_);
    database_->give_back(std::move(connection_));
  }

  bool next(Batch& batch) override {
    const std::lock_guard lock(mutex_);
    while (!done_) {
      std::string error;
      if (fetch(batch, error)) {
        delivered_ = true;
        return true;
      }
      if (!error.empty()) begin_again(error);
    }
    batch = {};
    return false;
  }

  // What the engine says of joins goes by how many rows it expects, and may be nothing to the end.
  double progress() const override {
    if (done_) return 1;
    const double percent = duckdb_query_progress(connection_->get()).percentage;
    const double said = percent < 0 ? -1 : std::min(percent / 100, 1.0);
    if (text_bytes_ == 0) return said;
    const auto read = static_cast<double>(bytes_read() - read_before_);
    return std::max(said, std::min(read / static_cast<double>(text_bytes_), 0.99));
  }

  void cancel() override {
    cancelled_ = true;
    duckdb_interrupt(connection_->get());
  }

 protected:
  /// Makes the statement ready for `start`, again perhaps. Whether it could.
  virtual bool prepare(std::string& /*error*/) { return true; }
  /// Runs the statement: sets `result_` and `kinds_`. Whether it could be run.
  virtual bool start(std::string& error) = 0;

  /// Mends what made the statement fail and prepares it again, or throws.
  void begin_again(std::string error) {
    do {
      if (cancelled_ || !database_->mend(sql_, error, mended_, cancelled_)) {
        done_ = true;
        throw Error(ErrorCode::kIo, kCannotFinish);
      }
      mended_ = database_->mended();
    } while (!prepare(error));
    if (delivered_) {
      done_ = true;
      throw MendedError();
    }
    duckdb_destroy_result(&result_);
    result_ = {};
    started_ = false;
  }

  duckdb_connection connection() { return connection_->get(); }
  std::string error_of_result() {
    const char* error = duckdb_result_error(&result_);
    return error && *error ? error : "unknown";
  }

  const std::string sql_;
  duckdb_result result_{};
  std::vector<BatchColumn::Kind> kinds_;

 private:
  /// Whether there are more rows; the end, or an error.
  bool fetch(Batch& batch, std::string& error) {
    if (!started_) {
      if (database_->make_ready(sql_, cancelled_) && !prepare(error)) return false;
      read_before_ = bytes_read();
      text_bytes_ = database_->text_bytes(sql_);
      if (!start(error)) return false;
      started_ = true;
    }
    for (;;) {
      duckdb_data_chunk raw = duckdb_fetch_chunk(result_);
      if (!raw) {
        const char* text = duckdb_result_error(&result_);
        if (text) error = text;
        done_ = error.empty();
        return false;
      }
      auto chunk = std::make_shared<Chunk>(raw);
      if (duckdb_data_chunk_get_size(raw) == 0) continue;
      fill(batch, std::move(chunk));
      return true;
    }
  }

  void fill(Batch& batch, std::shared_ptr<Chunk> chunk) const {
    batch.rows = duckdb_data_chunk_get_size(chunk->chunk);
    batch.columns.assign(kinds_.size(), {});
    chunk->texts.resize(kinds_.size());
    chunk->valid.resize(kinds_.size());
    for (std::size_t i = 0; i < kinds_.size(); ++i) {
      duckdb_vector vector = duckdb_data_chunk_get_vector(chunk->chunk, i);
      BatchColumn& column = batch.columns[i];
      column.kind = kinds_[i];
      chunk->valid[i] = validity(vector, batch.rows);
      column.valid = chunk->valid[i];
      if (column.kind == BatchColumn::Kind::kTexts) {
        chunk->texts[i] = text_views(vector, batch.rows, chunk->valid[i]);
        column.texts = chunk->texts[i];
      } else if (column.kind == BatchColumn::Kind::kIntegers) {
        column.integers = {static_cast<std::int64_t*>(duckdb_vector_get_data(vector)), batch.rows};
      } else {
        column.reals = {static_cast<double*>(duckdb_vector_get_data(vector)), batch.rows};
      }
    }
    batch.owner = std::move(chunk);
  }

  std::shared_ptr<DuckDbDatabase> database_;
  std::unique_ptr<DuckDbConnection> connection_;
  std::mutex mutex_;
  unsigned mended_;
  bool started_ = false, delivered_ = false;
  std::atomic<bool> done_ = false, cancelled_ = false;
  std::atomic<std::uint64_t> text_bytes_ = 0, read_before_ = 0;
};

/// Rows are made as they are fetched.
class FlowingStream final : public DuckDbStream {
 public:
  FlowingStream(std::shared_ptr<DuckDbDatabase> database, const std::string& sql)
      : DuckDbStream(std::move(database), sql) {
    std::string error;
    if (!FlowingStream::prepare(error)) begin_again(error);
  }

 private:
  struct Statement {
    Statement() = default;
    Statement(const Statement&) = delete;
    Statement& operator=(const Statement&) = delete;
    ~Statement() { duckdb_destroy_prepare(&get); }
    duckdb_prepared_statement get = nullptr;
  };

  bool prepare(std::string& error) override {
    duckdb_destroy_prepare(&statement_.get);
    const bool failed = duckdb_prepare(connection(), sql_.c_str(), &statement_.get) == DuckDBError;
    error = failed ? duckdb_prepare_error(statement_.get) : "";
    if (is_of_the_text(error))
      throw Error(ErrorCode::kInternal, "wrong SQL for the embedded engine: " + error);
    if (failed) return false;
    const idx_t columns = duckdb_prepared_statement_column_count(statement_.get);
    kinds_.clear();
    for (idx_t i = 0; i < columns; ++i)
      kinds_.push_back(kind_of(duckdb_prepared_statement_column_type(statement_.get, i), i));
    return true;
  }

  bool start(std::string& error) override {
    if (duckdb_execute_prepared_streaming(statement_.get, &result_) == DuckDBSuccess) return true;
    error = error_of_result();
    return false;
  }

  Statement statement_;
};

/// All rows are made before the first is fetched.
class WaitingStream final : public DuckDbStream {
 public:
  using DuckDbStream::DuckDbStream;

 private:
  bool start(std::string& error) override {
    if (duckdb_query(connection(), sql_.c_str(), &result_) == DuckDBError) {
      // Rows were read, perhaps; its words are not passed on.
      error = error_of_result();
      if (is_of_the_text(error))
        throw Error(ErrorCode::kInternal, "wrong SQL for the embedded engine");
      return false;
    }
    kinds_.clear();
    for (idx_t i = 0; i < duckdb_column_count(&result_); ++i)
      kinds_.push_back(kind_of(duckdb_column_type(&result_, i), i));
    return true;
  }
};

}  // namespace

std::string DuckDbResult::text(std::size_t row, std::size_t column) {
  char* value = duckdb_value_varchar(&result_, column, row);
  std::string text = value ? value : "";
  duckdb_free(value);
  return text;
}

DuckDbConnection::DuckDbConnection(duckdb_database database) {
  if (duckdb_connect(database, &connection_) == DuckDBError)
    throw Error(ErrorCode::kIo, kCannotStart);
}

bool DuckDbConnection::try_run(const std::string& sql, DuckDbResult& result) {
  return duckdb_query(connection_, sql.c_str(), result.get()) == DuckDBSuccess;
}

void DuckDbConnection::run(const std::string& sql, ErrorCode code, const std::string& message) {
  DuckDbResult result;
  if (!try_run(sql, result)) throw Error(code, message);
}

DuckDbDatabase::DuckDbDatabase(const SourceOptions& options) : spill_(options.temp_directory) {
  const unsigned cores = std::max(1u, std::thread::hardware_concurrency());
  const unsigned threads = options.threads ? std::min(options.threads, cores) : cores;
  const std::uint64_t least = least_memory(threads);
  const std::uint64_t memory = options.memory ? options.memory : std::max(half_of_memory(), least);
  if (memory < least)
    throw Error(
        ErrorCode::kInvalidOption,
        "memory: must be at least " + std::to_string(least >> 20) + "M with " +
            std::to_string(threads) +
            " threads; with less, whether a question fails could depend on somebody's rows");
  const std::array<std::pair<const char*, std::string>, 6> settings = {
      {{"threads", std::to_string(threads)},
       {"memory_limit", std::to_string(memory) + "B"},
       {"temp_directory", spill_.path()},
       {"preserve_insertion_order", "false"},
       {"autoinstall_known_extensions", "false"},
       {"autoload_known_extensions", "false"}}};
  duckdb_config config = nullptr;
  bool started = duckdb_create_config(&config) == DuckDBSuccess;
  for (const auto& [name, value] : settings)
    started = started && duckdb_set_config(config, name, value.c_str()) == DuckDBSuccess;
  char* unsaid = nullptr;
  started = started && duckdb_open_ext(nullptr, &database_, config, &unsaid) == DuckDBSuccess;
  duckdb_free(unsaid);
  duckdb_destroy_config(&config);
  if (!started) throw Error(ErrorCode::kIo, kCannotStart);
  main_ = std::make_unique<DuckDbConnection>(database_);
  for (std::size_t i = 0; i < kConnections; ++i) {
    idle_.push_back(std::make_unique<DuckDbConnection>(database_));
    for (const char* setting :
         {"SET enable_progress_bar = true", "SET enable_progress_bar_print = false"})
      idle_.back()->run(setting, ErrorCode::kIo, kCannotStart);
  }
}

DuckDbDatabase::~DuckDbDatabase() {
  idle_.clear();
  main_.reset();
  duckdb_close(&database_);
}

void DuckDbDatabase::lock(const std::vector<std::string>& paths,
                          const std::vector<std::string>& folders) {
  const auto list = [](const std::vector<std::string>& texts) {
    std::string sql;
    for (const std::string& each : texts) sql += (sql.empty() ? "" : ", ") + sql_text(each);
    return '[' + sql + "]";
  };
  for (const std::string& sql :
       {"SET allowed_paths = " + list(paths), "SET allowed_directories = " + list(folders),
        std::string("SET enable_external_access = false"),
        std::string("SET lock_configuration = true")})
    main_->run(sql, ErrorCode::kInternal, "the embedded engine cannot be locked");
}

bool DuckDbDatabase::make_ready(const std::string& sql, const std::atomic<bool>& cancelled) {
  const std::lock_guard lock(keeping_);
  return keeper_ && keeper_->make_ready(sql, cancelled);
}

std::uint64_t DuckDbDatabase::text_bytes(const std::string& sql) {
  const std::lock_guard lock(keeping_);
  return keeper_ ? keeper_->text_bytes(sql) : 0;
}

unsigned DuckDbDatabase::mended() {
  const std::lock_guard lock(keeping_);
  return mended_;
}

bool DuckDbDatabase::mend(const std::string& sql, std::string_view error, unsigned mended_before,
                          const std::atomic<bool>& cancelled) {
  const std::lock_guard lock(keeping_);
  if (mended_ != mended_before) return true;
  if (!keeper_ || !keeper_->mend(sql, error, cancelled)) return false;
  ++mended_;
  return true;
}

std::unique_ptr<DuckDbConnection> DuckDbDatabase::borrow() {
  const std::lock_guard lock(mutex_);
  if (idle_.empty()) return std::make_unique<DuckDbConnection>(database_);
  auto connection = std::move(idle_.back());
  idle_.pop_back();
  return connection;
}

void DuckDbDatabase::give_back(std::unique_ptr<DuckDbConnection> connection) {
  const std::lock_guard lock(mutex_);
  if (idle_.size() < kConnections) idle_.push_back(std::move(connection));
}

std::unique_ptr<Stream> stream(std::shared_ptr<DuckDbDatabase> database, const std::string& sql) {
  return std::make_unique<FlowingStream>(std::move(database), sql);
}

std::unique_ptr<Stream> waiting_stream(std::shared_ptr<DuckDbDatabase> database,
                                       const std::string& sql) {
  return std::make_unique<WaitingStream>(std::move(database), sql);
}

std::vector<ColumnInfo> EmbeddedSource::columns(const std::string& table) {
  std::vector<std::string> names;
  for (const auto& [name, columns] : columns_) {
    if (same_name(name, table)) return columns;
    names.push_back(name);
  }
  throw Error(ErrorCode::kUnknownName,
              "nothing holds the table '" + table.substr(0, 60) + "'" + did_you_mean(table, names));
}

void run_duckdb(const std::vector<std::string>& statements) {
  DuckDbDatabase database({});
  for (const std::string& sql : statements)
    database.main().run(sql, ErrorCode::kIo, "the embedded engine could not write a file");
}

std::string sql_text(const std::string& text) {
  return duckdb_dialect().literal(text);
}

}  // namespace gauze::internal
