#include <endian.h>
#include <libpq-fe.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <mutex>
#include <nlohmann/json.hpp>

#include "gauze/base/error.h"
#include "gauze/base/words.h"
#include "gauze/data/source.h"

// PostgreSQL through libpq. Rows come by COPY in its binary format: 64-bit numbers in network
// order, texts as they are; nothing is parsed.
namespace gauze {
namespace {

constexpr const char* kWentAway =
    "the database went away in the middle of a query; nothing was released, ask again when it is "
    "back";
constexpr std::size_t kBatchRows = 8192;
/// What a batch of texts may grow to before it is handed on.
constexpr std::size_t kBatchBytes = 1 << 22;

// From PostgreSQL's catalogue (pg_type.dat); they never change.
enum TypeId : Oid {
  kBool = 16,
  kInt8 = 20,
  kInt2 = 21,
  kInt4 = 23,
  kText = 25,
  kFloat4 = 700,
  kFloat8 = 701,
  kDate = 1082,
  kTimestamp = 1114,
  kTimestampTz = 1184,
  kNumeric = 1700,
};

Type type_of(Oid id) {
  switch (id) {
    case kBool:
      return Type::kBoolean;
    case kInt2:
    case kInt4:
    case kInt8:
      return Type::kInteger;
    case kNumeric:
      return Type::kDecimal;
    case kFloat4:
    case kFloat8:
      return Type::kDouble;
    case kDate:
      return Type::kDate;
    case kTimestamp:
    case kTimestampTz:
      return Type::kTimestamp;
    default:
      return Type::kText;
  }
}

class Result {
 public:
  explicit Result(PGresult* result) : result_(result, PQclear) {}
  PGresult* get() const { return result_.get(); }
  ExecStatusType status() const { return PQresultStatus(get()); }
  int rows() const { return PQntuples(get()); }
  std::string text(int row, int column) const { return PQgetvalue(get(), row, column); }
  /// The SQL itself is wrong: a syntax error, an unknown or mistyped name.
  bool blames_the_sql() const {
    const char* state = PQresultErrorField(get(), PG_DIAG_SQLSTATE);
    return state && std::string_view(state).starts_with("42");
  }

 private:
  std::unique_ptr<PGresult, void (*)(PGresult*)> result_;
};

class Connection {
 public:
  explicit Connection(const std::string& uri) : connection_(PQconnectdb(uri.c_str()), PQfinish) {
    // What libpq says takes several lines and may quote the address.
    if (PQstatus(get()) != CONNECTION_OK)
      throw Error(
          ErrorCode::kUnavailable,
          "the PostgreSQL server that holds the data does not answer, or does not let us in; "
          "check the host, port, database, user and password of its address, and that it "
          "runs");
    PQsetNoticeProcessor(
        get(), [](void*, const char*) {}, nullptr);
    const char* encoding = PQparameterStatus(get(), "server_encoding");
    if (encoding == nullptr || std::string_view(encoding) != "UTF8")
      throw Error(ErrorCode::kUnsupported,
                  "this database keeps its texts in another encoding than UTF8, and one that "
                  "cannot be converted would end a question; copy the tables into a database made "
                  "with ENCODING 'UTF8'");
    const Result path = ask("SELECT pg_catalog.current_schemas(false)::pg_catalog.text");
    schemas_ = path.text(0, 0);
    // Functions and operators that others have put on the path, and limits on the time that
    // somebody's rows take, are nobody's choice.
    for (const char* setting :
         {"SET search_path = pg_catalog, pg_temp",
          "SET default_transaction_read_only = on; SET standard_conforming_strings = on; "
          "SET TimeZone = 'UTC'; SET DateStyle = 'ISO, YMD'; SET client_encoding = 'UTF8'; "
          "SET extra_float_digits = 1; SET row_security = on",
          "SELECT set_config(name, '0', false) FROM pg_settings WHERE name IN "
          "('statement_timeout', 'lock_timeout', 'transaction_timeout', "
          "'idle_in_transaction_session_timeout', 'idle_session_timeout')"})
      ask(setting);
  }

  PGconn* get() const { return connection_.get(); }
  /// Where tables without a schema were looked for before, as an array of SQL.
  const std::string& schemas() const { return schemas_; }

 private:
  Result ask(const char* sql) {
    Result result(PQexec(get(), sql));
    if (result.status() != PGRES_COMMAND_OK && result.status() != PGRES_TUPLES_OK)
      throw Error(ErrorCode::kUnavailable, "the database refuses the settings of a session");
    return result;
  }

  std::string schemas_;
  std::unique_ptr<PGconn, void (*)(PGconn*)> connection_;
};

/// The columns of one batch; each uses the vector of its kind.
struct Rows {
  struct Column {
    std::vector<std::int64_t> integers;
    std::vector<double> reals;
    std::string bytes;
    std::vector<std::size_t> ends;
    std::vector<std::string_view> texts;
    std::vector<std::uint8_t> valid;
    bool nulls = false;
  };
  std::vector<Column> columns;
  std::size_t rows = 0, bytes = 0;
};

std::uint64_t big_endian_64(const char* at) {
  std::uint64_t word;
  std::memcpy(&word, at, sizeof word);
  return be64toh(word);
}
std::uint32_t big_endian_32(const char* at) {
  std::uint32_t word;
  std::memcpy(&word, at, sizeof word);
  return be32toh(word);
}

/// How many rows of a SELECT the server's planner expects, by statistics of its own; 0 where it
/// does not say.
double expected_rows(PGconn* connection, const std::string& sql) {
  const Result plan(PQexec(connection, ("EXPLAIN (FORMAT JSON) " + sql).c_str()));
  if (plan.status() != PGRES_TUPLES_OK || plan.rows() != 1) return 0;
  const auto parsed = nlohmann::json::parse(plan.text(0, 0), nullptr, false);
  const nlohmann::json::json_pointer rows("/0/Plan/Plan Rows");
  return parsed.contains(rows) && parsed[rows].is_number() ? parsed[rows].get<double>() : 0;
}

class PostgresStream final : public Stream {
 public:
  PostgresStream(const std::string& uri, const std::string& sql) : connection_(uri) {
    PGconn* to = connection_.get();
    expected_ = expected_rows(to, sql);  // outside of the transaction, which a failure would end
    if (Result(PQexec(to, "BEGIN READ ONLY")).status() != PGRES_COMMAND_OK)
      throw Error(ErrorCode::kUnavailable, kWentAway);
    expect_ok(Result(PQprepare(to, "", sql.c_str(), 0, nullptr)));
    const Result description(PQdescribePrepared(to, ""));
    expect_ok(description);
    for (int i = 0; i < PQnfields(description.get()); ++i)
      kinds_.push_back(kind(PQftype(description.get(), i), i));
    const Result started(PQexec(to, ("COPY (" + sql + ") TO STDOUT (FORMAT binary)").c_str()));
    if (started.status() != PGRES_COPY_OUT) throw Error(ErrorCode::kUnavailable, kWentAway);
  }

  bool next(Batch& batch) override {
    const std::lock_guard lock(mutex_);
    auto rows = std::make_shared<Rows>();
    rows->columns.resize(kinds_.size());
    while (!done_ && rows->rows < kBatchRows && rows->bytes < kBatchBytes) done_ = !read_row(*rows);
    batch = {};
    if (rows->rows == 0) return false;
    read_ += rows->rows;
    hand_over(batch, std::move(rows));
    return true;
  }

  double progress() const override {
    const auto read = static_cast<double>(read_);
    return read <= expected_ ? read / std::max(expected_, 1.0) : -1;
  }

  void cancel() override {
    const std::unique_ptr<PGcancel, void (*)(PGcancel*)> request(PQgetCancel(connection_.get()),
                                                                 PQfreeCancel);
    char unsaid[256];
    if (request) PQcancel(request.get(), unsaid, sizeof unsaid);
  }

 private:
  static void expect_ok(const Result& result) {
    if (result.status() == PGRES_COMMAND_OK) return;
    if (result.blames_the_sql())
      throw Error(ErrorCode::kInternal,
                  std::string("wrong SQL for PostgreSQL: ") +
                      PQresultErrorField(result.get(), PG_DIAG_MESSAGE_PRIMARY));
    throw Error(ErrorCode::kUnavailable, kWentAway);
  }

  static BatchColumn::Kind kind(Oid type, int column) {
    if (type == kInt8) return BatchColumn::Kind::kIntegers;
    if (type == kFloat8) return BatchColumn::Kind::kReals;
    if (type == kText) return BatchColumn::Kind::kTexts;
    throw Error(ErrorCode::kInternal,
                "column " + std::to_string(column + 1) +
                    " of a SELECT is not cast to bigint, double precision or text");
  }

  /// False at the end. Each message of COPY holds one row, the first one after a header; -1 fields
  /// end it.
  bool read_row(Rows& rows) {
    char* raw = nullptr;
    const int size = PQgetCopyData(connection_.get(), &raw, 0);
    const std::unique_ptr<char, void (*)(void*)> message(raw, PQfreemem);
    if (size < 0) {
      if (size == -2 || Result(PQgetResult(connection_.get())).status() != PGRES_COMMAND_OK)
        throw Error(ErrorCode::kUnavailable, kWentAway);
      return false;
    }
    const char* at = raw;
    const char* const end = raw + size;
    if (!header_read_) {
      constexpr std::size_t kFixed = 11 + 4;  // signature and flags
      if (end - at < static_cast<std::ptrdiff_t>(kFixed + 4))
        throw Error(ErrorCode::kUnavailable, kWentAway);
      at += kFixed + 4 + big_endian_32(at + kFixed);
      header_read_ = true;
      if (at >= end) return true;
    }
    if (end - at < 2) throw Error(ErrorCode::kUnavailable, kWentAway);
    if (static_cast<unsigned char>(at[0]) == 0xff) return true;  // the trailer; the end follows
    at += 2;
    for (std::size_t i = 0; i < kinds_.size(); ++i) at = read_field(rows, i, at, end);
    ++rows.rows;
    return true;
  }

  const char* read_field(Rows& rows, std::size_t i, const char* at, const char* end) const {
    Rows::Column& column = rows.columns[i];
    if (end - at < 4) throw Error(ErrorCode::kUnavailable, kWentAway);
    const std::uint32_t size = big_endian_32(at);
    at += 4;
    const bool null = size == 0xffffffff;
    const std::size_t bytes = null ? 0 : size;
    const bool number = kinds_[i] != BatchColumn::Kind::kTexts;
    if (bytes > static_cast<std::size_t>(end - at) || (number && !null && bytes != 8))
      throw Error(ErrorCode::kUnavailable, kWentAway);
    column.nulls |= null;
    column.valid.push_back(null ? 0 : 1);
    const std::uint64_t word = number && !null ? big_endian_64(at) : 0;
    if (kinds_[i] == BatchColumn::Kind::kIntegers) {
      column.integers.push_back(static_cast<std::int64_t>(word));
    } else if (number) {
      double real;
      std::memcpy(&real, &word, sizeof real);
      column.reals.push_back(real);
    } else {
      column.bytes.append(at, bytes);
      column.ends.push_back(column.bytes.size());
      rows.bytes += bytes;
    }
    return at + bytes;
  }

  void hand_over(Batch& batch, std::shared_ptr<Rows> rows) const {
    batch.rows = rows->rows;
    batch.columns.resize(kinds_.size());
    for (std::size_t i = 0; i < kinds_.size(); ++i) {
      Rows::Column& from = rows->columns[i];
      BatchColumn& column = batch.columns[i];
      column.kind = kinds_[i];
      if (from.nulls) column.valid = from.valid;
      std::size_t start = 0;
      for (const std::size_t end : from.ends) {
        from.texts.emplace_back(from.bytes.data() + start, end - start);
        start = end;
      }
      column.integers = from.integers;
      column.reals = from.reals;
      column.texts = from.texts;
    }
    batch.owner = std::move(rows);
  }

  Connection connection_;
  std::vector<BatchColumn::Kind> kinds_;
  std::mutex mutex_;
  double expected_ = 0;
  std::atomic<std::uint64_t> read_ = 0;
  bool header_read_ = false, done_ = false;
};

class PostgresSource final : public Source {
 public:
  PostgresSource(std::string uri, PostgresOptions options)
      : uri_(std::move(uri)), options_(std::move(options)), connection_(uri_) {
    schemas_ = connection_.schemas();
    if (!options_.any_schema) return;
    const Result all =
        ask("SELECT array_agg(nspname ORDER BY nspname)::text FROM pg_namespace WHERE nspname !~ "
            "'^pg_' "
            "AND nspname <> 'information_schema'");
    schemas_ = all.text(0, 0).empty() ? "{}" : all.text(0, 0);
  }

  const Dialect& dialect() const override { return postgres_dialect(); }

  std::string database() override {
    const Result found =
        ask("SELECT system_identifier::text || '/' || current_database() FROM pg_control_system()");
    return found.text(0, 0);
  }

  std::vector<ColumnInfo> columns(const std::string& table) override {
    const std::string quoted = table_sql(table);
    expect_stored_rows(table, quoted);
    // Left out are those that cannot be told to have no text that is too long before it is made,
    // and what is computed when it is read.
    const Result found = about(
        "SELECT attname, b.oid::bigint, has_column_privilege(attrelid, attnum, 'SELECT'), "
        "CASE WHEN b.typcategory NOT IN ('B', 'D', 'E', 'N', 'S') AND b.typname NOT IN ('json', "
        "'jsonb') OR b.typname IN ('time', 'timetz', 'money') THEN format_type(b.oid, NULL) END "
        "FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid JOIN pg_type b ON "
        "b.oid = COALESCE(nullif(t.typbasetype, 0), t.oid) WHERE attrelid = to_regclass($1) AND "
        "attnum > 0 AND NOT attisdropped AND b.typcategory NOT IN ('A', 'C', 'P', 'R') AND "
        "b.typname <> 'jsonb' AND attgenerated <> 'v' "
        "ORDER BY attnum",
        quoted);
    std::vector<ColumnInfo> columns;
    for (int i = 0; i < found.rows(); ++i) {
      if (found.text(i, 2) == "t")
        columns.push_back({found.text(i, 0),
                           type_of(static_cast<Oid>(std::stoul(found.text(i, 1)))), true,
                           found.text(i, 3)});
    }
    if (columns.empty())
      throw Error(ErrorCode::kIo, "this user of the database may not read the table '" +
                                      table.substr(0, 60) +
                                      "'; its owner allows it with GRANT SELECT");
    return columns;
  }

  std::unique_ptr<Stream> execute(const std::string& sql) override {
    return std::make_unique<PostgresStream>(uri_, sql);
  }

  /// With the schema in which it is found by the path of the user: where several have one, whose
  /// rows another table's are could be said by somebody else's.
  std::string table_sql(const std::string& table) override {
    std::string relation = relation_of(table), schemas = schemas_;
    if (const auto dot = relation.find('.'); dot != std::string::npos) {
      schemas = array_of(relation.substr(0, dot));
      relation.erase(0, dot + 1);
    }
    const std::array<const char*, 2> parameters = {relation.c_str(), schemas.c_str()};
    const Result found(PQexecParams(
        connection_.get(),
        "SELECT quote_ident(nspname) || '.' || quote_ident(relname) FROM unnest($2::text[]) WITH "
        "ORDINALITY AS path(part, place) JOIN pg_namespace n ON nspname = part JOIN pg_class ON "
        "relnamespace = n.oid AND relname = $1 AND relkind IN ('r', 'p', 'm', 'v', 'f') ORDER BY "
        "place",
        2, nullptr, parameters.data(), nullptr, nullptr, 0));
    if (found.status() != PGRES_TUPLES_OK)
      throw Error(ErrorCode::kUnavailable, "the database does not answer");
    if (found.rows() == 0) unknown(relation_of(table));
    if (found.rows() > 1)
      throw Error(
          ErrorCode::kInvalidOption,
          (options_.any_schema ? "the database has several tables of this name, "
                               : "the search path of this user leads to several tables, ") +
              found.text(0, 0) + " and " + found.text(1, 0) +
              (options_.any_schema ? "; say which is meant in the schema, like \"relation\": \"" +
                                         found.text(0, 0) + "\""
                                   : "; say which schema is meant, as in "
                                     "postgresql://host/base?options=-csearch_path=hospital"));
    return found.text(0, 0);
  }

 private:
  /// As the schema says, or the table's name.
  std::string relation_of(const std::string& table) const {
    for (const auto& [name, relation] : options_.relations)
      if (same_name(name, table)) return relation;
    return table;
  }

  /// An array of one text, as SQL writes it.
  static std::string array_of(const std::string& text) {
    std::string quoted = "{\"";
    for (const char c : text) {
      if (c == '"' || c == '\\') quoted += '\\';
      quoted += c;
    }
    return quoted + "\"}";
  }

  Result ask(const char* sql) {
    Result found(PQexec(connection_.get(), sql));
    if (found.status() != PGRES_TUPLES_OK || found.rows() != 1)
      throw Error(ErrorCode::kUnavailable, "the database does not answer");
    return found;
  }

  /// What the catalogue says; $1 is the table.
  Result about(const char* sql, const std::string& quoted) {
    const char* parameter = quoted.c_str();
    Result found(PQexecParams(connection_.get(), sql, 1, nullptr, &parameter, nullptr, nullptr, 0));
    if (found.status() != PGRES_TUPLES_OK)
      throw Error(ErrorCode::kUnavailable, "the database does not answer");
    return found;
  }

  /// What views, foreign tables and policies compute may fail on somebody's row, and the server
  /// mixes it with the conditions of a question: whoever asks could see on whose.
  void expect_stored_rows(const std::string& table, const std::string& quoted) {
    const Result found = about(
        "WITH RECURSIVE parts(part) AS (SELECT to_regclass($1)::oid UNION SELECT inhrelid FROM "
        "pg_inherits JOIN parts ON inhparent = part) SELECT bool_and(relkind IN ('r', 'p', 'm')), "
        "bool_or(row_security_active(oid)) FROM parts JOIN pg_class ON oid = part",
        quoted);
    if (found.text(0, 0) == "t" && found.text(0, 1) == "f") return;
    throw Error(ErrorCode::kUnsupported,
                "'" + table.substr(0, 60) + "' is " +
                    (found.text(0, 0) == "t" ? "under row security for this user of the database"
                                             : "a view, a foreign table or the like") +
                    ": what it computes could fail on somebody's row, and that would show; give a "
                    "table that stores its rows, such as a materialized view of it");
  }

  [[noreturn]] void unknown(const std::string& table) {
    const char* path = schemas_.c_str();
    const Result tables(
        PQexecParams(connection_.get(),
                     "SELECT relname FROM pg_class JOIN pg_namespace n ON n.oid = relnamespace "
                     "WHERE relkind IN ('r', 'm', 'p') AND nspname = ANY ($1::text[])",
                     1, nullptr, &path, nullptr, nullptr, 0));
    std::vector<std::string> names;
    for (int i = 0; i < tables.rows(); ++i) names.push_back(tables.text(i, 0));
    throw Error(ErrorCode::kUnknownName, "the database has no table '" + table.substr(0, 60) + "'" +
                                             did_you_mean(table, names));
  }

  std::string uri_;
  PostgresOptions options_;
  Connection connection_;
  std::string schemas_;  ///< where tables are looked for, as an array of SQL
};

}  // namespace

std::unique_ptr<Source> open_postgres(const std::string& uri, const PostgresOptions& options) {
  return std::make_unique<PostgresSource>(uri, options);
}

}  // namespace gauze
