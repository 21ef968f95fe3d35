#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gauze/base/large_vector.h"
#include "gauze/base/required.h"
#include "gauze/mechanism/key_selection.h"
#include "gauze/numeric/ratio.h"
#include "gauze/query/plan.h"
#include "gauze/random/bit_source.h"

namespace gauze {

__extension__ typedef __int128 WideInteger;  ///< sums that cannot overflow

/// What is added up over rows: the product of (cell - centre) over `factors`, minus `offset`; no factors
/// make the product 1, which counts. A row in which a cell of `present` is null adds nothing.
struct Measure {
  struct Factor {
    std::uint32_t cell;
    std::int64_t centre = 0;
    bool operator==(const Factor&) const = default;
  };
  std::uint32_t present = 0;  ///< bit i stands for cell i
  std::vector<Factor> factors = {};
  std::int64_t offset = 0;
  bool units = false;  ///< counts units instead: 1 for each unit that has a row
  bool operator==(const Measure&) const = default;
};

/// Values that are kept one by one, for quantiles, or all different ones of a unit, for COUNT(DISTINCT).
struct Sample {
  std::uint32_t cell;
  bool distinct = false;
  bool operator==(const Sample&) const = default;
};

/// Values by group: those of group g are values[offsets[g]] .. values[offsets[g + 1] - 1], sorted.
struct GroupedValues {
  std::vector<std::uint64_t> offsets;
  std::vector<std::int64_t> values;
};

/// Rows on their way in. A row has one group, or one key; kNoGroup and rows without a unit are dropped.
struct UnitRows {
  static constexpr std::uint32_t kNoGroup = UINT32_MAX;
  struct Cell {
    std::span<const std::int64_t> values;
    std::span<const std::uint8_t> valid;  ///< empty: no nulls
  };

  std::size_t rows = 0;
  std::span<const std::int64_t> integer_units;  ///< one of the two has `rows` elements
  std::span<const std::string_view> text_units;
  std::span<const std::uint8_t> unit_valid;  ///< empty: no nulls
  std::span<const std::uint32_t> groups;     ///< one of the two again
  std::span<const std::int64_t> keys;
  std::vector<Cell> cells;
};

/// What is left of the rows when no privacy unit counts for more than its bounds.
struct BoundedTotals {
  std::size_t measures = 0;
  LargeVector<WideInteger> sums;       ///< of group g and measure i at [g * measures + i]
  std::vector<GroupedValues> samples;  ///< one per sample
  UnitKeys unit_keys;                  ///< when asked for; units in random order
  std::vector<std::int64_t> keys;      ///< of groups, where rows had keys
  std::uint64_t spilled_bytes = 0;     ///< private: for tests
  std::uint64_t dropped_rows = 0;      ///< before the last came; private: for tests
};

/// How far one unit moves the vector of a measure over all groups, in rows: multiply by the largest
/// absolute value a row adds. Argument: bounded_aggregate.md
Integer l1_rows(const Bounds& bounds);
Integer l2_squared_rows(const Bounds& bounds);
/// No bound above what the others allow.
Bounds tightened(Bounds bounds);

/// Adds up rows by group so that no privacy unit exceeds its bounds, in one pass.
///
/// Of each unit the `groups_per_unit` groups with the smallest keyed hash count; a unit with n rows in
/// a group counts for n' = min(n, rows_per_group, what is left of rows_per_unit) of them, and what it
/// adds to a measure is its sum times n'/n: what n' random rows would add on average. The sums of all
/// units are rounded once.
///
/// Stability  adding or removing a unit moves a measure whose rows add at most M by at most
///            M l1_rows in l1 and M sqrt(l2_squared_rows) in l2 norm, and nothing of other units.
/// Numerics   whole numbers throughout: the same for any order of rows and any number of threads.
/// Time       O(rows log(rows of a unit)); memory O(groups) and `memory`, the rest in a nameless file. With
///            `tags_so_far` less, where many rows cannot count.
/// Argument   bounded_aggregate.md
class BoundedAggregate {
 public:
  struct Options {
    Required<Bounds> bounds;
    Required<std::uint32_t> cells;  ///< per row, at most 32
    std::vector<Measure> measures = {};
    std::vector<Sample> samples = {};
    bool text_units = false;
    bool by_key = false;              ///< rows have keys, integers that tell groups apart
    bool numbered = false;            ///< the tag of each group is tag(its number)
    bool unit_keys = false;           ///< also say which unit has which groups
    std::uint64_t memory = 0;         ///< bytes for rows; 0: a quarter of the machine's
    unsigned threads = 0;             ///< 0: all cores
    std::string temp_directory = {};  ///< "": the system's
    /// The tags of all groups so far, as `finish` will get them. Where it is given, rows that can no longer count are
    /// dropped while others come in; `add` asks now and then, in whatever thread. Not needed where rows have keys.
    std::function<std::span<const std::uint64_t>()> tags_so_far = {};
  };

  /// Draws the key of the hashes.
  BoundedAggregate(Options options, BitSource& bits);
  ~BoundedAggregate();

  /// Threads may add at once, each with a number of its own below `threads`. Throws `kIo` when memory is used up and the
  /// temporary file cannot grow.
  void add(const UnitRows& rows, unsigned thread = 0);

  /// A hash of the content of a group key; must be given to `finish` where numbers of groups depend on
  /// other rows.
  std::uint64_t tag(std::string_view content) const;
  /// What identifies a group whose number does not depend on rows: looking it up is faster than hashing.
  std::uint64_t tag(std::uint32_t number) const;
  /// The identity of a text as a cell.
  std::int64_t identity(std::string_view text) const;

  /// Once. `groups` is one more than the largest group. `tags`, one per group, identify groups by
  /// content; none: the numbers themselves do, and must not depend on rows. Neither matters where rows have keys: then groups
  /// are numbered anew.
  BoundedTotals finish(std::size_t groups, std::span<const std::uint64_t> tags = {});

 private:
  struct Parts;
  template <std::size_t kUnitWords>
  struct PartsOf;
  std::unique_ptr<Parts> parts_;
};

}  // namespace gauze
