// 0.1 is not a tenth: an exact option does not take a double.
#include "gauze/mechanism/count.h"

gauze::Count mechanism() {
#ifdef BAD_LINE
  return gauze::Count({.epsilon = 0.1, .relation = gauze::Relation::kAddRemove});
#else
  return gauze::Count({.epsilon = gauze::Ratio(1, 10), .relation = gauze::Relation::kAddRemove});
#endif
}
