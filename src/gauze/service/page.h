#pragma once

#include <string>

namespace gauze::service {

/// A page of HTML that needs nothing else: no scripts, no fonts, no links out. `body` is HTML,
/// `style` what it needs besides the common rules.
std::string page(const std::string& title, const std::string& body, const std::string& style);

/// Throws `kInvalidOption` unless it ends in .html or .htm.
void check_page_name(const std::string& path);

/// What it cost, how well anybody can guess, and what is left ("" when nobody keeps count).
std::string cost_cards(const std::string& cost, double epsilon, double delta,
                       const std::string& left);

/// What nobody can learn about a `unit`, in words and numbers that need no training.
std::string meaning_text(double epsilon, double delta, const std::string& unit);

}  // namespace gauze::service
