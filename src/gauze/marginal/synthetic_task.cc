#include "gauze/marginal/synthetic_task.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>

#include "gauze/base/error.h"
#include "gauze/base/words.h"
#include "gauze/data/bound.h"
#include "gauze/data/table.h"
#include "gauze/marginal/encoding.h"
#include "gauze/marginal/synthetic_result_internal.h"
#include "gauze/registry/common_options.h"
#include "gauze/registry/entries.h"
#include "gauze/registry/wording.h"

namespace gauze {
namespace {

using Kind = OptionSpec::Type;

/// Options as they would be typed: a ledger records them so, whoever gave them.
nlohmann::json typed(const nlohmann::json& options) {
  if (!options.is_object()) return options;  // refused by whoever reads them
  nlohmann::json words = nlohmann::json::object();
  for (const auto& [name, value] : options.items()) {
    std::string word;
    for (const auto& part : value.is_array() ? value : nlohmann::json::array({value}))
      word.append(word.empty() ? "" : ",")
          .append(part.is_string() ? part.get<std::string>() : part.dump());
    words[name] = std::move(word);
  }
  return words;
}

/// The columns that were named: a list, or one text with commas. None: all.
std::vector<std::string> columns_in(const nlohmann::json& asks) {
  const nlohmann::json found =
      asks.is_object() ? asks.value("columns", nlohmann::json()) : nlohmann::json();
  std::vector<std::string> columns;
  if (found.is_null()) return columns;
  require(found.is_string() || found.is_array(), "columns: must be a list of texts");
  for (const auto& each : found.is_array() ? found : nlohmann::json::array()) {
    require(each.is_string(), "columns: must be a list of texts");
    columns.push_back(each.get<std::string>());
  }
  const std::string text = found.is_string() ? found.get<std::string>() : "";
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t to = std::min(text.find(',', from), text.size());
    columns.push_back(text.substr(from, to - from));
    from = to + 1;
  }
  return columns;
}

/// The schemas of the columns that take part, in the order asked for; all but the unit's if none is named.
std::vector<ColumnSchema> columns_of(const TableSchema& table, std::vector<std::string> names) {
  if (names == std::vector<std::string>{"all"} && table.find("all") == nullptr) names.clear();
  std::vector<ColumnSchema> columns;
  const std::string unit = bounds_of(table).unit;
  for (const ColumnSchema& column : table.columns)
    if (names.empty() && (unit.empty() || !same_name(column.name, unit))) columns.push_back(column);
  for (const std::string& name : names) {
    const ColumnSchema* column = table.find(name);
    if (column == nullptr)
      throw Error(ErrorCode::kUnknownName, "the table '" + table.name + "' has no column '" +
                                               name.substr(0, 100) + "' in its schema");
    const bool twice = std::any_of(columns.begin(), columns.end(), [&](const ColumnSchema& other) {
      return same_name(other.name, column->name);
    });
    require(!twice, "columns: name each column once");
    columns.push_back(*column);
  }
  require(!columns.empty(), "columns: the schema has none besides the unit");
  return columns;
}

/// A line of codes as a row of the domain: what is no code is 0, what is too large is the last.
void add_row(std::string_view line, CodedRows& rows) {
  const char* at = line.data();
  const char* const end = at + line.size();
  for (std::size_t column = 0; column < rows.columns.size(); ++column) {
    while (at != end && (*at == ' ' || *at == '"')) ++at;
    std::uint64_t code = 0;
    const auto [after, error] = std::from_chars(at, end, code);
    if (error == std::errc::result_out_of_range) code = UINT64_MAX;
    at = std::find(after, end, ',');
    if (at != end) ++at;
    rows.columns[column].push_back(
        static_cast<std::uint32_t>(std::min<std::uint64_t>(code, rows.domain.extents[column] - 1)));
  }
}

CodedRows coded(const Shape& domain, const Input& input) {
  CodedRows rows{domain, std::vector<std::vector<std::uint32_t>>(domain.axes())};
  const auto read = [&](std::istream& lines) {
    for (std::string line; std::getline(lines, line);)
      if (line.find_first_not_of(" \r\t") != std::string::npos) add_row(line, rows);
  };
  if (const auto* file = std::get_if<PlainFile>(&input)) {
    if (file->path == "-") {
      read(std::cin);
      return rows;
    }
    std::ifstream stream(file->path);
    if (!stream) throw Error(ErrorCode::kIo, "cannot read " + file->path);
    read(stream);
    if (stream.bad()) throw Error(ErrorCode::kIo, "cannot read " + file->path);
    return rows;
  }
  for (const std::string& line : std::get<Rows>(input).cells()) add_row(line, rows);
  return rows;
}

/// Whole numbers from 0 on stand for the values of a column of codes.
ColumnSchema numbered(std::uint32_t cells, std::size_t column) {
  ColumnSchema schema;
  schema.name = "column_" + std::to_string(column + 1);
  schema.domain.type = Type::kInteger;
  schema.domain.lower = std::int64_t{0};
  schema.domain.upper = std::int64_t{cells} - 1;
  schema.domain.nullable = false;
  return schema;
}

/// A task that runs the method on rows, which `read` reads.
template <class Read>
Task task_of(const SynthesisMethod& method, internal::SyntheticMaker maker, Read read) {
  Task task;
  task.event = method.event;
  task.accuracy = [accuracy = method.accuracy](std::uint64_t, double confidence) {
    return accuracy(confidence);
  };
  const auto make = std::make_shared<const internal::SyntheticMaker>(std::move(maker));
  task.read = [run = method.run, make, read](const Input& input, Context& context) -> Task::Draw {
    return [run, make, rows = read(input, context)](Context& drawing) -> Release<Result> {
      auto made = run(rows, drawing);
      return {(*make)(made.value, made.accuracy, drawing.bits), made.accuracy,
              std::move(made.spent)};
    };
  };
  return task;
}

Task on_codes(const std::shared_ptr<const SyntheticEntry>& entry, const nlohmann::json& options,
              const Asked& asked) {
  const OptionValues values(entry->about.options, options);
  Encoding encoding;
  for (const std::uint64_t cells : values.wholes("cells")) {
    require(cells >= 1 && cells <= 1u << 20,
            "cells: must be how many values each column of codes has, like 2,3,2, each up to 2^20");
    encoding.columns.emplace_back(
        numbered(static_cast<std::uint32_t>(cells), encoding.columns.size()), 1u << 20);
  }
  const Shape domain = encoding.domain();
  Task task = task_of(entry->on(values, domain),
                      {entry->about.name, "rows of codes", std::move(encoding), asked.wanted},
                      [domain](const Input& input, Context&) { return coded(domain, input); });
  task.notes = {{"counted", "at most " + many(values.whole("rows_per_unit"), "row") +
                                " of a person, if the file was made so"}};
  return task;
}

Task on_table(const std::shared_ptr<const SyntheticEntry>& entry, nlohmann::json options,
              const Asked& asked) {
  const TableSchema table = private_table(*asked.schema, asked.table);
  TableBounds bounds = bounds_of(table);
  if (!options.is_object()) options = nlohmann::json::object();
  require(!options.contains("cells"), "cells: is for rows of codes; on tables say bins");
  options["cells"] = "0";
  if (!options.contains("rows_per_unit"))
    options["rows_per_unit"] = std::to_string(bounds.rows_per_unit.get());
  const OptionValues values(entry->about.options, options);
  const std::uint64_t bins = values.whole("bins");
  require(bins >= 1 && bins <= 1u << 20, "bins: must be from 1 to 2^20");
  const std::vector<ColumnSchema> columns = columns_of(table, columns_in(asked.asks));
  Encoding encoding;
  for (const ColumnSchema& column : columns)
    encoding.columns.emplace_back(column, static_cast<std::uint32_t>(bins));
  bounds.rows_per_unit = values.whole("rows_per_unit");
  require(!bounds.unit->empty() || bounds.rows_per_unit == 1u,
          "rows_per_unit: is 1 where every row is another unit");
  bounds.columns = columns;
  std::vector<std::string> names;
  for (const ColumnSchema& column : columns) names.push_back(column.name);
  std::vector<std::string> reads = names;
  if (!bounds.unit->empty() &&
      std::none_of(names.begin(), names.end(),
                   [&](const std::string& name) { return same_name(name, bounds.unit.get()); }))
    reads.push_back(bounds.unit);

  Task task = task_of(
      entry->on(values, encoding.domain()),
      {entry->about.name, joined(names, ", ") + " of " + table.name, encoding, asked.wanted},
      [table, reads, bounds, encoding](const Input& input, Context& context) {
        Source& source = std::get<std::reference_wrapper<Source>>(input);
        const auto progress = [&context](double done) { context.progress(done); };
        return encoding.encoded(
            bound(read_table(source, table, reads, progress), bounds, context.bits).rows());
      });
  task.words = nlohmann::json({{"algorithm", entry->about.name},
                               {"options", options},
                               {"table", table.name},
                               {"columns", names}})
                   .dump();
  const bool owned = table.unit.kind == UnitSchema::Kind::kColumn;
  task.unit = owned ? table.unit.column : "row";
  task.notes = {
      {"counted", owned ? "at most " + many(bounds.rows_per_unit, "row") + " of each " + task.unit
                        : "each row is a privacy unit of its own"}};
  task.check = [table, reads](Source& source) -> std::vector<Note> {
    expect_columns(source, table, reads);
    return {};
  };
  return task;
}

}  // namespace

InputKind microdata_kind() {
  return {.name = "microdata",
          .plain = InputKind::Plain::kFile,
          .tables = true,
          .asks = {{"columns", Kind::kWords,
                    "which columns the rows have, like age,sex; all: all but the unit's", "all",
                    "column,columns"}},
          .writes_table = true};
}

std::vector<OptionSpec> synthetic_options(std::vector<OptionSpec> more) {
  std::vector<OptionSpec> all = {
      epsilon_option(),
      {"delta", Kind::kNumber, "above 0: the tables have Gaussian noise", ""},
      {"rows_per_unit", Kind::kWhole,
       "at most so many rows of a person take part; on tables the schema's", ""},
      {"cells", Kind::kNumbers,
       "how many values each column of a file of codes has: 2,3,2; the schema knows it of tables",
       ""},
      {"bins", Kind::kWhole,
       "parts of the range of a column that has neither bins nor categories in the schema", "32"},
      {"rows", Kind::kWhole, "how many rows to make up; 0: as many as there are by noisy counts",
       "0"}};
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

Task synthetic_task(const std::shared_ptr<const SyntheticEntry>& entry, const Asked& asked) {
  require(asked.confidence == 0.95,
          "confidence: must be 0.95 here, for counts state their own error");
  const nlohmann::json options = typed(asked.options);
  return asked.schema == nullptr ? on_codes(entry, options, asked)
                                 : on_table(entry, options, asked);
}

}  // namespace gauze
