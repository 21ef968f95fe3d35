// The one door takes nothing whose price is not known before the data.
#include "gauze/engine/release.h"

struct Unpriced {
#ifndef BAD_LINE
  gauze::Event event() const {
    return {gauze::events::Pure{1}, gauze::Relation::kAddRemove};
  }
#endif
  gauze::Release<int> run(int value, gauze::Context&) const {
    return {value, {}, {gauze::events::Pure{1}, gauze::Relation::kAddRemove}};
  }
};

gauze::Release<int> answer(gauze::BitSource& bits) {
  return gauze::release(Unpriced{}, 1, bits);
}
