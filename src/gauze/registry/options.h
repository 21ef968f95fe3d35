#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "gauze/accounting/event.h"
#include "gauze/numeric/ratio.h"

namespace gauze {

/// One option of an algorithm. The name is the one it has in C++ and JSON and, with dashes, on the
/// command line.
struct OptionSpec {
  enum class Type : std::uint8_t {
    kNumber,   ///< a decimal or fraction, exact: 0.1, 7/3
    kWhole,    ///< a whole number, 0 or more
    kInteger,  ///< a whole number of either sign
    kText,     ///< a word
    kFlag,     ///< true or false
    kNumbers,  ///< a list of numbers: [0.25, 0.5], or 0.25,0.5 on the command line
    kWords,    ///< a list of words
    kTexts,    ///< a list of texts that may hold commas: a flag that is given again for each;
               ///< the fallback is a JSON list: "[]"
  };

  std::string name;
  Type type = Type::kNumber;
  std::string description;  ///< what it is, and its range
  std::string fallback;     ///< the default as text; empty means that it must be given
  std::string flags = {};   ///< on the command line, where they are not the name: "column,columns"

  bool required() const { return fallback.empty(); }
};

/// `number`, `whole`, ...: how `gauze describe` and error messages call a type.
std::string_view name(OptionSpec::Type type);

/// The values for a table of options, read from a JSON object. Values may be JSON numbers or the
/// text a person would type, so "7/3" and 0.5 both are numbers.
class OptionValues {
 public:
  /// Throws `kUnknownName` for an option that is not in the table and `kInvalidOption` when a
  /// required one is missing; both name the option and what would be right.
  OptionValues(const std::vector<OptionSpec>& table, const nlohmann::json& values);

  /// Each throws `kInvalidOption` or `kInvalidInput`, naming the option, when the value is of
  /// another type.
  Ratio number(std::string_view option) const;
  double real(std::string_view option) const;
  std::uint64_t whole(std::string_view option) const;
  std::int64_t integer(std::string_view option) const;
  bool flag(std::string_view option) const;
  std::string text(std::string_view option) const;
  std::vector<Ratio> numbers(std::string_view option) const;
  std::vector<std::uint64_t> wholes(std::string_view option) const;
  std::vector<std::string> words(std::string_view option) const;
  std::vector<std::string> texts(std::string_view option) const;
  Relation relation(std::string_view option = "relation") const;
  /// Of a text like 512M or 4G; 0 is 0. Throws `kInvalidOption` for less than 1M.
  std::uint64_t bytes(std::string_view option) const;
  /// At most as many as the machine has cores; 0, for all, is 0. Throws `kInvalidOption` above 1024.
  unsigned threads(std::string_view option) const;

 private:
  std::string raw(std::string_view option) const;

  std::vector<std::pair<std::string, std::string>> values_;
};

}  // namespace gauze
