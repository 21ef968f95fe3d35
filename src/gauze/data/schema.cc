#include "gauze/data/schema.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>

#include "gauze/base/error.h"
#include "gauze/base/words.h"

namespace gauze {
namespace {

using Json = nlohmann::ordered_json;

[[noreturn]] void reject(const std::string& where, const std::string& what) {
  throw Error(ErrorCode::kInvalidInput, where + ": " + what);
}

[[noreturn]] void missing(const std::string& where, const std::string& what) {
  throw Error(ErrorCode::kMissingKnowledge, where + ": " + what);
}

/// Text that may be long or hostile, short enough for a message.
std::string shown(std::string_view text) {
  return std::string("'").append(text.substr(0, 60)).append("'");
}

/// Whether a schema, a table or a column is none without this field.
bool is_needed(const std::string& field) {
  for (const char* needed : {"version", "dataset", "tables", "unit", "columns", "type"})
    if (field == needed) return true;
  return false;
}

/// "line 3, column 17" of a byte in a text.
std::string place_in(std::string_view text, std::size_t byte) {
  const std::string_view before = text.substr(0, std::min(byte, text.size() + 1) - 1);
  const auto lines = std::count(before.begin(), before.end(), '\n');
  const std::size_t start = before.rfind('\n') + 1;  // npos + 1 is 0
  return "line " + std::to_string(lines + 1) + ", column " +
         std::to_string(before.size() - start + 1);
}

/// The fields of one JSON object, checked against the ones there are.
class Fields {
 public:
  Fields(const Json& json, std::string where, const std::vector<std::string>& known)
      : json_(json), where_(std::move(where)) {
    if (!json.is_object()) reject(where_, "must be a JSON object {...}");
    for (const auto& [field, value] : json.items()) {
      if (field == "todo")
        missing(where_, "still has its \"todo\"; do what it says and delete the line");
      if (std::find(known.begin(), known.end(), field) == known.end())
        reject(where_, "there is no field " + shown(field) + did_you_mean(field, known));
      if (value.is_null())
        missing(where_, "\"" + field + "\" is not filled in; write a value" +
                            (is_needed(field) ? "" : " or delete the line"));
    }
  }

  const std::string& where() const { return where_; }
  bool has(const char* field) const { return json_.contains(field); }
  const Json& operator[](const char* field) const { return json_.at(field); }

  std::string text(const char* field) const {
    const Json& value = json_.at(field);
    if (!value.is_string() || value.get<std::string>().empty())
      reject(where_, "\"" + std::string(field) + "\" must be a text");
    const auto text = value.get<std::string>();
    if (text.find('\0') != std::string::npos)
      reject(where_, "\"" + std::string(field) + "\" holds a zero byte");
    return text;
  }
  bool flag(const char* field, bool fallback) const {
    if (!has(field)) return fallback;
    if (!json_.at(field).is_boolean())
      reject(where_, "\"" + std::string(field) + "\" must be true or false");
    return json_.at(field).get<bool>();
  }
  std::optional<std::uint64_t> count(const char* field) const {
    if (!has(field)) return std::nullopt;
    const Json& value = json_.at(field);
    constexpr std::uint64_t kMost = 1'000'000'000;
    if (!value.is_number_unsigned() || value.get<std::uint64_t>() < 1 ||
        value.get<std::uint64_t>() > kMost)
      reject(where_, "\"" + std::string(field) + "\" must be a whole number from 1 to 1000000000");
    return value.get<std::uint64_t>();
  }
  const Json& list(const char* field, std::size_t least) const {
    const Json& value = json_.at(field);
    if (!value.is_array() || value.size() < least)
      reject(where_, "\"" + std::string(field) + "\" must be a list of " + std::to_string(least) +
                         " or more values");
    return value;
  }

 private:
  const Json& json_;
  std::string where_;
};

Ratio exact_number(const Json& json, const std::string& where) {
  if (json.is_string()) return parse_ratio(json.get<std::string>(), where);
  if (json.is_number_unsigned()) return Ratio(json.get<std::uint64_t>());
  if (json.is_number_integer()) return Ratio(json.get<std::int64_t>());
  if (json.is_number_float()) return ratio_of_decimal(json.get<double>(), where);
  reject(where, "must be a number");
}

Value read_number(const Json& json, Type type, const std::string& where) {
  if (type == Type::kDecimal) return exact_number(json, where);
  if (!json.is_number()) reject(where, "must be a number");
  if (type == Type::kDouble) return json.get<double>();
  const Ratio number = exact_number(json, where);
  if (denominator(number) != 1 || number < Ratio(INT64_MIN) || number > Ratio(INT64_MAX))
    reject(where, "must be a whole number of at most 64 bits; for others use \"type\": \"double\"");
  return saturate(numerator(number));
}

Value read_value(const Json& json, Type type, const std::string& where) {
  if (is_numeric(type)) return read_number(json, type, where);
  if (type == Type::kBoolean) {
    if (!json.is_boolean()) reject(where, "must be true or false");
    return json.get<bool>();
  }
  if (!json.is_string())
    reject(where, "must be a text in quotes, as the type is " + std::string(name(type)));
  const auto text = json.get<std::string>();
  try {
    if (type == Type::kDate) return parse_date(text);
    if (type == Type::kTimestamp) return parse_timestamp(text);
  } catch (const Error& error) {
    reject(where, error.what());
  }
  if (text.find('\0') != std::string::npos) reject(where, "holds a zero byte");
  return text;
}

std::vector<Value> read_values(const Fields& fields, const char* field, Type type,
                               std::size_t least) {
  std::vector<Value> values;
  for (const Json& each : fields.list(field, least))
    values.push_back(read_value(each, type, fields.where() + ", \"" + field + "\""));
  return values;
}

void read_range(const Fields& fields, Domain& domain) {
  if (!fields.has("lower") && !fields.has("upper")) return;
  if (domain.type == Type::kText || domain.type == Type::kBoolean)
    reject(fields.where(),
           "\"lower\" and \"upper\" are for numbers, dates and timestamps; this is " +
               std::string(name(domain.type)));
  for (const auto& [has, lacks] : {std::pair("lower", "upper"), std::pair("upper", "lower")}) {
    if (!fields.has(lacks))
      missing(fields.where(),
              "has \"" + std::string(has) + "\" but no \"" + lacks + "\"; give both or none");
  }
  domain.lower = read_value(fields["lower"], domain.type, fields.where() + ", \"lower\"");
  domain.upper = read_value(fields["upper"], domain.type, fields.where() + ", \"upper\"");
  if (!sorts_before(*domain.lower, *domain.upper))
    reject(fields.where(), "\"lower\" must be below \"upper\"");
  // Values become doubles; a range between two neighbouring ones would hold none.
  if (domain.type == Type::kDecimal &&
      round_up(std::get<Ratio>(*domain.lower)) >= round_down(std::get<Ratio>(*domain.upper)))
    reject(fields.where(), "no two doubles lie between \"lower\" and \"upper\"; widen the range");
}

void read_categories(const Fields& fields, Domain& domain) {
  if (fields.has("categories")) {
    if (domain.lower) reject(fields.where(), "has a range and \"categories\"; give one of them");
    domain.categories = read_values(fields, "categories", domain.type, 1);
    auto sorted = *domain.categories;
    std::sort(sorted.begin(), sorted.end(), sorts_before);
    if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end())
      reject(fields.where(), "\"categories\" holds a value twice");
  }
  if (!fields.has("default")) return;
  if (!domain.categories) reject(fields.where(), "\"default\" is for columns with \"categories\"");
  domain.fallback = read_value(fields["default"], domain.type, fields.where() + ", \"default\"");
  if (std::find(domain.categories->begin(), domain.categories->end(), *domain.fallback) ==
      domain.categories->end())
    reject(fields.where(), "\"default\" must be one of the \"categories\"");
}

void read_bins(const Fields& fields, Domain& domain) {
  if (!fields.has("bins")) return;
  if (domain.type == Type::kText || domain.type == Type::kBoolean)
    reject(fields.where(), "\"bins\" are for numbers, dates and timestamps");
  domain.bins = read_values(fields, "bins", domain.type, 2);
  const auto not_before = [](const Value& a, const Value& b) { return !sorts_before(a, b); };
  if (std::adjacent_find(domain.bins.begin(), domain.bins.end(), not_before) != domain.bins.end())
    reject(fields.where(), "\"bins\" must increase");
}

ColumnSchema read_column(const std::string& column, const Json& json, const std::string& table) {
  const Fields fields(json, "table '" + table + "', column '" + column + "'",
                      {"type", "lower", "upper", "categories", "default", "bins", "nulls"});
  if (!fields.has("type")) missing(fields.where(), "has no type; add \"type\": \"integer\"");
  ColumnSchema result{column, {}};
  try {
    result.domain.type = parse_type(fields.text("type"));
  } catch (const Error& error) {
    throw Error(error.code(), fields.where() + ": " + error.what());
  }
  result.domain.nullable = fields.flag("nulls", true);
  read_range(fields, result.domain);
  read_categories(fields, result.domain);
  read_bins(fields, result.domain);
  return result;
}

const ColumnSchema& column_of(const TableSchema& table, const std::string& column,
                              const std::string& where) {
  if (const ColumnSchema* found = table.find(column)) return *found;
  std::vector<std::string> names;
  for (const ColumnSchema& each : table.columns) names.push_back(each.name);
  reject(where,
         "there is no column " + shown(column) + " in \"columns\"" + did_you_mean(column, names));
}

void read_unit(const Fields& fields, TableSchema& table) {
  if (!fields.has("unit"))
    missing(fields.where(),
            "does not say whose rows these are; add \"unit\": \"person_id\" (a column), \"unit\": "
            "\"row\" (each row is another person), or \"public\": true");
  const Json& unit = fields["unit"];
  if (unit == "row") {
    table.unit = {UnitSchema::Kind::kRow, "", "", ""};
    for (const char* bound : {"rows_per_unit", "groups_per_unit", "rows_per_group"}) {
      if (fields.count(bound).value_or(1) != 1)
        reject(fields.where(), "\"" + std::string(bound) + "\" is 1 when the unit is the row");
    }
    return;
  }
  if (unit.is_object()) {
    const Fields through(unit, fields.where() + ", \"unit\"", {"column", "of", "key"});
    if (!through.has("column")) missing(through.where(), "add \"column\": \"...\"");
    table.unit.kind = UnitSchema::Kind::kColumn;
    table.unit.column = through.text("column");
    if (through.has("of") != through.has("key"))
      missing(through.where(), "\"of\" (a table) and \"key\" (its column) belong together");
    if (through.has("of")) {
      table.unit.kind = UnitSchema::Kind::kThrough;
      table.unit.table = through.text("of");
      table.unit.key = through.text("key");
    }
  } else {
    table.unit = {UnitSchema::Kind::kColumn, fields.text("unit"), "", ""};
  }
  const auto rows = fields.count("rows_per_unit");
  if (!rows)
    missing(fields.where(),
            "does not say how many rows of a unit may take part; add \"rows_per_unit\": 10");
  table.rows_per_unit = *rows;
  table.groups_per_unit = fields.count("groups_per_unit");
  table.rows_per_group = fields.count("rows_per_group");
}

void check_unit_column(const TableSchema& table, const std::string& where) {
  if (table.unit.column.empty()) return;
  const Domain& domain = column_of(table, table.unit.column, where).domain;
  // Clamping or mapping would make one unit of several people, and bound them together.
  if ((domain.type != Type::kInteger && domain.type != Type::kText) || domain.lower ||
      domain.categories)
    reject(where, "the unit column '" + table.unit.column +
                      "' must be an integer or a text without range and categories");
}

/// Which files, or which relation, hold the rows.
void read_place(const Fields& fields, TableSchema& table) {
  if (fields.has("relation")) table.relation = fields.text("relation");
  if (!fields.has("files")) return;
  for (const Json& each : fields.list("files", 1)) {
    if (!each.is_string() || each.get<std::string>().empty() ||
        each.get<std::string>().find('\0') != std::string::npos)
      reject(fields.where(), "\"files\" is a list of paths: [\"visits/*.parquet\"]");
    table.files.push_back(each.get<std::string>());
  }
}

TableSchema read_table(const std::string& name, const Json& json) {
  const std::string where = "table '" + name + "'";
  const Fields fields(json, where,
                      {"files", "relation", "unit", "public", "rows_per_unit", "groups_per_unit",
                       "rows_per_group", "keys", "columns"});
  TableSchema table;
  table.name = name;
  read_place(fields, table);
  if (!fields.has("columns")) missing(where, "has no \"columns\"; add \"columns\": {...}");
  if (!fields["columns"].is_object() || fields["columns"].empty())
    reject(where, "\"columns\" must be an object with a column or more");
  for (const auto& [column, each] : fields["columns"].items()) {
    if (column.empty() || column.find('\0') != std::string::npos)
      reject(where, "a column has no name, or one with a zero byte");
    if (table.find(column)) reject(where, "has the column " + shown(column) + " twice");
    table.columns.push_back(read_column(column, each, name));
  }
  if (fields.flag("public", false)) {
    for (const char* field : {"unit", "rows_per_unit", "groups_per_unit", "rows_per_group"}) {
      if (fields.has(field))
        reject(where, "is public, so it has no \"" + std::string(field) + "\"");
    }
    table.unit.kind = UnitSchema::Kind::kPublic;
  } else {
    read_unit(fields, table);
    check_unit_column(table, where);
  }
  if (fields.has("keys")) {
    for (const Json& key : fields.list("keys", 0)) {
      if (!key.is_array() || key.empty())
        reject(where, "\"keys\" is a list of lists of columns: [[\"visit_id\"]]");
      std::vector<std::string> columns;
      for (const Json& column : key) {
        if (!column.is_string()) reject(where, "\"keys\" names columns");
        columns.push_back(column_of(table, column.get<std::string>(), where + ", \"keys\"").name);
      }
      table.keys.push_back(std::move(columns));
    }
  }
  return table;
}

const TableSchema* find_table(const Schema& schema, std::string_view name) {
  for (const TableSchema& each : schema.tables)
    if (same_name(each.name, name)) return &each;
  return nullptr;
}

/// Follows "of" from table to table: each is there, private, and found by a key; none comes back.
void check_owner(const Schema& schema, const TableSchema& table) {
  const TableSchema* at = &table;
  for (std::size_t steps = 0; at->unit.kind == UnitSchema::Kind::kThrough; ++steps) {
    const std::string where = "table '" + at->name + "', \"unit\"";
    if (steps > schema.tables.size())
      reject(where, "the tables named by \"of\" refer to one another in a circle");
    const TableSchema* owner = find_table(schema, at->unit.table);
    if (!owner) reject(where, "there is no table " + shown(at->unit.table) + " in \"tables\"");
    if (owner->is_public())
      reject(where, "the rows of the public table '" + owner->name + "' belong to nobody");
    const ColumnSchema& column = column_of(*owner, at->unit.key, where);
    const std::string& key = column.name;
    // Compared as doubles, different keys would be equal; and a row would have several owners.
    if (column.domain.type != column_of(*at, at->unit.column, where).domain.type)
      reject(where, "'" + at->unit.column + "' and the key '" + key + "' of '" + owner->name +
                        "' must have one type, integer or text");
    const bool declared = std::any_of(owner->keys.begin(), owner->keys.end(), [&](const auto& k) {
      return k.size() == 1 && same_name(k.front(), key);
    });
    if (!declared)
      missing(where, "'" + key + "' must determine a row of '" + owner->name +
                         "'; add \"keys\": [[\"" + key + "\"]] there");
    at = owner;
  }
}

/// A JSON number when that reads back exactly, the fraction as text otherwise.
Json json_number(const Ratio& number) {
  if (denominator(number) == 1 && number >= Ratio(INT64_MIN) && number <= Ratio(INT64_MAX))
    return saturate(numerator(number));
  const std::string text = to_string(number);
  if (text.find('/') != std::string::npos) return text;
  const double value = std::stod(text);
  return ratio_of_decimal(value) == number ? Json(value) : Json(text);
}

Json json_of(const Value& value) {
  struct Writer {
    Json operator()(std::monostate) const { return nullptr; }
    Json operator()(bool b) const { return b; }
    Json operator()(std::int64_t i) const { return i; }
    Json operator()(const Ratio& r) const { return json_number(r); }
    Json operator()(double d) const { return d; }
    Json operator()(const std::string& s) const { return s; }
    Json operator()(const Date& d) const { return to_text(d); }
    Json operator()(const Timestamp& t) const { return to_text(t); }
  };
  return std::visit(Writer{}, value);
}

Json json_of(const std::vector<Value>& values) {
  Json list = Json::array();
  for (const Value& each : values) list.push_back(json_of(each));
  return list;
}

Json json_of(const Domain& domain) {
  Json json{{"type", name(domain.type)}};
  if (domain.lower) json["lower"] = json_of(*domain.lower);
  if (domain.upper) json["upper"] = json_of(*domain.upper);
  if (domain.categories) json["categories"] = json_of(*domain.categories);
  if (domain.fallback) json["default"] = json_of(*domain.fallback);
  if (!domain.bins.empty()) json["bins"] = json_of(domain.bins);
  if (!domain.nullable) json["nulls"] = false;
  return json;
}

Json json_of(const UnitSchema& unit) {
  if (unit.kind == UnitSchema::Kind::kRow) return "row";
  if (unit.kind == UnitSchema::Kind::kThrough)
    return {{"column", unit.column}, {"of", unit.table}, {"key", unit.key}};
  if (unit.column == "row") return {{"column", "row"}};
  return unit.column;
}

Json json_of(const TableSchema& table) {
  Json json = Json::object();
  if (!table.files.empty()) json["files"] = table.files;
  if (!table.relation.empty()) json["relation"] = table.relation;
  if (table.is_public()) {
    json["public"] = true;
  } else {
    json["unit"] = json_of(table.unit);
    if (table.unit.kind != UnitSchema::Kind::kRow) json["rows_per_unit"] = table.rows_per_unit;
    if (table.groups_per_unit) json["groups_per_unit"] = *table.groups_per_unit;
    if (table.rows_per_group) json["rows_per_group"] = *table.rows_per_group;
  }
  if (!table.keys.empty()) json["keys"] = table.keys;
  for (const ColumnSchema& each : table.columns) json["columns"][each.name] = json_of(each.domain);
  return json;
}

}  // namespace

const ColumnSchema* TableSchema::find(std::string_view column) const {
  for (const ColumnSchema& each : columns)
    if (same_name(each.name, column)) return &each;
  return nullptr;
}

const TableSchema& Schema::table(std::string_view name) const {
  if (const TableSchema* found = find_table(*this, name)) return *found;
  std::vector<std::string> names;
  for (const TableSchema& each : tables) names.push_back(each.name);
  throw Error(ErrorCode::kUnknownName,
              "the schema has no table " + shown(name) + did_you_mean(name, names));
}

Schema schema_from_json(const Json& json) {
  const Fields fields(json, "schema", {"version", "dataset", "tables"});
  if (!fields.has("version")) missing("schema", "has no version; add \"version\": 1");
  if (fields["version"] != 1) reject("schema", "only \"version\": 1 is known");
  if (!fields.has("dataset"))
    missing("schema", "does not say whose budget pays; add \"dataset\": \"hospital\"");
  if (!fields.has("tables")) missing("schema", "has no tables; add \"tables\": {...}");
  if (!fields["tables"].is_object() || fields["tables"].empty())
    reject("schema", "\"tables\" must be an object with a table or more");
  Schema schema;
  schema.dataset = fields.text("dataset");
  for (const auto& [name, each] : fields["tables"].items()) {
    if (name.empty() || name.find('\0') != std::string::npos)
      reject("schema", "a table has no name, or one with a zero byte");
    if (find_table(schema, name)) reject("schema", "has the table " + shown(name) + " twice");
    schema.tables.push_back(read_table(name, each));
  }
  for (const TableSchema& each : schema.tables) check_owner(schema, each);
  return schema;
}

Schema parse_schema(std::string_view text) {
  // The parser keeps one of two equal keys in silence; a steward who wrote both meant something else.
  std::vector<std::set<std::string>> open;
  const auto watch = [&](int, Json::parse_event_t event, Json& parsed) {
    if (event == Json::parse_event_t::object_start) open.emplace_back();
    if (event == Json::parse_event_t::object_end) open.pop_back();
    if (event == Json::parse_event_t::key && !open.back().insert(parsed.get<std::string>()).second)
      reject("schema",
             "holds the name " + shown(parsed.get<std::string>()) + " twice in one object");
    return true;
  };
  try {
    return schema_from_json(Json::parse(text, watch));
  } catch (const Json::parse_error& error) {
    reject("schema",
           "no JSON: it errs or breaks off at " +
               place_in(text, std::max<std::size_t>(error.byte, 1)) +
               "; a comma, a quote or a bracket may be missing there or before, or be one "
               "too many");
  } catch (const Json::exception&) {
    reject("schema", "a number in it is too large");
  }
}

Schema read_schema(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored))
    throw Error(ErrorCode::kIo, "'" + path + "' is a folder; name the schema in it");
  std::ifstream file(path, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  if (!file.is_open() || file.bad())
    throw Error(ErrorCode::kIo, "cannot read the schema '" + path + "'");
  try {
    return parse_schema(text);
  } catch (const Error& error) {
    throw Error(error.code(), path + ": " + error.what());
  }
}

Json to_json(const Schema& schema) {
  Json json{{"version", 1}, {"dataset", schema.dataset}};
  for (const TableSchema& each : schema.tables) json["tables"][each.name] = json_of(each);
  return json;
}

}  // namespace gauze
