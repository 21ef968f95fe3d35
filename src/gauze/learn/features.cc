#include "gauze/learn/features.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "gauze/base/error.h"

namespace gauze {

namespace {

using Kind = ColumnFeatures::Kind;

/// Of a type that has an order: as the numbers that columns hold.
double number_of(const Value& value) {
  if (const auto* date = std::get_if<Date>(&value)) return static_cast<double>(date->days);
  if (const auto* time = std::get_if<Timestamp>(&value))
    return static_cast<double>(time->microseconds);
  if (const auto* real = std::get_if<double>(&value)) return *real;
  return nearest_double(exact(value));
}

std::string said(const ColumnSchema& column) {
  return "column '" + column.name + "'";
}

/// Nothing when the schema does not say enough of the column to learn from it.
std::optional<ColumnFeatures> known_features(const ColumnSchema& column) {
  const Domain& domain = column.domain;
  ColumnFeatures features{.column = column.name, .type = domain.type, .nullable = domain.nullable};
  if (domain.categories) {
    features.kind = Kind::kCategories;
    for (const Value& value : *domain.categories) features.categories.push_back(to_text(value));
    return features;
  }
  if (domain.type == Type::kBoolean) {
    features.kind = Kind::kBoolean;
    return features;
  }
  if (!domain.lower || !domain.upper || domain.type == Type::kText) return std::nullopt;
  features.lower = number_of(*domain.lower);
  features.upper = number_of(*domain.upper);
  return features;
}

/// Whether all rows have the same value.
bool is_constant(const ColumnFeatures& features) {
  if (features.nullable) return false;
  if (features.kind == Kind::kCategories) return features.categories.size() <= 1;
  return features.kind == Kind::kNumber && !(features.lower < features.upper);
}

const ColumnSchema& declared(const TableSchema& table, const std::string& name) {
  const ColumnSchema* column = table.find(name);
  if (column == nullptr) {
    throw Error(ErrorCode::kUnknownName,
                "table '" + table.name + "' declares no column '" + name + "'");
  }
  return *column;
}

std::vector<std::string> classes_of(const ColumnSchema& label) {
  if (label.domain.categories) {
    std::vector<std::string> classes;
    for (const Value& value : *label.domain.categories) classes.push_back(to_text(value));
    require(classes.size() >= 2, "label: it has one category, so there is nothing to learn");
    require(classes.size() == 2, "label: it must have two categories, or be a boolean");
    return classes;
  }
  if (label.domain.type == Type::kBoolean) return {"false", "true"};
  throw Error(ErrorCode::kMissingKnowledge,
              said(label) + " is the label: it must be a boolean or declare two categories");
}

/// What a column's value is called, for categories of any type.
std::string category_of(const Column& column, std::size_t row) {
  if (column.type() == Type::kText) return std::string(column.text(row));
  return to_text(column.value(row));
}

std::int64_t place_of(const std::vector<std::string>& categories, const std::string& category) {
  const auto found = std::find(categories.begin(), categories.end(), category);
  return found == categories.end() ? -1 : found - categories.begin();
}

/// -1 or 1; nothing where there is no label.
std::optional<double> label_of(const FeatureMap& map, const Column& column, std::size_t row) {
  if (column.is_null(row)) return std::nullopt;
  if (column.type() == Type::kBoolean) return column.integers()[row] != 0 ? 1 : -1;
  const std::int64_t place = place_of(map.classes, category_of(column, row));
  if (place < 0) return std::nullopt;
  return place == 1 ? 1 : -1;
}

void expect_type(const Column& column, Type type, const std::string& name) {
  if (column.type() != type) {
    throw Error(ErrorCode::kInvalidInput, "column '" + name + "' is of another type than declared");
  }
}

/// The rows of each unit, one unit after the other.
std::vector<std::vector<std::size_t>> rows_by_unit(const BoundedTable& table) {
  const auto units = table.units();
  std::vector<std::vector<std::size_t>> rows;
  if (units.empty()) {
    for (std::size_t row = 0; row < table.rows().rows(); ++row) rows.push_back({row});
    return rows;
  }
  if (table.rows().rows() == 0) return rows;
  rows.resize(std::size_t{*std::max_element(units.begin(), units.end())} + 1);
  for (std::size_t row = 0; row < units.size(); ++row) rows[units[row]].push_back(row);
  std::erase_if(rows, [](const auto& each) { return each.empty(); });  // numbers of nobody
  return rows;
}

}  // namespace

std::uint32_t FeatureMap::dimension() const {
  std::uint32_t all = 1;
  for (const ColumnFeatures& features : columns) all += features.width();
  return all;
}

std::vector<std::string> FeatureMap::names() const {
  std::vector<std::string> names;
  for (const ColumnFeatures& features : columns) {
    if (features.kind == Kind::kCategories) {
      for (const std::string& category : features.categories) {
        names.push_back(features.column + "=" + category);
      }
    } else {
      names.push_back(features.column);
    }
    if (features.nullable) names.push_back(features.column + " is null");
  }
  names.emplace_back("intercept");
  return names;
}

double FeatureMap::scale() const {
  return scaling == Scaling::kSphere ? 1 : 1 / std::sqrt(static_cast<double>(columns.size() + 1));
}

FeatureMap features_of(const FeatureOptions& options) {
  const TableSchema& table = options.table;
  const ColumnSchema& label = declared(table, options.label);
  FeatureMap map{.columns = {},
                 .label = label.name,
                 .label_type = label.domain.type,
                 .classes = classes_of(label),
                 .scaling = options.scaling};
  const auto add = [&](ColumnFeatures features) {
    if (is_constant(features)) return;
    features.first = map.dimension() - 1;
    map.columns.push_back(std::move(features));
  };
  for (const std::string& name : options.columns) {
    const ColumnSchema& column = declared(table, name);
    require(column.name != label.name, "features: the label cannot be one of them");
    const auto twice = [&](const ColumnFeatures& known) { return known.column == column.name; };
    require(std::none_of(map.columns.begin(), map.columns.end(), twice),
            "features: a column is named twice");
    const auto features = known_features(column);
    if (!features) {
      throw Error(ErrorCode::kMissingKnowledge,
                  said(column) + " cannot be learned from: declare its range or its categories");
    }
    add(*features);
  }
  if (options.columns.empty()) {
    for (const ColumnSchema& column : table.columns) {
      const bool owner =
          table.unit.kind != UnitSchema::Kind::kRow && table.find(table.unit.column) == &column;
      if (column.name == label.name || owner) continue;
      if (const auto features = known_features(column)) add(*features);
    }
  }
  require(!map.columns.empty(),
          "features: no column is left; declare ranges or categories of those to learn from");
  require(map.dimension() <= 65536, "features: there are more than 65536; leave out columns");
  return map;
}

RowFeatures::RowFeatures(const FeatureMap& map, const Table& table) : map_(map) {
  for (const ColumnFeatures& features : map.columns) {
    const Column& column = table.column(features.column);
    expect_type(column, features.type, features.column);
    Reader reader{features, column, {}};
    if (column.type() == Type::kText) {
      for (const std::string_view text : column.dictionary()) {
        reader.places.push_back(place_of(features.categories, std::string(text)));
      }
    }
    readers_.push_back(std::move(reader));
  }
}

void RowFeatures::add(const Reader& reader, std::size_t row) {
  const ColumnFeatures& features = reader.features;
  const Column& column = reader.column;
  if (column.is_null(row)) {
    if (features.nullable) entries_.push_back({features.first + features.width() - 1, 1});
    return;
  }
  if (features.kind == Kind::kCategories) {
    const std::int64_t place = column.type() == Type::kText
                                   ? reader.places[static_cast<std::size_t>(column.codes()[row])]
                                   : place_of(features.categories, category_of(column, row));
    if (place >= 0) entries_.push_back({features.first + static_cast<std::uint32_t>(place), 1});
    return;
  }
  const bool real = column.type() == Type::kDecimal || column.type() == Type::kDouble;
  const double value = real ? column.reals()[row] : static_cast<double>(column.integers()[row]);
  const bool boolean = features.kind == Kind::kBoolean;
  const double low = boolean ? 0 : features.lower;
  const double high = boolean ? 1 : features.upper;
  // Halves first: a range may be as wide as all doubles.
  const double share = (value / 2 - low / 2) / (high / 2 - low / 2);
  entries_.push_back({features.first, high > low ? std::clamp(2 * share - 1, -1.0, 1.0) : 0.0});
}

const std::vector<Entry>& RowFeatures::of(std::size_t row) {
  entries_.clear();
  for (const Reader& reader : readers_) add(reader, row);
  entries_.push_back({map_.dimension() - 1, 1});
  double factor = map_.scale();
  if (map_.scaling == Scaling::kSphere) {
    double squares = 0;
    for (const Entry& entry : entries_) squares += entry.value * entry.value;
    factor = 1 / std::sqrt(squares);
  }
  for (Entry& entry : entries_) entry.value *= factor;
  return entries_;
}

Examples examples_of(const FeatureMap& map, const BoundedTable& table) {
  const std::uint64_t rows_per_unit = table.bounds().rows_per_unit;
  const bool sparse = map.dimension() > 4 * (map.columns.size() + 1);
  Examples examples = sparse ? Examples::sparse(map.dimension(), rows_per_unit)
                             : Examples::dense(map.dimension(), rows_per_unit);
  const Column& labels = table.rows().column(map.label);
  expect_type(labels, map.label_type, map.label);
  RowFeatures features(map, table.rows());
  for (const std::vector<std::size_t>& rows : rows_by_unit(table)) {
    examples.start_unit();
    for (const std::size_t row : rows) {
      if (const auto label = label_of(map, labels, row)) {
        examples.add_row(features.of(row), *label);
      }
    }
  }
  return examples;
}

}  // namespace gauze
