#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <nlohmann/json.hpp>

#include "gauze/base/error.h"
#include "gauze/base/words.h"
#include "gauze/data/dialect.h"
#include "gauze/data/run_duckdb_internal.h"
#include "gauze/data/table.h"

namespace gauze {
namespace {

/// A file under a name that does not exist yet, in the folder of the final one; it goes away unless
/// it is put in place.
class Draft {
 public:
  explicit Draft(const std::string& path) : path_(path) {
    for (int i = 0; file_ < 0 && i < 100; ++i) {
      draft_ = path + ".part" + std::to_string(getpid()) + "-" + std::to_string(i);
      file_ = open(draft_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
      if (file_ < 0 && errno != EEXIST) break;
    }
    if (file_ < 0) fail();
  }
  Draft(const Draft&) = delete;
  Draft& operator=(const Draft&) = delete;
  ~Draft() {
    if (file_ >= 0) close(file_);
    if (!placed_) unlink(draft_.c_str());
  }

  const std::string& name() const { return draft_; }
  [[noreturn]] void fail() const {
    throw Error(ErrorCode::kIo,
                "cannot write '" + path_ + "': no such folder, no permission, or the disk is full");
  }
  void write(std::string_view bytes) const {
    while (!bytes.empty()) {
      const ssize_t written = ::write(file_, bytes.data(), bytes.size());
      if (written <= 0) fail();
      bytes.remove_prefix(static_cast<std::size_t>(written));
    }
  }
  void place() {
    if (fsync(file_) != 0 || rename(draft_.c_str(), path_.c_str()) != 0) fail();
    placed_ = true;
  }

 private:
  std::string path_, draft_;
  int file_ = -1;
  bool placed_ = false;
};

std::string csv_cell(const Column& column, std::size_t row) {
  if (column.is_null(row)) return "";
  std::string text = to_text(column.value(row));
  const bool plain = !text.empty() && text.find_first_of(",\"\r\n") == std::string::npos;
  if (column.type() != Type::kText || plain) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted.append(c == '"' ? 2 : 1, c);
  return quoted += '"';
}

/// An empty text is "", a null is nothing.
std::string csv(const Table& table) {
  const Column names = Column::of_texts({table.names().begin(), table.names().end()});
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i) text += ',';
    text += csv_cell(names, i);
  }
  for (std::size_t row = 0; row < table.rows(); ++row) {
    for (std::size_t i = 0; i < names.size(); ++i) {
      text += i ? ',' : '\n';
      text += csv_cell(table.columns()[i], row);
    }
  }
  return text += '\n';
}

nlohmann::ordered_json json_cell(const Column& column, std::size_t row) {
  if (column.is_null(row)) return nullptr;
  if (column.type() == Type::kBoolean) return column.integers()[row] != 0;
  if (column.type() == Type::kInteger) return column.integers()[row];
  if (is_numeric(column.type()) && std::isfinite(column.reals()[row])) return column.reals()[row];
  return to_text(column.value(row));
}

std::string json(const Table& table) {
  std::string text = "[";
  for (std::size_t row = 0; row < table.rows(); ++row) {
    nlohmann::ordered_json object = nlohmann::ordered_json::object();
    for (std::size_t i = 0; i < table.columns().size(); ++i)
      object[table.names()[i]] = json_cell(table.columns()[i], row);
    text += (row ? ",\n " : "\n ") +
            object.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  }
  return text + "\n]\n";
}

/// The embedded engine reads the table as CSV and writes it as Parquet. A last column of ones keeps
/// a line with nothing but one null from looking empty.
void write_parquet(const Table& table, const Draft& draft) {
  const Draft as_csv(draft.name() + ".csv");
  const Dialect& dialect = duckdb_dialect();
  std::vector<std::string> names;
  std::string types, select;
  for (std::size_t i = 0; i < table.columns().size(); ++i) {
    names.push_back('c' + std::to_string(i));
    types += names[i] + ": '" + dialect.type_name(table.columns()[i].type()) + "', ";
    select += (i ? ", " : "") + names[i] + " AS " + dialect.identifier(table.names()[i]);
  }
  std::vector<Column> columns = table.columns();
  names.emplace_back("one");
  columns.push_back(
      Column::of_integers(Type::kInteger, std::vector<std::int64_t>(table.rows(), 1)));
  as_csv.write(csv(Table(names, std::move(columns))));
  try {
    internal::run_duckdb(
        {"SET preserve_insertion_order = true",
         "COPY (SELECT " + select + " FROM read_csv(" + dialect.literal(as_csv.name()) +
             ", auto_detect = false, header = true, delim = ',', quote = '\"', escape = '\"', "
             "allow_quoted_nulls = false, columns = {" +
             types + "one: 'BIGINT'})) TO " + dialect.literal(draft.name()) +
             " (FORMAT parquet, USE_TMP_FILE false)"});
  } catch (const Error&) {
    draft.fail();
  }
}

bool ends_with(std::string_view path, std::string_view ending) {
  return path.size() > ending.size() && same_name(path.substr(path.size() - ending.size()), ending);
}

}  // namespace

bool is_table_name(std::string_view path) {
  return ends_with(path, ".csv") || ends_with(path, ".json") || ends_with(path, ".parquet");
}

void write_table(const Table& table, const std::string& path) {
  const bool parquet = ends_with(path, ".parquet");
  require(is_table_name(path), "the file to write must end in .csv, .json or .parquet");
  Draft draft(path);
  if (parquet)
    write_parquet(table, draft);
  else
    draft.write(ends_with(path, ".csv") ? csv(table) : json(table));
  draft.place();
}

}  // namespace gauze
