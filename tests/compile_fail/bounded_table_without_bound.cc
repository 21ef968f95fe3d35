// Nothing but bound() makes a BoundedTable: holding one proves that its bounds hold.
#include "gauze/data/bound.h"

gauze::BoundedTable forged(const gauze::Table& rows, const gauze::TableBounds& bounds,
                           gauze::BitSource& bits) {
#ifdef BAD_LINE
  (void)bits;
  return gauze::BoundedTable(rows, bounds);
#else
  return gauze::bound(rows, bounds, bits);
#endif
}
