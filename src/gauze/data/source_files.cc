#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <optional>

#include "gauze/base/address.h"
#include "gauze/base/words.h"
#include "gauze/data/csv_records_internal.h"
#include "gauze/data/duckdb_internal.h"
#include "gauze/data/holder_internal.h"
#include "gauze/data/json_list_internal.h"
#include "gauze/data/parquet/open_internal.h"
#include "gauze/data/parquet/repair_internal.h"
#include "gauze/data/temporary_file_internal.h"
#include "gauze/data/text_files_internal.h"
#include "gauze/data/view_column_internal.h"

// Each table becomes a view whose columns have one of our types. What a file's structure can do
// wrong shows while it is opened; afterwards no row can make the view fail.
namespace gauze::internal {
namespace {

namespace fs = std::filesystem;

/// The tables of a source, as views. Streams may outlive the source, and this lives as long as they
/// do.
class FileTables final : public DuckDbKeeper {
 public:
  explicit FileTables(DuckDbDatabase& database) : database_(database) {}

  /// What a table is read from.
  struct Scan {
    Holder holder;
    std::vector<TablePart> parts;  ///< with the same columns; one, unless files were mended
    std::string lines = {};        ///< the scan that passes over what is no row, where one does
    std::string no_row = {};       ///< and which of its lines are none
    std::unique_ptr<ListLines> list = {};
    std::optional<CsvHeader> csv = {};
    std::vector<std::unique_ptr<TemporaryFile>> mended = {};  ///< in the place of files
    bool mends_first = false;        ///< whether no row is read before that
    std::uint64_t long_records = 0;  ///< left out of mended files of CSV
    std::uint64_t text_bytes = 0;    ///< of files that are read from end to end
  };

  const Scan& open(const std::string& name, const Holder& holder,
                   const std::vector<std::string>& json_columns) {
    Scan& scan = scans_.emplace(name, make_scan(holder, json_columns)).first->second;
    const std::vector<std::string>& files = holder.files;
    for (const std::string& file : files)
      if (file.find('=') != std::string::npos && database_.folder().find('=') != std::string::npos)
        throw Error(ErrorCode::kInvalidInput,
                    "the temporary folder has a = in its name, which makes it a column of " +
                        shown_path(file) + " where that must be copied; set TMPDIR to another");
    if (holder.format != Format::kParquet && holder.format != Format::kDuckDb)
      for (const std::string& file : files) {
        std::error_code unknown;
        const std::uintmax_t size = fs::file_size(file, unknown);
        if (!unknown) scan.text_bytes += size;
      }
    if (holder.format == Format::kParquet) {
      OpenedParquet opened = open_parquet(database_.main(), holder);
      scan.parts.front() = std::move(opened.part);
      scan.mends_first = opened.repair_first;
    } else {
      scan.mends_first = scan.csv && std::any_of(files.begin(), files.end(), is_large);
      std::vector<ViewColumn>& columns = scan.parts.front().columns;
      columns = view_columns(database_.main(), holder, scan.parts.front().from);
      std::erase_if(columns, [](const ViewColumn& each) { return is_nested(each.type); });
    }
    make_view(name, scan);
    return scan;
  }

  /// With the name as it was given; null where there is none.
  const std::pair<const std::string, Scan>* find(const std::string& table) const {
    for (const auto& scan : scans_) {
      if (same_name(scan.first, table)) return &scan;
    }
    return nullptr;
  }

  bool make_ready(const std::string& sql, const std::atomic<bool>& cancelled) override {
    bool filled = false;
    for (auto& [name, scan] : scans_) {
      if (scan.mends_first && is_named(name, sql)) {  // a statement may be older than that
        if (scan.mended.empty()) {
          if (scan.csv)
            leave_out_long_records(name, scan, cancelled);
          else
            repair("", name, scan, cancelled);
        }
        filled = filled || !scan.mended.empty();
      }
      if (!scan.list || scan.list->filled() || !is_named(name, sql)) continue;
      scan.list->fill(cancelled);
      filled = true;
    }
    return filled;
  }

  std::uint64_t text_bytes(const std::string& sql) const override {
    std::uint64_t sum = 0;
    for (const auto& [name, scan] : scans_)
      if (is_named(name, sql)) sum += scan.text_bytes;
    return sum;
  }

  bool mend(const std::string& sql, std::string_view error,
            const std::atomic<bool>& cancelled) override {
    bool mended = false;
    for (auto& [name, scan] : scans_) {
      if (scan.holder.format == Format::kParquet && scan.mended.empty() && is_named(name, sql))
        mended = repair(error, name, scan, cancelled) || mended;
    }
    return mended;
  }

 private:
  /// Names in SQL are the views', with their quotes doubled, and no letter or digit beside them, so
  /// that nothing is missed.
  static bool is_named(const std::string& table, const std::string& sql) {
    const auto is_letter = [](char c) {
      return c == '_' || (c & 0x80) != 0 || std::isalnum(static_cast<unsigned char>(c)) != 0;
    };
    const std::string quoted = duckdb_dialect().identifier(table);
    const auto begin = quoted.begin() + 1, end = quoted.end() - 1;
    const auto same = [](char a, char b) {
      return same_name(std::string_view(&a, 1), std::string_view(&b, 1));
    };
    for (auto at = sql.begin();; ++at) {
      at = std::search(at, sql.end(), begin, end, same);
      if (at == sql.end()) return false;
      const auto behind = at + (end - begin);
      if ((at == sql.begin() || !is_letter(at[-1])) && (behind == sql.end() || !is_letter(*behind)))
        return true;
    }
  }

  /// Whether a cell may reach over several buffers of the engine, which have 32 MB.
  static bool is_large(const std::string& file) {
    std::error_code unknown;
    return is_packed(file) ||
           (fs::is_regular_file(file, unknown) && fs::file_size(file, unknown) > 16u << 20);
  }

  /// The engine takes what is behind or inside of very long cells for something else, whoever's
  /// they are.
  void leave_out_long_records(const std::string& name, Scan& scan,
                              const std::atomic<bool>& cancelled) {
    Scan instead{scan.holder, scan.parts};
    std::vector<std::string> files = scan.holder.files;
    ++attempts_;
    for (std::string& file : files) {
      if (!is_large(file)) continue;
      auto copy = std::make_unique<TemporaryFile>(database_.folder());
      if (!copy_without_long_records(file, scan.csv->delimiter, *copy, instead.long_records,
                                     cancelled))
        continue;
      file = named_like(file, *copy);
      instead.mended.push_back(std::move(copy));
    }
    if (instead.mended.empty()) {
      scan.mends_first = false;
      return;
    }
    instead.lines = instead.parts.front().from = scan_csv(*scan.csv, files);
    make_view(name, instead);
    instead.no_row = scan.no_row;
    instead.csv = scan.csv;
    instead.mends_first = true;
    instead.text_bytes = scan.text_bytes;
    scan = std::move(instead);
  }

  /// Reads a table of Parquet from copies, where that prevents the error.
  bool repair(std::string_view error, const std::string& name, Scan& scan,
              const std::atomic<bool>& cancelled) {
    ++attempts_;
    const CopyPlace place = {database_.folder(),
                             [this](const std::string& file, const TemporaryFile& copy) {
                               return named_like(file, copy);
                             }};
    auto repaired = repair_parquet(error, scan.holder, scan.parts.front().columns, database_.main(),
                                   place, cancelled);
    if (!repaired) return false;
    Scan instead{scan.holder, std::move(repaired->parts)};
    instead.mended = std::move(repaired->copies);
    make_view(name, instead);
    instead.mends_first = scan.mends_first;
    scan = std::move(instead);
    return true;
  }

  /// The engine finds columns in names of folders: x=1. What an attempt has left that was given up
  /// is nobody's any more.
  std::string named_like(const std::string& file, const TemporaryFile& copy) {
    if (file.find('=') == std::string::npos) return copy.path();
    std::string name = database_.folder() + "/mended" + std::to_string(attempts_) + file;
    while (is_packed(name)) name.resize(name.rfind('.'));  // the copy is not
    std::error_code failed;
    fs::create_directories(fs::path(name).parent_path(), failed);
    fs::create_symlink(copy.path(), name, failed);
    if (failed)
      throw Error(ErrorCode::kIo, "the temporary folder cannot be written to; is the disk full?");
    return name;
  }

  Scan make_scan(const Holder& holder, const std::vector<std::string>& json_columns) {
    DuckDbConnection& connection = database_.main();
    const std::vector<std::string>& files = holder.files;
    if (holder.format == Format::kCsv) {
      const CsvHeader header = common_header(connection, holder.path, files);
      for (const std::string& file : files)
        for (const std::string& name : header.names) expect_no_folder_of(file, name);
      const std::string csv = scan_csv(header, files);
      Scan scan{holder, {{csv}}, csv, "false"};
      scan.csv = header;
      return scan;
    }
    if (holder.format == Format::kParquet) return {holder, {{}}};
    if (holder.format == Format::kDuckDb) {
      const std::string database = attach(holder);
      expect_stored_rows(holder, database);
      return {holder, {{database + ".main." + duckdb_dialect().identifier(holder.table)}}};
    }
    auto list = are_lists(connection, holder.path, files)
                    ? std::make_unique<ListLines>(files, database_.folder())
                    : nullptr;
    if (list && json_columns.empty()) list->fill_first();
    const auto lines_files = list ? std::vector<std::string>{list->path()} : files;
    const std::string lines = scan_lines(lines_files);
    const std::string objects = objects_of(lines);
    const auto names =
        json_columns.empty() ? first_names(connection, holder.path, lines_files) : json_columns;
    return {holder,
            {{scan_json(holder.path, objects, names)}},
            lines,
            "trim(line, chr(9) || chr(13) || ' ') <> '' AND "
            "coalesce(json_type(TRY_CAST(line AS JSON)), '') <> 'OBJECT'",
            std::move(list)};
  }

  /// A database file is attached once, whatever the number of its tables.
  std::string attach(const Holder& holder) {
    auto [at, added] =
        attached_.emplace(holder.path, "gauze_file_" + std::to_string(attached_.size()));
    if (added)
      database_.main().run("ATTACH " + sql_text(holder.path) + " AS " + at->second + " (READ_ONLY)",
                           ErrorCode::kInvalidInput,
                           shown_path(holder.path) +
                               " is no DuckDB file that can be read: is another program writing "
                               "to it, or was it written by a DuckDB newer than " +
                               duckdb_library_version() + "?");
    return at->second;
  }

  /// What a view or a generated column computes may fail on somebody's row, and the engine mixes it
  /// with the conditions of a question.
  void expect_stored_rows(const Holder& holder, const std::string& database) {
    DuckDbResult views;
    if (database_.main().try_run(
            "SELECT 1 FROM (SELECT database_name, schema_name, view_name AS name FROM "
            "duckdb_views() UNION ALL SELECT database_name, schema_name, table_name FROM "
            "duckdb_tables() WHERE sql ILIKE '%GENERATED ALWAYS AS%') WHERE database_name = " +
                sql_text(database) + " AND schema_name = 'main' AND lower(name) = lower(" +
                sql_text(holder.table) + ")",
            views) &&
        views.rows() == 0)
      return;
    throw Error(ErrorCode::kUnsupported,
                "'" + holder.table.substr(0, 60) + "' in " + shown_path(holder.path) +
                    " is a view, or has columns that are computed when they are read: what it "
                    "computes could fail on somebody's row, and that would show; make a table of "
                    "it with CREATE TABLE ... AS");
  }

  void make_view(const std::string& name, const Scan& scan) {
    std::string all;
    for (const TablePart& part : scan.parts) {
      std::string select;
      for (const ViewColumn& column : part.columns)
        select += (select.empty() ? "" : ", ") + column.sql + " AS " +
                  duckdb_dialect().identifier(column.info.name);
      all += (all.empty() ? "SELECT " : " UNION ALL SELECT ") + select + " FROM " + part.from;
    }
    database_.main().run(
        "CREATE OR REPLACE VIEW " + duckdb_dialect().identifier(name) + " AS " + all,
        ErrorCode::kInvalidInput,
        "the columns of " + shown_path(scan.holder.path) + " cannot be named");
  }

  DuckDbDatabase& database_;
  std::uint64_t attempts_ = 0;  ///< to mend
  std::map<std::string, Scan> scans_;
  std::map<std::string, std::string> attached_;
};

class FileSource final : public EmbeddedSource {
 public:
  FileSource(const std::map<std::string, std::string>& tables, const SourceOptions& options)
      : EmbeddedSource(options) {
    if (tables.empty()) throw Error(ErrorCode::kInvalidInput, "no file was given");
    auto owned = std::make_unique<FileTables>(*database_);
    tables_ = owned.get();
    database_->keep(std::move(owned));
    std::vector<std::string> paths;
    const std::vector<std::string> folders = {database_->folder() + "/", "/proc/self/fd/"};
    for (const auto& [name, text] : tables) {
      Holder holder = parse_holder(name, text);
      holder.files = find_files(database_->main(), holder.path);
      if (const auto more = options.more_files.find(name); more != options.more_files.end())
        add_files(holder, more->second);
      for (const std::string& file : holder.files)
        paths.insert(paths.end(), {file, as_pattern(file)});
      const auto declared = options.json_columns.find(name);
      const auto& scan = tables_->open(
          name, holder,
          declared == options.json_columns.end() ? std::vector<std::string>() : declared->second);
      for (const ViewColumn& column : scan.parts.front().columns)
        columns_[name].push_back(column.info);
    }
    database_->lock(paths, folders);
  }

  std::vector<std::string> files(const std::string& table) override {
    const auto* found = tables_->find(table);
    if (!found) return {};
    return found->second.holder.files;
  }

  Unseen unseen(const std::string& table) override {
    const auto* found = tables_->find(table);
    if (!found) return {};
    const Scan& scan = found->second;
    if (scan.holder.format == Format::kParquet) expect_columns(found->first, scan.holder);
    database_->make_ready(duckdb_dialect().identifier(found->first), false);
    Unseen result{.rows = scan.list ? scan.list->left_out() : scan.long_records};
    if (!scan.lines.empty()) result.rows += passed_over(scan);
    if (scan.holder.format == Format::kCsv) result.row_ends = beyond_the_columns(scan);
    if (scan.holder.format != Format::kDuckDb && scan.holder.format != Format::kParquet)
      for (const std::string& file : files(table))
        if (breaks_off(file)) ++result.file_ends;
    return result;
  }

  std::uint64_t broken_texts(const std::string& table, const std::string& column) override {
    const auto* found = tables_->find(table);
    if (!found || found->second.holder.format != Format::kParquet) return 0;
    read_through(found->first, column);
    const Scan& scan = found->second;
    std::uint64_t broken = 0;
    for (const TablePart& part : scan.parts) {
      const ViewColumn* nulled = find_column(part.columns, column);
      if (nulled && (nulled->type == DUCKDB_TYPE_DECIMAL ||
                     (nulled->type == DUCKDB_TYPE_VARCHAR && !scan.mended.empty())))
        broken += nulled_rows(part.from, *nulled);
    }
    return broken;
  }

 private:
  using Scan = FileTables::Scan;

  /// Files that several paths and globs find are read once.
  void add_files(Holder& holder, const std::vector<std::string>& texts) {
    for (const std::string& text : texts) {
      const Holder more = parse_holder("", text);
      if (more.format != holder.format || holder.format == Format::kDuckDb)
        throw Error(ErrorCode::kInvalidInput,
                    shown_path(text) + " and " + shown_path(holder.path) +
                        " cannot be one table: its files are all CSV, all JSON or all Parquet");
      for (const std::string& file : find_files(database_->main(), more.path))
        if (std::find(holder.files.begin(), holder.files.end(), file) == holder.files.end())
          holder.files.push_back(file);
    }
  }

  /// Those with a value in the file and none in the view.
  std::uint64_t nulled_rows(const std::string& from, const ViewColumn& column) {
    DuckDbResult count;
    const bool read = database_->main().try_run("SELECT count(*) FROM " + from + " WHERE " +
                                                    duckdb_dialect().identifier(column.info.name) +
                                                    " IS NOT NULL AND " + column.sql + " IS NULL",
                                                count);
    return read ? std::stoull(count.text(0, 0)) : 0;
  }

  /// The same scan, which notes what it leaves out, of all columns: the engine looks at the bytes
  /// of those alone that are asked for.
  std::uint64_t passed_over(const Scan& scan) {
    constexpr std::string_view kIgnore = "ignore_errors = true";
    std::string noting = scan.lines;
    noting.replace(noting.find(kIgnore), kIgnore.size(), "store_rejects = true, rejects_limit = 0");
    DuckDbConnection& connection = database_->main();
    DuckDbResult all, broken;
    const bool read =
        connection.try_run("SELECT count(CASE WHEN " + scan.no_row +
                               " THEN 1 END), count(COLUMNS(*)) FROM " + noting,
                           all) &&
        connection.try_run(
            "SELECT count(*) FROM (SELECT DISTINCT file_id, line FROM reject_errors)", broken);
    const std::uint64_t count =
        read ? std::stoull(all.text(0, 0)) + std::stoull(broken.text(0, 0)) : 0;
    forget_rejects(connection);
    return count;
  }

  /// Rows of CSV that have one field more, and something in it.
  std::uint64_t beyond_the_columns(const Scan& scan) {
    constexpr std::string_view kEnd = "}, delim";
    std::string wider = scan.lines;
    wider.insert(wider.find(kEnd), ", 'beyond\x01': 'VARCHAR'");
    DuckDbResult count;
    const bool read =
        database_->main().try_run("SELECT count(\"beyond\x01\") FROM " + wider, count);
    return read ? std::stoull(count.text(0, 0)) : 0;
  }

  /// Every value of a column, and mends the table where that must be.
  void read_through(const std::string& table, const std::string& column) {
    const auto stream =
        execute("SELECT count(*) FROM (SELECT hash(" + duckdb_dialect().identifier(column) +
                ") AS h FROM " + duckdb_dialect().identifier(table) + ") WHERE h = 0");
    for (Batch batch; stream->next(batch);) continue;
  }

  void expect_columns(const std::string& table, const Holder& holder) {
    std::string bad;
    for (const ColumnInfo& column : columns_.at(table)) {
      try {
        read_through(table, column.name);
      } catch (const Error&) {
        bad += (bad.empty() ? "'" : ", '") + column.name + "'";
      }
    }
    if (bad.empty()) return;
    throw Error(ErrorCode::kInvalidInput,
                bad + " of " + shown_path(holder.path) +
                    " cannot be read to its end; questions about it fail: the file is damaged");
  }

  FileTables* tables_ = nullptr;
};

}  // namespace
}  // namespace gauze::internal

namespace gauze {

bool is_duckdb_file(std::string_view path) {
  return internal::ends_with_any(path, {".duckdb", ".ddb", ".db"});
}

std::unique_ptr<Source> open_files(const std::map<std::string, std::string>& tables,
                                   const SourceOptions& options) {
  return std::make_unique<internal::FileSource>(tables, options);
}

}  // namespace gauze
