#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "gauze/data/source.h"
#include "gauze/registry/options.h"
#include "gauze/registry/rows.h"

namespace gauze {

/// What an algorithm says to one line of numbers.
struct Said {
  nlohmann::json json;
  std::string text;   ///< the same for people: "above 103.2"
  bool last = false;  ///< it says nothing more
};

/// Where lines of numbers come from and where what is said of them goes.
struct Dialogue {
  std::function<std::optional<std::vector<double>>()> next;  ///< nothing at the end
  std::function<void(const Said& said)> tell;
};

/// A file of a family's own kind, such as a list of edges; "-" is standard input.
struct PlainFile {
  std::string path;
};

/// What a task reads. Rows of a table are private until a mechanism has been paid.
using Input =
    std::variant<Rows, std::reference_wrapper<Source>, std::reference_wrapper<Dialogue>, PlainFile>;

/// In which form an algorithm takes its input, and how one says which rows are meant. Families may add
/// kinds: front ends know the fields and no kind by name.
struct InputKind {
  /// The form without a schema.
  enum class Plain : std::uint8_t {
    kNone,
    kRows,   ///< one value per line, or one column of CSV
    kLines,  ///< lines of numbers, answered one by one
    kFile,   ///< a file that the family reads by itself
  };
  std::string name;  ///< "column"
  Plain plain = Plain::kRows;
  bool tables = false;  ///< tables of a schema can be the input
  /// What says which rows and which part of the answer: columns, ranges. Flags on the command line,
  /// fields of a job; they are no part of what is priced unless the task puts them into its words.
  std::vector<OptionSpec> asks = {};
  bool one_row = false;       ///< on tables one row of each privacy unit takes part
  bool has_command = false;   ///< the program asks it by a command of its own, as `gauze sql` does
  bool writes_table = false;  ///< a table comes out, which -o and --report can write
};

/// One value for each person or answer, in a file or a pipe.
InputKind rows_kind();
/// The same, or one column of a private table.
InputKind column_kind();
/// Lines of numbers.
InputKind lines_kind();

}  // namespace gauze
