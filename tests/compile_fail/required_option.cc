// Leaving out an option without a default does not compile.
#include "gauze/base/required.h"

struct Options {
  gauze::Required<double> epsilon;
  double confidence = 0.95;
};

double cost(const Options& options) {
  return options.epsilon;
}

#ifdef BAD_LINE
double answer() {
  return cost({.confidence = 0.9});
}
#else
double answer() {
  return cost({.epsilon = 1.0, .confidence = 0.9});
}
#endif
