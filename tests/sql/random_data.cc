#include "random_data.h"

#include <fstream>
#include <nlohmann/json.hpp>

#include "gauze/data/run_duckdb_internal.h"
#include "gauze/data/schema.h"

namespace gauze::sql_test {
namespace {

using Text = std::optional<std::string>;  // of a cell; nothing: null
using Rows = std::vector<const RandomRow*>;

std::string sql_type(Type type) {
  switch (type) {
    case Type::kBoolean:
      return "BOOLEAN";
    case Type::kInteger:
      return "BIGINT";
    case Type::kDouble:
    case Type::kDecimal:
      return "DOUBLE";
    case Type::kText:
      return "VARCHAR";
    case Type::kDate:
      return "DATE";
    case Type::kTimestamp:
      return "TIMESTAMP";
  }
  return "";
}

std::string quoted(const std::string& text, char quote) {
  std::string result(1, quote);
  for (const char c : text) result += c == quote ? std::string(2, c) : std::string(1, c);
  return result + quote;
}

void write_csv(const std::filesystem::path& path, const RandomTable& table, const Rows& rows) {
  std::ofstream out(path);
  for (std::size_t c = 0; c < table.columns.size(); ++c) out << (c ? "," : "") << table.columns[c];
  out << "\n";
  for (const RandomRow* row : rows) {
    for (std::size_t c = 0; c < row->cells.size(); ++c)
      out << (c ? "," : "") << (row->cells[c] ? quoted(*row->cells[c], '"') : "");
    out << "\n";
  }
}

void write_json(const std::filesystem::path& path, const RandomTable& table, const Rows& rows) {
  std::ofstream out(path);
  if (rows.empty()) out << "1\n";  // no object, and so no row
  for (const RandomRow* row : rows) {
    nlohmann::json object;
    for (std::size_t c = 0; c < row->cells.size(); ++c)
      object[table.columns[c]] = row->cells[c] ? nlohmann::json(*row->cells[c]) : nlohmann::json();
    out << object.dump() << "\n";
  }
}

/// What DuckDB runs to write a file.
std::vector<std::string> written(const std::filesystem::path& path, const RandomTable& table,
                                 const Rows& rows) {
  std::string list, names, values;
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    const std::string column = quoted(table.columns[c], '"'), comma = c ? ", " : "";
    names += comma + column;
    list += comma + "TRY_CAST(" + column + " AS " + table.engine[c] + ") AS " + column;
  }
  const auto add = [&](const std::vector<Text>& cells) {
    values += values.empty() ? "(" : ", (";
    for (std::size_t c = 0; c < cells.size(); ++c)
      values += (c ? ", " : "") + (cells[c] ? quoted(*cells[c], '\'') : "NULL") + "::VARCHAR";
    values += ")";
  };
  for (const RandomRow* row : rows) add(row->cells);
  if (rows.empty()) add(std::vector<Text>(table.columns.size()));
  const std::string select = "SELECT " + list + " FROM (VALUES " + values + ") AS t(" + names +
                             ")" + (rows.empty() ? " WHERE false" : "");
  if (table.format == "parquet") return {"COPY (" + select + ") TO '" + path.string() + "'"};
  const std::string database = "a_" + table.name;
  return {"ATTACH '" + path.string() + "' AS " + database,
          "CREATE TABLE " + database + "." + table.name + " AS " + select, "DETACH " + database};
}

Value number_of(const std::string& text, Type type) {
  std::size_t end = 0;
  const Value value = type == Type::kInteger ? Value(std::int64_t{std::stoll(text, &end)})
                                             : Value(std::stod(text, &end));
  return end == text.size() ? value : Value();
}

Value value_of(const Text& text, Type type) {
  if (!text) return {};
  try {
    switch (type) {
      case Type::kText:
        return *text;
      case Type::kInteger:
      case Type::kDouble:
      case Type::kDecimal:
        return number_of(*text, type);
      case Type::kBoolean:
        return *text == "true" ? Value(true) : *text == "false" ? Value(false) : Value();
      case Type::kDate:
        return parse_date(*text);
      case Type::kTimestamp:
        return text->size() <= 10 ? Value() : Value(parse_timestamp(*text));
    }
  } catch (const std::exception&) {  // no value of this type
  }
  return {};
}

Table in_memory(const RandomTable& table, const Rows& rows) {
  std::vector<Column> columns;
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    std::vector<Value> values;
    for (const RandomRow* row : rows) values.push_back(value_of(row->cells[c], table.stored[c]));
    columns.push_back(Column::of_values(table.stored[c], values));
  }
  return Table(table.columns, columns);
}

}  // namespace

RandomData::RandomData(std::uint64_t seed, bool portable)
    : dice_(seed),
      portable_(portable),
      text_units_(dice_.chance(35)),
      text_keys_(dice_.chance(30)),
      in_memory_(!portable && dice_.chance(45)) {
  make_specs();
  make_schema();
  make_rows();
  for (RandomTable& table : tables_)
    table.format =
        portable ? "duckdb" : dice_.of({"csv", "parquet", "parquet", "duckdb", "ndjson"});
}

std::string RandomData::describe() const {
  std::string text = schema_ + "\n";
  for (const RandomTable& table : tables_) {
    text += table.name + (in_memory_ ? " in memory" : "." + table.format) + ": ";
    for (std::size_t c = 0; c < table.columns.size(); ++c)
      text += table.columns[c] + " " +
              (in_memory_ ? std::string(name(table.stored[c])) : table.engine[c]) + ", ";
    text += "\n";
    for (const RandomRow& row : table.rows) {
      for (const Text& cell : row.cells) text += cell.value_or("NULL") + "|";
      text += "\n";
    }
  }
  return text;
}

std::unique_ptr<Source> RandomData::open(const std::filesystem::path& folder,
                                         const std::optional<Without>& without) const {
  std::map<std::string, Table> held;
  std::map<std::string, std::string> files;
  std::vector<std::string> statements;
  SourceOptions options{.threads = 1, .memory = 0, .temp_directory = ""};
  std::filesystem::create_directories(folder);
  for (const RandomTable& table : tables_) {
    Rows rows;
    for (std::size_t i = 0; i < table.rows.size(); ++i) {
      const RandomRow& row = table.rows[i];
      const bool of_unit = without && !without->unit.empty() && row.owner == without->unit;
      const bool itself = without && without->table == table.name && without->row == i;
      if (!of_unit && !itself) rows.push_back(&row);
    }
    if (in_memory_) {
      held.emplace(table.name, in_memory(table, rows));
      continue;
    }
    const std::filesystem::path path = folder / (table.name + "." + table.format);
    files[table.name] = path.string() + (table.format == "duckdb" ? ":" + table.name : "");
    options.json_columns[table.name] = table.columns;
    if (table.format == "csv") {
      write_csv(path, table, rows);
    } else if (table.format == "ndjson") {
      write_json(path, table, rows);
    } else {
      for (std::string& each : written(path, table, rows)) statements.push_back(std::move(each));
    }
  }
  if (in_memory_) return open_tables(held, options);
  if (!statements.empty()) internal::run_duckdb(statements);
  return open_files(files, options);
}

std::string RandomData::maybe(const std::string& text, int percent) {
  return dice_.chance(percent) ? text : "";
}

std::string RandomData::bounds() {
  std::string text = R"("rows_per_unit": )" + std::to_string(dice_.between(1, 7));
  text += maybe(R"(, "groups_per_unit": )" + std::to_string(dice_.between(1, 4)));
  text += maybe(R"(, "rows_per_group": )" + std::to_string(dice_.between(1, 4)));
  return text;
}

void RandomData::make_specs() {
  using Texts = std::vector<std::string>;
  using Range = std::pair<std::string, std::string>;
  const Type unit = text_units_ ? Type::kText : Type::kInteger;
  const Type key = text_keys_ ? Type::kText : Type::kInteger;
  const auto nulls = [&] { return maybe(R"(, "nulls": false)", 30); };
  const auto within = [](const Range& range) {
    return R"(, "lower": )" + range.first + R"(, "upper": )" + range.second;
  };
  // Ranges of many sizes, also such that steps are not whole numbers.
  const Range range = dice_.of({Range{"0", "1000"},
                                {"-3", "7.5"},
                                {"100", "101"},
                                {"-1e6", "1e-3"},
                                {"0", "0.1"},
                                {"1e12", "3e12"},
                                {"-1e300", "1e150"},
                                {"1e-20", "3e-20"},
                                {"-5", "-4"}});
  const Range big = dice_.of({Range{"-1000000000000", "4000000000000000000"},
                              {"-4611686018427387904", "4611686018427387904"},
                              {"7", "9007199254740995"},
                              {"-20000", "70000"},
                              {"-9223372036854775808", "9223372036854775807"},
                              {"0", "9223372036854775807"}});
  const Range few = dice_.of({Range{"0", "10"}, {"-2", "10"}});
  const std::string wards = R"(, "categories": ["icu", "er", "x'y"])";
  const std::string quarter = R"(, "lower": "2024-01-01", "upper": "2024-03-31")";
  const Texts whole_odd = {"",
                           "-7",
                           "99999999999999999999",
                           "1e300",
                           "nan",
                           "inf",
                           "x",
                           "5.5",
                           "11",
                           "9223372036854775807",
                           "-9223372036854775808",
                           "2.5",
                           "true"};
  const Texts real_odd = {"",       "nan",   "inf", "-inf", "1e400",  "-0.0",
                          "5e-324", "1e308", "zz",  "1,5",  "-1e308", "999999999999999999999",
                          "0.1",    "2e-20"};
  specs_["visits"] = {
      {"u", unit, "", {}, {}},
      {"vid", key, "", {}, {}},
      {"ward",
       Type::kText,
       wards + maybe(R"(, "default": "er")") + nulls(),
       {"icu", "er", "x'y"},
       {"", "ICU", "icu ", "ü", "other", "a%b_c"}},
      {"town",
       Type::kText,
       nulls(),
       {"t1", "t2", "t3", "T1"},
       {"", "ü€", " t1 ", "a%b_c", "null", "t1t1t1t1t1t1t1t1t1"}},
      {"days",
       Type::kInteger,
       within(few) + nulls() + maybe(R"(, "bins": [0, 2, 5, 10])"),
       {"0", "1", "2", "3", "9", "10"},
       whole_odd},
      {"cost",
       Type::kDouble,
       within(range) + nulls(),
       {"1.5", "0", "999.25", "100.5", range.first, range.second, "0.1", "7"},
       real_odd},
      {"big",
       Type::kInteger,
       within(big) + nulls(),
       {"0", "7", "12345", "-17", big.first, big.second},
       whole_odd},
      {"code", Type::kInteger, nulls(), {"1", "2", "3", "1000000007"}, whole_odd},
      {"day",
       Type::kDate,
       quarter + nulls(),
       {"2024-01-01", "2024-02-29", "2024-03-31", "2024-02-15"},
       {"", "1999-01-01", "9999-12-31", "infinity", "2024-13-01", "0001-01-01", "2030-01-01"}},
      {"at",
       Type::kTimestamp,
       maybe(R"(, "lower": "2024-01-01 00:00:00", "upper": "2024-12-31 23:59:59")", 60) + nulls(),
       {"2024-01-01 00:00:00", "2024-05-06 12:30:45", "2024-12-31 23:59:59", "2024-05-06 00:00:00"},
       {"", "infinity", "2024-12-31 23:59:59.999999", "0001-01-01 00:00:00", "noon",
        "2025-05-06 12:30:45+02"}},
      {"flag", Type::kBoolean, nulls(), {"true", "false"}, {"", "2", "yes", "f"}},
      {"dec",
       Type::kDecimal,
       R"(, "lower": "0.1", "upper": "10/3")" + nulls(),
       {"0.1", "0.2", "3.3", "1"},
       real_odd}};
  specs_["people"] = {
      {"u", unit, "", {}, {}},
      {"sex", Type::kText, R"(, "categories": ["f", "m"])" + nulls(), {"f", "m"}, {"", "x", "F"}},
      {"age",
       Type::kInteger,
       R"(, "lower": 0, "upper": 120, "bins": [0, 18, 65, 120])" + nulls(),
       {"0", "18", "65", "120", "40"},
       whole_odd},
      {"height", Type::kDouble, "", {"1.5", "1.75", "2"}, real_odd}};
  specs_["tests"] = {{"vid", key, "", {}, {}},
                     {"kind", Type::kText, "", {"a", "b", "c"}, {"", "A", "ü"}},
                     {"value",
                      Type::kDouble,
                      R"(, "lower": -1, "upper": 1)" + nulls(),
                      {"-1", "1", "0.25", "0"},
                      real_odd}};
  specs_["survey"] = {
      {"q",
       Type::kInteger,
       R"(, "lower": 0, "upper": 5)" + nulls(),
       {"0", "1", "5", "3"},
       whole_odd},
      {"ward",
       Type::kText,
       wards + maybe(R"(, "default": "er")") + nulls(),
       {"icu", "er", "x'y"},
       {"", "ICU", "other"}},
      {"income",
       Type::kDouble,
       within(range) + nulls(),
       {range.first, range.second, "7", "0.5"},
       real_odd},
      {"big", Type::kInteger, within(big) + nulls(), {"0", "7", big.first, big.second}, whole_odd},
      {"town", Type::kText, "", {"t1", "t2", "t3"}, {"", "ü€", " t1 "}},
      {"ref", Type::kDouble, "", {"1", "2", "3", "9007199254740992", "0"}, real_odd},
      {"day",
       Type::kDate,
       maybe(quarter),
       {"2024-01-01", "2024-02-29", "2024-03-31"},
       {"", "1999-01-01", "infinity"}}};
  specs_["survey2"] = {
      {"q", Type::kInteger, R"(, "lower": 0, "upper": 5)", {"0", "1", "5"}, whole_odd},
      {"ward", Type::kText, wards, {"icu", "er"}, {"", "ICU"}},
      {"income", Type::kDouble, R"(, "lower": 0, "upper": 10)", {"0", "10", "7"}, real_odd}};
  specs_["wards"] = {
      {"ward", Type::kText, maybe(wards), {"icu", "er", "x'y"}, {"", "ICU", "other"}},
      {"floor",
       Type::kInteger,
       maybe(R"(, "lower": 0, "upper": 5)", 70),
       {"0", "1", "2", "5"},
       whole_odd},
      {"building", Type::kText, "", {"b1", "b2"}, {"", "ü"}},
      {"rate", Type::kDouble, R"(, "lower": 0, "upper": 2)", {"0", "0.5", "2"}, real_odd}};
  specs_["codes"] = {
      {"k",
       Type::kInteger,
       "",
       {"0", "1", "2", "3", "9007199254740992"},
       {"9007199254740993", "", "1", "2.4", "-0.0"}},
      {"x",
       Type::kDouble,
       "",
       {"0", "1", "2", "3"},
       {"-0.0", "9007199254740993", "nan", "inf", "0.0"}},
      {"label",
       Type::kText,
       R"(, "categories": ["l1", "l2"], "default": "l1")",
       {"l1", "l2"},
       {"", "z"}},
      {"w", Type::kInteger, R"(, "lower": 0, "upper": 3)", {"0", "1", "3"}, whole_odd}};
}

void RandomData::make_schema() {
  const std::map<std::string, std::string> heads = {
      {"visits", R"("unit": "u", "keys": [["vid"]], )" + bounds()},
      {"people", R"("unit": "u", )" + maybe(R"("keys": [["u"]], )") + bounds()},
      {"tests", R"("unit": {"column": "vid", "of": "visits", "key": "vid"}, )" + bounds()},
      {"survey", R"("unit": "row")"},
      {"survey2", R"("unit": "row")"},
      {"wards", R"("public": true, "keys": [["ward"])" + maybe(R"(, ["floor", "building"])") + "]"},
      {"codes",
       R"("public": true, "keys": )" + std::string(dice_.of({R"([["k"]])", R"([["x"]])"}))}};
  for (const auto& [table, columns] : specs_) {
    std::string list;
    for (const Spec& column : columns)
      list += (list.empty() ? "\"" : ", \"") + column.name + R"(": {"type": ")" +
              std::string(name(column.type)) + "\"" + column.json + "}";
    schema_ += (schema_.empty() ? "\"" : ",\n\"") + table + "\": {" + heads.at(table) +
               R"(, "columns": {)" + list + "}}";
  }
  schema_ = R"({"version": 1, "dataset": "d", "tables": {)" + schema_ + "}}";
}

std::optional<std::string> RandomData::cell(const Spec& spec) {
  if (!dice_.chance(30)) return dice_.of(spec.good);
  const std::string text = dice_.of(spec.odd);
  // PostgreSQL reads texts of numbers that small as 0.
  if (text.empty() || (portable_ && text == "5e-324")) return std::nullopt;
  return text;
}

std::string RandomData::engine_type(const Spec& spec, bool id) {
  if (id && spec.type == Type::kText) return "VARCHAR";
  if (portable_) return dice_.chance(70) ? sql_type(spec.type) : "VARCHAR";
  if (id)
    return dice_.of({"BIGINT", "BIGINT", "BIGINT", "INTEGER", "DOUBLE", "DECIMAL(20,2)", "HUGEINT",
                     "UBIGINT", "VARCHAR"});
  if (dice_.chance(60)) return sql_type(spec.type);
  switch (spec.type) {
    case Type::kInteger:
      return dice_.of({"INTEGER", "UBIGINT", "HUGEINT", "DECIMAL(20,2)", "FLOAT", "DOUBLE",
                       "VARCHAR", "SMALLINT", "DECIMAL(38,10)", "BOOLEAN"});
    case Type::kDouble:
    case Type::kDecimal:
      return dice_.of({"FLOAT", "DECIMAL(18,3)", "DECIMAL(38,10)", "BIGINT", "VARCHAR", "HUGEINT",
                       "DECIMAL(4,1)"});
    case Type::kDate:
      return dice_.of({"TIMESTAMP", "TIMESTAMPTZ", "VARCHAR", "TIMESTAMP_NS"});
    case Type::kTimestamp:
      return dice_.of({"TIMESTAMP_NS", "TIMESTAMP_MS", "TIMESTAMPTZ", "DATE", "VARCHAR"});
    case Type::kBoolean:
      return dice_.of({"VARCHAR", "TINYINT", "BIGINT"});
    case Type::kText:
      return dice_.of({"VARCHAR", "VARCHAR", "ENUM('icu', 'er', 't1', 't2', 'a', 'f', 'm', 'b1')",
                       "BLOB", "BIGINT"});
  }
  return "";
}

RandomTable& RandomData::add_table(const std::string& name) {
  RandomTable& table = tables_.emplace_back();
  table.name = name;
  for (const Spec& spec : specs_[name]) {
    const bool id = spec.name == "u" || spec.name == "vid";
    Type stored = spec.type == Type::kDecimal ? Type::kDouble : spec.type;
    if (dice_.chance(25) && !(id && spec.type == Type::kText)) {
      stored = Type::kText;
      if (spec.type == Type::kInteger && dice_.chance(50)) stored = Type::kDouble;
      if (spec.type == Type::kDouble && dice_.chance(30)) stored = Type::kInteger;
      if (spec.type == Type::kDate && dice_.chance(50)) stored = Type::kTimestamp;
      if (spec.type == Type::kTimestamp && dice_.chance(50)) stored = Type::kDate;
    }
    table.columns.push_back(spec.name);
    table.stored.push_back(stored);
    table.engine.push_back(engine_type(spec, id));
  }
  return table;
}

/// One of the spellings of an id; texts are told apart by their bytes.
std::string RandomData::spelt(const std::string& unit) {
  if (text_units_ || !dice_.chance(15)) return unit;
  return dice_.chance(50) ? unit + ".0" : "0" + unit;
}

void RandomData::make_rows() {
  units_ = text_units_ ? std::vector<std::string>{"a",    "A",  "ü",
                                                  "x'y",  "1",  "01",
                                                  "null", "zz", "longer than fifteen bytes"}
                       : std::vector<std::string>{"1", "2", "3",       "4",           "5",
                                                  "6", "7", "8388608", "123456789012"};
  units_.resize(static_cast<std::size_t>(dice_.between(2, 9)));
  std::map<std::string, std::vector<RandomRow>> rows;
  int next = 1;
  const int most = dice_.chance(30) ? 25 : 7;
  for (const std::string& unit : units_) {
    for (int i = dice_.between(0, most); i > 0; --i) {
      const Text id = dice_.chance(10) ? Text() : Text(std::to_string(next++));
      rows["visits"].push_back(row("visits", unit, spelt(unit), id));
      for (int k = dice_.between(0, 3); k > 0 && id; --k)
        rows["tests"].push_back(row("tests", unit, std::nullopt, id));
    }
    for (int i = dice_.between(0, 2); i > 0; --i)
      rows["people"].push_back(row("people", unit, spelt(unit), std::nullopt));
  }
  for (int i = dice_.between(0, 3); i > 0 && !text_units_; --i) {
    const Text nobody = dice_.of(
        {Text("x"), Text("77.4"), Text("9300000000000000001"), Text("1e1"), Text("nan"), Text()});
    rows["visits"].push_back(row("visits", "", nobody, std::to_string(next++)));
  }
  for (int i = dice_.between(0, 2); i > 0; --i)
    rows["tests"].push_back(row("tests", "", std::nullopt, dice_.of({Text("999999"), Text()})));
  for (const auto& [name, most_rows] :
       std::map<std::string, int>{{"survey", 30}, {"survey2", 30}, {"wards", 7}, {"codes", 7}}) {
    for (int i = dice_.between(most_rows / 4, most_rows); i > 0; --i)
      rows[name].push_back(row(name, "", std::nullopt, std::nullopt));
  }
  for (const char* name : {"visits", "people", "tests", "survey", "survey2", "wards", "codes"}) {
    RandomTable& table = add_table(name);
    table.by_row = table.name.starts_with("survey");
    table.rows = std::move(rows[name]);
  }
}

RandomRow RandomData::row(const std::string& table, const std::string& owner, const Text& unit,
                          const Text& key) {
  RandomRow result{owner, {}};
  for (const Spec& spec : specs_[table])
    result.cells.push_back(spec.name == "u" ? unit : spec.name == "vid" ? key : cell(spec));
  return result;
}

}  // namespace gauze::sql_test
