#pragma once

#include <nlohmann/json.hpp>

#include "gauze/registry/algorithm.h"

namespace gauze::testing {

/// Values for all the options that an algorithm requires, at an epsilon of about 1: one per option
/// name that occurs, or that of `instead`.
inline nlohmann::json required_options(const Algorithm& algorithm,
                                       const nlohmann::json& instead = nlohmann::json::object()) {
  static const nlohmann::json by_name = {{"epsilon", "1"},
                                         {"relation", "add_remove"},
                                         {"lower", 0},
                                         {"upper", 4},
                                         {"l1_sensitivity", 1},
                                         {"l2_sensitivity", 1},
                                         {"scale", 1},
                                         {"sigma", 1},
                                         {"sensitivity", 1},
                                         {"k", 1},
                                         {"candidate_spread", 1},
                                         {"temperature", "0.5"},
                                         {"bound", 1},
                                         {"delta", "0.01"},
                                         {"p", "0.75"},
                                         {"probabilities", "0.25,0.5"},
                                         {"dimension", 2},
                                         {"keys_per_unit", 2},
                                         {"rows_per_unit", 1},
                                         {"cells", 4},
                                         {"threshold", "0.25"},
                                         {"positives", 2},
                                         {"fresh", 2},
                                         {"holdout_size", 1000},
                                         {"tolerance", "0.002"},
                                         {"budget", 2},
                                         {"blocks", 3},
                                         {"before", 0},
                                         {"after", 1},
                                         {"deviation", "0.5"},
                                         {"window", 3},
                                         {"rate", "0.2"},
                                         {"log_sensitivity", 1},
                                         {"floor", "1e-25"},
                                         {"rejections", 1},
                                         {"tests", 6},
                                         {"granularity", 1},
                                         {"count_limit", 100},
                                         {"strategy", "1,0,0,0,0,1,0,0,0,0,1,0,0,0,0,1,1,1,1,1"}};
  nlohmann::json options = instead;
  for (const OptionSpec& option : algorithm.options) {
    if (option.required() && !options.contains(option.name))
      options[option.name] = by_name.at(option.name);
  }
  return options;
}

}  // namespace gauze::testing
