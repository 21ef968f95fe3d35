#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "random_data.h"

// Questions from a grammar about as rich as docs/sql.md, over the tables of random_data.h. Not all
// of them are accepted.

namespace gauze::sql_test {

/// What a column may be used for.
enum class Kind { kUnit, kWhole, kReal, kCategory, kText, kBoolean, kDate, kTime, kKey };

struct Field {
  std::string name;
  Kind kind;
};
using Fields = std::vector<Field>;

/// Something that may stand in FROM.
struct From {
  enum class Owner { kUnit, kRow, kNobody } owner;
  std::string sql;
  Fields fields;
};

/// Equal seeds ask the same.
class RandomQuestions {
 public:
  explicit RandomQuestions(std::uint64_t seed) : dice_(seed) {}

  std::string next();

 private:
  /// What sources may answer without SQL.
  std::string columns_only(const From& from);

  /// A name that is not yet used.
  std::string name(const char* letter);
  static Fields fields_of(const std::string& table);
  From table(const std::string& table, From::Owner owner);
  /// The name without that of the table.
  static std::string column(const Field& field);
  /// Nothing where there is none, as below.
  static const Field* first(const Fields& fields, Kind kind);
  static const Field* named(const Fields& fields, const std::string& name);

  /// Relations with at most so many levels below.
  From private_relation(int depth);
  /// Of units, where it can be had.
  From unit_relation(int depth);
  From sub_select(const From& input);
  From with_public(From left);
  From filtered(const From& input);
  static From both(const From& left, const From& right);
  From private_join(int depth);
  From union_all(int depth);
  From by_unit(int depth);
  From distinct(int depth);
  /// From WITH.
  From common(int depth);

  /// Also such as ask other tables.
  std::string conditions(const From& from);
  std::string condition(const Fields& fields, int depth);
  /// A column or a constant.
  std::string leaf(const Fields& fields, Kind kind);
  std::string expression(const Fields& fields, Kind kind, int depth);
  std::string any(const Fields& fields, int depth);
  std::string key_expression(const From& from);
  std::string aggregate(const Fields& fields);
  /// A pattern with expressions in place of its parts; `kind` is that of {}.
  std::string filled(std::string_view pattern, const Fields& fields, Kind kind, int depth);
  std::string part(std::string_view name, const Fields& fields, Kind kind, int depth);

  Dice dice_;
  int alias_ = 0;
  std::string with_;
};

}  // namespace gauze::sql_test
