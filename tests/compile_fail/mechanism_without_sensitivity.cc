// A mechanism whose sensitivity was forgotten does not compile.
#include "gauze/mechanism/discrete_laplace.h"

gauze::DiscreteLaplace mechanism() {
#ifdef BAD_LINE
  return gauze::DiscreteLaplace({.scale = gauze::Ratio(2)});
#else
  return gauze::DiscreteLaplace({.l1_sensitivity = 1u, .scale = gauze::Ratio(2)});
#endif
}
