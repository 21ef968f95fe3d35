#pragma once

#include "gauze/service/ask.h"
#include "gauze/service/workspace.h"
#include "text.h"

namespace gauze::cli {

/// A conversation: statements that end in a semicolon, and commands that begin with a backslash.
/// On a terminal with line editing, a history and the budget in the prompt, where errors are shown
/// and the conversation goes on; elsewhere standard input is a script that ends at its first error.
/// `terms` are a question's options but for the question; they lack epsilon when the user gave none.
void converse(const Registry& registry, Workspace& workspace, Question terms, bool json);

}  // namespace gauze::cli
