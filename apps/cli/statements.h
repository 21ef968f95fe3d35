#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace gauze::cli {

/// Cuts what is typed into statements: each ends at a semicolon that stands in no string, name or
/// comment.
class Statements {
 public:
  void add(std::string_view text) { pending_ += text; }

  /// The next whole statement, without its semicolon; nothing until there is one.
  std::optional<std::string> next();

  /// What stands there without a semicolon yet, cut to nothing when it is only blanks and comments.
  std::string rest() const;
  void clear() { pending_.clear(); }

 private:
  std::string pending_;
};

}  // namespace gauze::cli
