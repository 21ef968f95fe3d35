#pragma once

#include <string>

#include "gauze/data/schema.h"

namespace gauze::cli {

/// What is publicly known of the tables, for a person; of one table if `table` names it. Throws
/// `kUnknownName`.
std::string schema_text(const Schema& schema, const std::string& table = "");

}  // namespace gauze::cli
