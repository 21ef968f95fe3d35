#pragma once

#include "gauze/registry/algorithm.h"

namespace gauze::cli {

/// The whole program, with the algorithms of `registry`: what main() returns.
int run_program(const Registry& registry, int argc, char** argv);

}  // namespace gauze::cli
