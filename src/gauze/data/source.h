#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gauze/base/error.h"
#include "gauze/data/dialect.h"
#include "gauze/data/value.h"

namespace gauze {

class Table;

/// A few thousand rows on their way from a source. A column holds integers, reals or texts and
/// nothing else: the SQL that asked for it says which, by a cast.
struct BatchColumn {
  enum class Kind : std::uint8_t { kIntegers, kReals, kTexts };
  Kind kind = Kind::kIntegers;
  std::span<const std::int64_t> integers;
  std::span<const double> reals;
  std::span<const std::string_view> texts;
  std::span<const std::uint8_t> valid;  ///< one byte per row, 0 for null; empty when no row is null
  /// Of texts, where they are stored so: texts[i] is dictionary[codes[i]], where it is not null.
  /// All batches of a stream have one dictionary.
  std::span<const std::uint32_t> codes = {};
  std::span<const std::string_view> dictionary = {};
  bool is_null(std::size_t row) const { return !valid.empty() && valid[row] == 0; }
};

struct Batch {
  std::size_t rows = 0;
  std::vector<BatchColumn> columns;
  std::shared_ptr<const void> owner;  ///< of what the columns point to; lives on with a copy
};

/// A source has mended what made a SELECT fail, but rows had come already: whoever reads begins
/// again, and it will not fail for this reason again.
class MendedError : public Error {
 public:
  MendedError() : Error(ErrorCode::kIo, "the file had to be mended; ask again") {}
};

/// What `read` returns, begun again when its source had to be mended.
template <class Read>
auto read_mended(Read read) {
  for (;;) {
    try {
      return read();
    } catch (const MendedError&) {
    }
  }
}

/// Rows on their way. Several threads may call `next`, each with a batch of its own.
class Stream {
 public:
  virtual ~Stream() = default;
  /// The next rows, in no particular order, at least one; false at the end. Throws `kUnavailable`
  /// when the source goes away and `kIo` when files, memory or disk do; the text is always the
  /// same. Throws `MendedError`.
  virtual bool next(Batch& batch) = 0;
  /// How much of the scan is done, in [0, 1]; negative when nobody knows. From any thread.
  virtual double progress() const { return -1; }
  /// From any thread: a `next` that is waiting gives up soon, as if the source went away.
  virtual void cancel() {}
};

struct ColumnInfo {
  std::string name;
  Type type;
  bool typed = true;  ///< false where the format has no types (CSV, JSON) and everything is text
  /// What the source calls its type where that is none of ours: its text can be read, and nothing
  /// else. Otherwise "".
  std::string foreign_type = {};
};

/// What of a table's files no SELECT sees: exact counts, for the steward.
struct Unseen {
  std::uint64_t rows = 0;       ///< lines, or parts of JSON, that are no rows
  std::uint64_t row_ends = 0;   ///< rows of CSV with something behind the last column
  std::uint64_t file_ends = 0;  ///< packed files that cannot be unpacked to their end
  bool operator==(const Unseen&) const = default;
};

/// How doubles are added up exactly: in whole steps of 2^exponent, each moved into [lower, upper]
/// and rounded to the nearest step, ties to even. Ranges reach less than 2^51 steps from 0;
/// exponents lie in [-1000, 960].
struct StepSum {
  double lower;
  double upper;
  int exponent;
  std::optional<double> for_null;  ///< what null and NaN count as; nothing: they do not count
};

/// Where private rows live: executes SQL and streams columns back. That is all a source must do;
/// what differs in the SQL is its dialect.
class Source {
 public:
  virtual ~Source() = default;
  virtual const Dialect& dialect() const = 0;
  /// Names and types from the catalogue, never from values. Throws `kUnknownName`.
  virtual std::vector<ColumnInfo> columns(const std::string& table) = 0;
  /// What stands for a table in SQL of this source.
  virtual std::string table_sql(const std::string& table) { return dialect().identifier(table); }
  /// The files that hold a table, also those that a glob found; none where no file does.
  virtual std::vector<std::string> files(const std::string& /*table*/) { return {}; }
  /// Which database of a server this is, by the server's own number and the database's name: the same by every address;
  /// "" where no server is.
  virtual std::string database() { return ""; }
  /// Runs a SELECT whose every column is cast to 64-bit integer, double or text. The message of
  /// what it throws is the same whatever the rows hold. Several streams may be open; each keeps
  /// what it needs of the source alive.
  virtual std::unique_ptr<Stream> execute(const std::string& sql) = 0;
  /// The same where the rows that come back are few: they wait in memory, and there is less to
  /// prepare.
  virtual std::unique_ptr<Stream> execute_few(const std::string& sql) { return execute(sql); }
  /// The name of an aggregate over doubles for SQL of this source. It gives a struct of 64-bit
  /// integers: the sum, of which `high` are the upper 64 bits and `low` the lower ones, and how
  /// many there were, `n`. "" where the source has no such thing.
  virtual std::string step_sum(const StepSum& /*sum*/) { return ""; }
  /// Columns of a table as they are stored, integers, doubles or texts, without SQL: as many
  /// streams as threads will read, which share the rows among them, fewer than 2^32; each is for
  /// one thread. A batch lives until the next call of `next` on the same stream. None where SQL
  /// must ask.
  virtual std::vector<std::unique_ptr<Stream>> scan(const std::string& /*table*/,
                                                    std::span<const ColumnInfo> /*columns*/,
                                                    unsigned /*threads*/) {
    return {};
  }
  /// What no SELECT sees. Throws `kInvalidInput` where SELECTs fail.
  virtual Unseen unseen(const std::string& /*table*/) { return {}; }
  /// How many values of a column every SELECT takes for null because they are no text in UTF-8, or
  /// decimals beyond their precision, for the steward.
  virtual std::uint64_t broken_texts(const std::string& /*table*/, const std::string& /*column*/) {
    return 0;
  }
};

/// Limits on what the embedded engine takes of the machine.
struct SourceOptions {
  unsigned threads = 0;  ///< 0: all cores
  /// bytes, at least 512 MiB and 128 MiB for each thread; 0: half of the machine's
  std::uint64_t memory = 0;
  std::string temp_directory;  ///< where it spills; "": beside the system's temporary files
  /// Columns by table, as declared, for JSON, which has no catalogue: no row is looked at for them.
  /// Where nothing is given they are the names in the first object.
  std::map<std::string, std::vector<std::string>> json_columns = {};
  /// Further files of a table, in the forms of `open_files`; all are of one format.
  std::map<std::string, std::vector<std::string>> more_files = {};
};

/// `tables` maps a table's name to what holds it, in one of the forms below, also as a glob of such
/// files; .gz and .zst are unpacked on the way. Throws `kIo` when a file is not there and
/// `kInvalidInput` when it is not what its name says.
///
///   people.csv .tsv     the first line names the columns, and chooses among , ; | and tab; all columns are
///                       text; a line with too few fields is dropped, fields too many are cut off
///   people.parquet      text that is not UTF-8 is null
///   people.json         objects one per line (.ndjson, .jsonl too) or in a list, which must not be packed; what is no object,
///                       or beyond 16 MiB, is dropped. All columns are text. A list is read once, by the first SELECT
///   base.duckdb         the table of that name in a DuckDB file; base.duckdb:visits another one
std::unique_ptr<Source> open_files(const std::map<std::string, std::string>& tables,
                                   const SourceOptions& options = {});

/// The files that a path or a glob stands for, as `open_files` finds them, a database file for a table in it;
/// none where there is none.
std::vector<std::string> list_files(const std::string& text);

/// Whether a file is one of DuckDB, by its name.
bool is_duckdb_file(std::string_view path);
/// Whether a file is one of rows that a folder of data is for: CSV, Parquet or JSON, by its name.
/// Of `.txt`, which may be anything, only whoever names it can say so.
bool is_rows_file(std::string_view path);

/// Tables in memory, by name, for any SQL; numbers are not copied until they are asked for. A text
/// that is not UTF-8 is null. Throws `kInvalidInput` when there is none.
std::unique_ptr<Source> open_tables(const std::map<std::string, Table>& tables,
                                    const SourceOptions& options = {});

/// Which relation holds a table of a database.
struct PostgresOptions {
  /// By table: "visits", which is looked for by the table's rules, or "hospital.visits", a schema of the server and a
  /// relation in it, as its catalogue writes them. Where nothing is given a relation has the table's name.
  std::map<std::string, std::string> relations = {};
  /// A name without a schema is looked for in all schemas, and must be there once; else by the search path of
  /// the address and its user.
  bool any_schema = false;
};

/// A PostgreSQL server by its URI; every statement runs in a read-only transaction. Throws
/// `kUnavailable`.
std::unique_ptr<Source> open_postgres(const std::string& uri, const PostgresOptions& options = {});

}  // namespace gauze
