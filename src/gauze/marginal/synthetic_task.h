#pragma once

#include <functional>
#include <memory>

#include "gauze/marginal/coded_rows.h"
#include "gauze/marginal/table_measurer.h"
#include "gauze/registry/algorithm.h"

namespace gauze {

/// A method that makes up rows, with its options on a domain, ready to run.
struct SynthesisMethod {
  Event event;
  std::function<Accuracy(double confidence)> accuracy;
  std::function<Release<SyntheticRows>(const CodedRows& rows, Context& context)> run;
};

/// One that can be asked for by name.
struct SyntheticEntry {
  Algorithm about;  ///< texts and options, `synthetic_options` among them
  std::function<SynthesisMethod(const OptionValues& values, const Shape& domain)> on = {};
};

/// A table of a schema, of which columns may be named; or a file of codes, with a line for each row.
InputKind microdata_kind();

/// What every method here takes: epsilon, delta, rows_per_unit, cells, bins, rows.
std::vector<OptionSpec> synthetic_options(std::vector<OptionSpec> more = {});

/// The method on the rows that were asked for.
///
/// On a table at most `rows_per_unit` rows of each unit take part, chosen at random; columns are encoded as
/// the schema says. A row of codes that is no row of the domain counts as the nearest one.
///
/// Privacy    that of the method, per privacy unit of the table, add_remove.
/// Accuracy   that of the method.
/// Time       O(rows) and the method's.
/// Argument   ../data/bound.md, encoding.md and the method's page.
///
/// Throws `kInvalidOption`, `kUnknownName`, `kMissingKnowledge` and `kUnboundedData`, and what the method
/// throws; never for what a row holds.
Task synthetic_task(const std::shared_ptr<const SyntheticEntry>& entry, const Asked& asked);

}  // namespace gauze
