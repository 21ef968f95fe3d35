#pragma once

#include <string>

#include "question.h"

namespace gauze::cli {

/// A conversation: statements that end in a semicolon, and commands that begin with a backslash.
/// On a terminal with line editing, a history and the budget in the prompt, where errors are shown
/// and the conversation goes on; elsewhere standard input is a script that ends at its first error.
/// `terms` has epsilon 0 when the user gave none.
void converse(service::Workspace& workspace, Terms terms, bool json);

}  // namespace gauze::cli
