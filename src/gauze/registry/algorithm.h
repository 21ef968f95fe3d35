#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "gauze/audit/pairs.h"
#include "gauze/registry/task.h"

namespace gauze {

/// Everything there is to say about an algorithm: it feeds `gauze list`, `describe`, `release`, `run` and
/// `audit`, the server and Python.
struct Algorithm {
  std::string name;
  std::string summary;       ///< one line
  std::string input = {};    ///< what a row of the input is
  std::string guarantee;     ///< what is promised, of whom
  std::string accuracy;      ///< how far the answer may be off
  std::string cost;          ///< time and memory
  std::string source;        ///< who found it
  std::string document;      ///< the page beside the code
  std::string when = {};     ///< when to take it rather than its relatives
  std::string example = {};  ///< a command that works
  std::vector<OptionSpec> options = {};
  InputKind kind = rows_kind();
  /// The task with these options, checked. Throws what the typed class and `OptionValues` throw.
  std::function<Task(const Asked& asked)> make = {};
  /// Pairs of neighbouring inputs for the auditor, as lines. Where it is empty, nothing is known.
  std::function<audit::LinePairs(const OptionValues& values)> neighbours = {};
};

/// Algorithms that stand under one heading in `gauze list`.
struct Family {
  std::string heading;  ///< "Statistics of a column"
  std::vector<Algorithm> algorithms;
};

/// The families of a program, in the order in which they are listed.
///
///     const Registry registry({{"Toys", {toy()}}});
///     Task task = registry.find("toy").make({.options = {{"epsilon", "1/2"}}});
class Registry {
 public:
  /// Throws `kInternal` where two algorithms have one name.
  explicit Registry(std::vector<Family> families);

  const std::vector<Family>& families() const { return families_; }
  /// All of them, in order.
  std::vector<const Algorithm*> algorithms() const;
  /// Throws `kUnknownName`, naming the nearest.
  const Algorithm& find(std::string_view name) const;

 private:
  std::vector<Family> families_;
};

}  // namespace gauze
