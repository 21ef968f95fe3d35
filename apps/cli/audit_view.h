#pragma once

#include <string>

#include "gauze/audit/audit.h"
#include "text.h"

namespace gauze::cli {

/// What an audit found, for a person, for a program, and as a page. "No violation found" is never
/// called private.
std::string audit_text(const audit::Report& report);
Json audit_json(const audit::Report& report);
std::string audit_page(const audit::Report& report);

}  // namespace gauze::cli
