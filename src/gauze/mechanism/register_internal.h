#pragma once

#include <string>
#include <vector>

#include "gauze/mechanism/selection_choice.h"
#include "gauze/registry/algorithm.h"

// The parts of the table, one function per family, and what their entries share.
namespace gauze::internal {

std::vector<Algorithm> statistics_algorithms();
std::vector<Algorithm> stability_algorithms();
std::vector<Algorithm> key_algorithms();
std::vector<Algorithm> choice_algorithms();
std::vector<Algorithm> threshold_algorithms();
std::vector<Algorithm> additive_algorithms();

/// When to take the algorithm that is chosen for a task, as `gauze describe` says it.
inline std::string reason_for(const char* facts, const SelectionTask& task) {
  const SelectionChoice choice = choose_selection(task);
  return std::string(facts) + ": " + std::string(choice.reason) +
         ". For counts under add_remove say monotone.";
}

}  // namespace gauze::internal
