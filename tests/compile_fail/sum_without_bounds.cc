// A sum over a column without bounds does not compile: there is no sensitivity to guess.
#include "gauze/mechanism/sum.h"

gauze::Sum sum() {
#ifdef BAD_LINE
  return gauze::Sum({.epsilon = gauze::Ratio(1), .relation = gauze::Relation::kReplace});
#else
  return gauze::Sum({.lower = gauze::Ratio(0),
                     .upper = gauze::Ratio(1),
                     .epsilon = gauze::Ratio(1),
                     .relation = gauze::Relation::kReplace});
#endif
}
