#pragma once

#include <functional>
#include <string>

namespace gauze::cli {

struct PlotLabels {
  std::string x;
  std::string y;
  std::string curve;
  std::string diagonal;
};

/// A function from [0, 1] to [0, 1] above the diagonal, a few lines high: braille dots where the
/// terminal reads UTF-8, stars and dots elsewhere.
std::string plot(const std::function<double(double)>& curve, const PlotLabels& labels);

}  // namespace gauze::cli
