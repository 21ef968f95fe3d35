#pragma once

#include <functional>
#include <string>

namespace gauze::cli {

struct PlotLabels {
  std::string x;
  std::string y;
  std::string curve;
  std::string dotted;
  std::string low_x = "0", high_x = "1";  ///< what the ends of the axes are called
  std::string low_y = "0", high_y = "1";
};

/// A function from [0, 1] to [0, 1] and another, dotted, to compare it with, a few lines high:
/// braille dots where the terminal reads UTF-8, stars and dots elsewhere.
std::string plot(const std::function<double(double)>& curve,
                 const std::function<double(double)>& dotted, const PlotLabels& labels);
/// The same beside the diagonal.
std::string plot(const std::function<double(double)>& curve, const PlotLabels& labels);

}  // namespace gauze::cli
