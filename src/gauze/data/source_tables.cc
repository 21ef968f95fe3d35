#include <algorithm>
#include <atomic>
#include <cstring>

#include "gauze/base/on_threads.h"
#include "gauze/base/words.h"
#include "gauze/data/duckdb_internal.h"
#include "gauze/data/table.h"
#include "gauze/data/utf8_internal.h"

// Each table in memory becomes a function of the embedded engine that hands out its rows, and a
// view of that.
namespace gauze {
namespace {

/// The column with null for every text that is not UTF-8; nearly always the same.
Column readable(const Column& column) {
  const std::span<const std::string_view> texts = column.dictionary();
  if (std::all_of(texts.begin(), texts.end(), internal::is_utf8)) return column;
  std::vector<std::string_view> values(column.size());
  std::vector<std::uint8_t> valid(column.size());
  for (std::size_t row = 0; row < column.size(); ++row) {
    valid[row] = !column.is_null(row) && internal::is_utf8(column.text(row)) ? 1 : 0;
    if (valid[row]) values[row] = column.text(row);
  }
  return Column::of_texts(values, valid);
}

Table readable(const Table& table) {
  std::vector<Column> columns;
  for (const Column& column : table.columns()) columns.push_back(readable(column));
  return Table(table.names(), std::move(columns));
}

/// A scan of some columns by several threads.
struct HeldScan {
  std::vector<std::size_t> columns;
  std::atomic<std::size_t> next = 0;
};

template <class T>
void erase_as(void* pointer) {
  delete static_cast<T*>(pointer);
}

duckdb_type engine_type(Type type) {
  switch (type) {
    case Type::kBoolean:
      return DUCKDB_TYPE_BOOLEAN;
    case Type::kInteger:
      return DUCKDB_TYPE_BIGINT;
    case Type::kDate:
      return DUCKDB_TYPE_DATE;
    case Type::kTimestamp:
      return DUCKDB_TYPE_TIMESTAMP;
    case Type::kText:
      return DUCKDB_TYPE_VARCHAR;
    default:
      return DUCKDB_TYPE_DOUBLE;
  }
}

void bind_rows(duckdb_bind_info info) {
  const Table& table =
      **static_cast<std::shared_ptr<const Table>*>(duckdb_bind_get_extra_info(info));
  for (std::size_t c = 0; c < table.columns().size(); ++c) {
    duckdb_logical_type type = duckdb_create_logical_type(engine_type(table.columns()[c].type()));
    duckdb_bind_add_result_column(info, table.names()[c].c_str(), type);
    duckdb_destroy_logical_type(&type);
  }
  duckdb_bind_set_cardinality(info, table.rows(), false);
}

void start_scan(duckdb_init_info info) {
  const Table& table =
      **static_cast<std::shared_ptr<const Table>*>(duckdb_init_get_extra_info(info));
  auto* scan = new HeldScan;
  for (idx_t i = 0; i < duckdb_init_get_column_count(info); ++i) {
    scan->columns.push_back(duckdb_init_get_column_index(info, i));
  }
  duckdb_init_set_max_threads(info, 1 + table.rows() / (idx_t{1} << 16));
  duckdb_init_set_init_data(info, scan, erase_as<HeldScan>);
}

void fill_values(const Column& column, std::size_t from, std::size_t rows, duckdb_vector vector) {
  void* out = duckdb_vector_get_data(vector);
  if (column.has_nulls()) {
    duckdb_vector_ensure_validity_writable(vector);
    for (std::size_t i = 0; i < rows; ++i) {
      duckdb_validity_set_row_validity(duckdb_vector_get_validity(vector), i,
                                       !column.is_null(from + i));
    }
  }
  switch (column.type()) {
    case Type::kInteger:
    case Type::kTimestamp:
      std::memcpy(out, column.integers().data() + from, rows * sizeof(std::int64_t));
      break;
    case Type::kBoolean:
      for (std::size_t i = 0; i < rows; ++i) {
        static_cast<bool*>(out)[i] = column.integers()[from + i] != 0;
      }
      break;
    case Type::kDate:
      for (std::size_t i = 0; i < rows; ++i) {
        // Days that do not fit lie outside every year that dates have here.
        static_cast<std::int32_t*>(out)[i] = static_cast<std::int32_t>(
            std::clamp<std::int64_t>(column.integers()[from + i], -1'000'000'000, 1'000'000'000));
      }
      break;
    case Type::kText:
      for (std::size_t i = 0; i < rows; ++i) {
        if (column.is_null(from + i)) continue;
        const std::string_view text = column.text(from + i);
        duckdb_vector_assign_string_element_len(vector, i, text.data(), text.size());
      }
      break;
    default:
      std::memcpy(out, column.reals().data() + from, rows * sizeof(double));
  }
}

void next_rows(duckdb_function_info info, duckdb_data_chunk output) {
  const Table& table =
      **static_cast<std::shared_ptr<const Table>*>(duckdb_function_get_extra_info(info));
  auto& scan = *static_cast<HeldScan*>(duckdb_function_get_init_data(info));
  const std::size_t most = duckdb_vector_size();
  const std::size_t from = std::min(table.rows(), scan.next.fetch_add(most));
  const std::size_t rows = std::min(table.rows() - from, most);
  for (std::size_t i = 0; i < scan.columns.size(); ++i) {
    const std::size_t c = scan.columns[i];
    if (c >= table.columns().size()) continue;  // rows are counted, nothing more
    fill_values(table.columns()[c], from, rows, duckdb_data_chunk_get_vector(output, i));
  }
  duckdb_data_chunk_set_size(output, rows);
}

bool make_function(duckdb_connection connection, const std::string& name,
                   const std::shared_ptr<const Table>& table) {
  duckdb_table_function function = duckdb_create_table_function();
  duckdb_table_function_set_name(function, name.c_str());
  duckdb_table_function_set_extra_info(function, new std::shared_ptr<const Table>(table),
                                       erase_as<std::shared_ptr<const Table>>);
  duckdb_table_function_set_bind(function, bind_rows);
  duckdb_table_function_set_init(function, start_scan);
  duckdb_table_function_set_function(function, next_rows);
  duckdb_table_function_supports_projection_pushdown(function, true);
  const bool made = duckdb_register_table_function(connection, function) == DuckDBSuccess;
  duckdb_destroy_table_function(&function);
  return made;
}

/// Some columns of some rows of a table, a block at a time.
class TableStream final : public Stream {
 public:
  TableStream(std::shared_ptr<const Table> table, std::vector<const Column*> columns,
              std::size_t from, std::size_t to)
      : table_(std::move(table)),
        columns_(std::move(columns)),
        buffers_(columns_.size()),
        from_(from),
        to_(to),
        at_(from) {}

  bool next(Batch& batch) override {
    batch.rows = std::min(kBlockRows, to_ - at_);
    batch.columns.assign(columns_.size(), {});
    batch.owner = nullptr;
    for (std::size_t c = 0; c < columns_.size(); ++c) show(c, batch.rows, batch.columns[c]);
    at_ += batch.rows;
    return batch.rows > 0;
  }

  double progress() const override {
    return static_cast<double>(at_ - from_) /
           static_cast<double>(std::max<std::size_t>(to_ - from_, 1));
  }

 private:
  static constexpr std::size_t kBlockRows = 2048;

  struct Buffer {
    std::vector<std::uint8_t> valid;
    std::vector<std::string_view> texts;
  };

  void show(std::size_t c, std::size_t rows, BatchColumn& to) {
    const Column& column = *columns_[c];
    Buffer& buffer = buffers_[c];
    if (column.has_nulls()) {
      buffer.valid.resize(rows);
      for (std::size_t i = 0; i < rows; ++i) buffer.valid[i] = column.is_null(at_ + i) ? 0 : 1;
      to.valid = buffer.valid;
    }
    if (column.type() == Type::kInteger) {
      to.integers = column.integers().subspan(at_, rows);
    } else if (column.type() == Type::kDouble) {
      to.kind = BatchColumn::Kind::kReals;
      to.reals = column.reals().subspan(at_, rows);
    } else {
      to.kind = BatchColumn::Kind::kTexts;
      buffer.texts.resize(rows);
      for (std::size_t i = 0; i < rows; ++i)
        buffer.texts[i] = to.is_null(i) ? std::string_view() : column.text(at_ + i);
      to.texts = buffer.texts;
      to.codes = {reinterpret_cast<const std::uint32_t*>(column.codes().data()) + at_, rows};
      to.dictionary = column.dictionary();
    }
  }

  std::shared_ptr<const Table> table_;
  std::vector<const Column*> columns_;
  std::vector<Buffer> buffers_;
  std::size_t from_, to_;
  std::atomic<std::size_t> at_;
};

class TableSource final : public internal::EmbeddedSource {
 public:
  TableSource(const std::map<std::string, Table>& tables, const SourceOptions& options)
      : EmbeddedSource(options) {
    if (tables.empty()) throw Error(ErrorCode::kInvalidInput, "no table was given");
    for (const auto& [name, given] : tables) {
      const auto table = std::make_shared<const Table>(readable(given));
      const std::string function = "gauze_rows_" + std::to_string(held_.size());
      if (table->columns().empty() || !make_function(database_->main().get(), function, table))
        throw Error(ErrorCode::kInvalidInput, "a table in memory has no columns");
      database_->main().run("CREATE VIEW " + duckdb_dialect().identifier(name) +
                                " AS SELECT * FROM " + function + "()",
                            ErrorCode::kInvalidInput, "a table in memory has no name of its own");
      for (std::size_t c = 0; c < table->columns().size(); ++c) {
        const Type type = table->columns()[c].type();
        columns_[name].push_back(
            {table->names()[c], type == Type::kDecimal ? Type::kDouble : type});
      }
      held_.emplace_back(name, table);
    }
    database_->lock({}, {});
  }

  std::vector<std::unique_ptr<Stream>> scan(const std::string& table,
                                            std::span<const ColumnInfo> columns,
                                            unsigned threads) override {
    const auto found = std::find_if(held_.begin(), held_.end(),
                                    [&](const auto& held) { return same_name(held.first, table); });
    if (found == held_.end() || columns.empty() || found->second->rows() >= kMostRows) return {};
    std::vector<const Column*> wanted;
    for (const ColumnInfo& column : columns) {
      wanted.push_back(plain_column(*found->second, column));
      if (!wanted.back()) return {};
    }
    const std::size_t rows = found->second->rows();
    const std::size_t used =
        std::min<std::size_t>(internal::thread_count(threads), 1 + rows / kRowsPerThread);
    std::vector<std::unique_ptr<Stream>> streams;
    for (std::size_t i = 0; i < used; ++i)
      streams.push_back(std::make_unique<TableStream>(found->second, wanted, rows * i / used,
                                                      rows * (i + 1) / used));
    return streams;
  }

 private:
  /// Work for less is done before another thread has started.
  static constexpr std::size_t kRowsPerThread = std::size_t{1} << 17;
  static constexpr std::uint64_t kMostRows = std::uint64_t{1} << 32;

  /// The column, if it is of that type as it is.
  static const Column* plain_column(const Table& table, const ColumnInfo& wanted) {
    if (wanted.type != Type::kInteger && wanted.type != Type::kDouble && wanted.type != Type::kText)
      return nullptr;
    for (std::size_t c = 0; c < table.names().size(); ++c) {
      if (same_name(table.names()[c], wanted.name))
        return table.columns()[c].type() == wanted.type ? &table.columns()[c] : nullptr;
    }
    return nullptr;
  }

  std::vector<std::pair<std::string, std::shared_ptr<const Table>>> held_;
};

}  // namespace

std::unique_ptr<Source> open_tables(const std::map<std::string, Table>& tables,
                                    const SourceOptions& options) {
  return std::make_unique<TableSource>(tables, options);
}

}  // namespace gauze
