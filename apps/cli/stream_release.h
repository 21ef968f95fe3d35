#pragma once

#include <map>
#include <string>

#include "gauze/engine/registry.h"

namespace gauze::cli {

/// An algorithm on a stream of numbers, one per line.
struct StreamRequest {
  std::map<std::string, std::string> options;
  std::string file = "-";
  double confidence = 0.95;
  double quote_delta = 1e-6;
  bool accept_weak = false;
  bool json = false;
};

/// Answers each line before it reads the next, and none after the last answer. The accuracy and the
/// cost follow at the end; as JSON everything does.
void release_stream(const Algorithm& algorithm, const StreamRequest& request);

}  // namespace gauze::cli
