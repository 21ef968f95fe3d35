#pragma once

#include <string>

#include "gauze/accounting/event.h"
#include "gauze/accounting/meter.h"
#include "gauze/random/bit_source.h"

namespace gauze {

/// How far a released value may be from the one it stands for, known before the data.
struct Accuracy {
  double half_width = 0;  ///< with probability at least `confidence` the error is at most this
  double confidence = 0;  ///< in (0, 1)
  std::string of = "each value";  ///< what the promise is about: "each value", "score of the
                                  ///< choice", "rank", ...
};

/// An answer, the promise that comes with it, and what it cost.
template <class T>
struct Release {
  T value;
  Accuracy accuracy;
  Event spent;
};

/// What a run needs besides its input.
struct Context {
  Meter& meter;
  BitSource& bits;
};

}  // namespace gauze
