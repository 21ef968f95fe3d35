#pragma once

#include <string>
#include <string_view>

namespace gauze {

/// Whether the text is the address of a PostgreSQL server, postgresql://..., and no file.
bool is_server_address(std::string_view text);

/// An address as it may be printed: without a password, and of its parameters only those that say where
/// and who. Anything that is no address comes back as it is. All that prints what a user gave as the place of data or of
/// a ledger prints this.
std::string shown_address(std::string_view text);

}  // namespace gauze
