#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "gauze/base/required.h"
#include "gauze/data/bound.h"
#include "gauze/data/schema.h"
#include "gauze/data/table.h"
#include "gauze/learn/examples.h"

namespace gauze {

/// How rows come to ‖x‖ <= 1.
enum class Scaling : std::uint8_t {
  kBall,    ///< all by one public constant, 1 / sqrt(columns + 1)
  kSphere,  ///< each row by its own length
};

/// The features that one column becomes, at consecutive places from `first`.
struct ColumnFeatures {
  enum class Kind : std::uint8_t {
    kNumber,      ///< one: from -1 at `lower` to 1 at `upper`; numbers, dates and times
    kBoolean,     ///< one: -1 or 1
    kCategories,  ///< one for each category, 0 or 1
  };
  std::string column;
  Type type = Type::kDouble;
  Kind kind = Kind::kNumber;
  double lower = 0, upper = 0;               ///< of a number; days of dates, microseconds of times
  std::vector<std::string> categories = {};  ///< as people read them
  bool nullable = false;                     ///< one more, last: 1 where there is no value
  std::uint32_t first = 0;

  std::uint32_t width() const {
    const auto values =
        kind == Kind::kCategories ? static_cast<std::uint32_t>(categories.size()) : 1u;
    return values + (nullable ? 1 : 0);
  }
  bool operator==(const ColumnFeatures&) const = default;
};

/// What the features of a row are: a function of the schema alone. The last one is the intercept, which is 1 in
/// every row and scaled like the others.
///
///     const FeatureMap map = features_of({.table = schema.table("people"), .label = "income"});
///     const Examples people = examples_of(map, bounded);
///
/// Argument   features.md
struct FeatureMap {
  std::vector<ColumnFeatures> columns;
  std::string label;  ///< the column that is predicted
  Type label_type = Type::kBoolean;
  std::vector<std::string> classes;  ///< two, as people read them; the second counts as 1
  Scaling scaling = Scaling::kBall;

  std::uint32_t dimension() const;
  /// What each feature is called: "age", "sex=male", "age is null", "intercept".
  std::vector<std::string> names() const;
  /// What every feature is multiplied with in the ball; on the sphere, 1.
  double scale() const;
  bool operator==(const FeatureMap&) const = default;
};

/// What a feature map is made from.
struct FeatureOptions {
  Required<TableSchema> table;
  Required<std::string> label;  ///< a boolean or a column of two categories
  /// Columns to learn from; none: all that have a range or categories, but for the label, the unit and its
  /// references.
  std::vector<std::string> columns = {};
  Scaling scaling = Scaling::kBall;
};

/// Columns with one possible value are left out. Throws `kUnknownName` for columns that are not declared,
/// `kMissingKnowledge` for a named column without range or categories and for a label without classes,
/// `kInvalidOption` for a label of one class, of more than two, or among the features, and where no feature is
/// left.
FeatureMap features_of(const FeatureOptions& options);

/// The features of single rows of a table, whose columns are the map's.
class RowFeatures {
 public:
  /// Throws `kUnknownName` for a column that the table lacks and `kInvalidInput` for one of another type.
  RowFeatures(const FeatureMap& map, const Table& table);

  /// What is not 0, in order. Values out of range are moved to its nearer end, and unknown categories have no
  /// feature.
  const std::vector<Entry>& of(std::size_t row);

 private:
  struct Reader {
    const ColumnFeatures& features;
    const Column& column;
    std::vector<std::int64_t> places;  // of the entries of a dictionary; -1 for unknown ones
  };
  void add(const Reader& reader, std::size_t row);

  const FeatureMap& map_;
  std::vector<Reader> readers_;
  std::vector<Entry> entries_;
};

/// The rows of each unit with their labels -1 and 1. A row without a label takes no part; a unit may so be left
/// without rows. Throws what `RowFeatures` throws.
Examples examples_of(const FeatureMap& map, const BoundedTable& table);

}  // namespace gauze
