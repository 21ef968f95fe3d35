#pragma once

#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "gauze/registry/algorithm.h"
#include "gauze/registry/values_task.h"

// Entries of the registry, made from texts and a function from options to a task:
//
//     on_column({.name = "sum", .summary = ..., .options = {...}, .neighbours = people_within_bounds},
//               [](const OptionValues& values) { return task_of(Sum({...}), numbers); });
namespace gauze {

/// The task of an algorithm on plain rows, with its options checked.
using MakeTask = std::function<Task(const OptionValues& values)>;

/// Takes plain rows only: answers, scores, people in the order of time. Tables are refused.
Algorithm on_rows(Algorithm about, MakeTask make);

/// What a column must be, and which of its rows take part.
struct ColumnUse {
  bool optional = false;     ///< it works without a column, as a count does
  bool nulls_count = false;  ///< rows without a value take part
};

/// Takes plain rows, one for each person, or one column of a private table.
///
/// On a table one row of each privacy unit takes part, chosen at random, and the column is normalised and
/// bounded as the schema says; so neighbours are one unit more or less. `lower` and `upper` are the
/// schema's when they are not given, and `relation` is add_remove.
///
/// Privacy    that of the algorithm, per privacy unit of the table.
/// Accuracy   that of the algorithm, on the rows that take part.
/// Time       O(rows) and the algorithm's.
/// Argument   ../data/bound.md and the algorithm's page.
///
/// Making the task throws `kInvalidOption`, `kUnknownName`, `kMissingKnowledge` and `kUnboundedData`,
/// and what the algorithm throws.
Algorithm on_column(Algorithm about, MakeTask make, ColumnUse use = {});

/// An algorithm that answers each line before it sees the next.
struct LineByLine {
  using Answer = std::function<Said(std::span<const double> line)>;
  /// Pays for everything there will be.
  std::function<Answer(Context& context)> start;
  std::size_t width = 1;  ///< how many numbers a line has
};

/// Takes lines of numbers: answered one by one from a `Dialogue`, which is read no further than the last
/// answer, or all at once as rows.
Algorithm on_lines(Algorithm about, MakeTask make,
                   std::function<LineByLine(const OptionValues& values)> dialogue);

/// Throws `kInvalidOption` with how to ask instead where the algorithm takes no tables.
void expect_form_for_tables(const Algorithm& algorithm);

/// The table of an algorithm's input: the named one, or the only private one. Throws `kUnknownName`,
/// and `kInvalidOption` when it must be named.
const TableSchema& private_table(const Schema& schema, const std::string& table);

}  // namespace gauze
