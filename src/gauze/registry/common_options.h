#pragma once

#include "gauze/registry/options.h"

// Options that many algorithms have, in the same words:
//
//     .options = {epsilon_option(), relation_option("add_remove")}
namespace gauze {

/// What the release may cost.
OptionSpec epsilon_option();

/// What makes two data sets neighbours. `fallback` is "" where the C++ options require it.
OptionSpec relation_option(const char* fallback);

}  // namespace gauze
