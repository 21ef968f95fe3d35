#pragma once

#include <string>

#include "gauze/marginal/encoding.h"
#include "gauze/marginal/synthetic_task.h"

namespace gauze::internal {

/// What makes results of what a method releases: all of it public.
struct SyntheticMaker {
  std::string algorithm;
  std::string title;
  Encoding encoding;
  Asked::Wanted wanted = Asked::Wanted::kAll;

  Result operator()(const SyntheticRows& made, const Accuracy& accuracy, BitSource& bits) const;
};

}  // namespace gauze::internal
