#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace gauze::service {

/// Text made safe inside an element or a quoted attribute; what is no UTF-8 becomes U+FFFD.
std::string escaped(std::string_view text);

/// <name attributes>content</name>; `content` is HTML already.
std::string element(std::string_view name, std::string_view attributes, std::string_view content);

std::string paragraph(const std::string& content);

/// A table; cells are HTML already. `sides` has an l or an r for each column; the last one
/// stands for the columns behind it.
std::string html_table(const std::vector<std::string>& head,
                       const std::vector<std::vector<std::string>>& rows, std::string_view sides);

/// A number for an attribute: short, never in scientific notation.
std::string coordinate(double value);

}  // namespace gauze::service
