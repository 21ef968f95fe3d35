#pragma once

#include <Eigen/Dense>
#include <functional>

namespace gauze::internal {

/// Returns the value at x and writes the gradient there.
using Objective = std::function<double(const Eigen::VectorXd& x, Eigen::VectorXd& gradient)>;

struct Minimum {
  Eigen::VectorXd x;
  double value = 0;
};

/// A local minimum of a smooth function, by limited-memory BFGS (Liu and Nocedal 1989) with steps that
/// always descend. Ends when five steps together improve the value by less than `tolerance` relatively, or
/// after `iterations`.
Minimum minimise(const Objective& objective, Eigen::VectorXd start, int iterations,
                 double tolerance);

}  // namespace gauze::internal
