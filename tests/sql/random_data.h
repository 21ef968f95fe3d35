#pragma once

#include <filesystem>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gauze/data/source.h"
#include "gauze/data/table.h"
#include "gauze/random/uniform.h"
#include "gauze/testing/seeded_bits.h"

// Small random tables, many of whose values break their schema, as files or in memory, with and
// without one unit.

namespace gauze::sql_test {

/// Choices from a seed.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : bits_(seed) {}
  std::size_t below(std::size_t n) { return static_cast<std::size_t>(uniform_below(bits_, n)); }
  int between(int low, int high) {
    return low + static_cast<int>(below(static_cast<std::size_t>(high - low + 1)));
  }
  bool chance(int percent) { return between(0, 99) < percent; }
  template <class T>
  const T& of(const std::vector<T>& all) {
    return all[below(all.size())];
  }
  template <class T>
  T of(std::initializer_list<T> all) {
    return *(all.begin() + below(all.size()));
  }

 private:
  testing::SeededBits bits_;
};

struct RandomRow {
  std::string owner;  ///< "" where nobody, or nobody that anybody knows
  std::vector<std::optional<std::string>> cells;
};

struct RandomTable {
  std::string name;
  std::vector<std::string> columns;
  std::vector<Type> stored;         ///< types in memory
  std::vector<std::string> engine;  ///< types in Parquet and DuckDB
  std::vector<RandomRow> rows;
  std::string format;   ///< csv, ndjson, parquet, duckdb
  bool by_row = false;  ///< each row is a unit
};

/// Whose rows are left out: those of a unit, or one row of a table.
struct Without {
  std::string unit = {}, table = {};
  std::size_t row = 0;
};

class RandomData {
 public:
  /// `portable`: in DuckDB files, in types that PostgreSQL has, too.
  explicit RandomData(std::uint64_t seed, bool portable = false);

  const std::string& schema() const { return schema_; }
  const std::vector<RandomTable>& tables() const { return tables_; }
  const std::vector<std::string>& units() const { return units_; }
  /// Schema, types and rows.
  std::string describe() const;

  /// Files are written into the folder.
  std::unique_ptr<Source> open(const std::filesystem::path& folder,
                               const std::optional<Without>& without) const;

 private:
  struct Spec {
    std::string name;
    Type type;
    std::string json;                    ///< what the schema says behind the type
    std::vector<std::string> good, odd;  ///< texts; "" is null
  };

  void make_specs();
  void make_schema();
  void make_rows();
  RandomTable& add_table(const std::string& name);
  RandomRow row(const std::string& table, const std::string& owner,
                const std::optional<std::string>& unit, const std::optional<std::string>& key);
  std::optional<std::string> cell(const Spec& spec);
  std::string engine_type(const Spec& spec, bool id);
  std::string spelt(const std::string& unit);
  std::string bounds();
  std::string maybe(const std::string& text, int percent = 50);

  Dice dice_;
  bool portable_, text_units_, text_keys_, in_memory_;
  std::map<std::string, std::vector<Spec>> specs_;
  std::string schema_;
  std::vector<RandomTable> tables_;
  std::vector<std::string> units_;
};

}  // namespace gauze::sql_test
