#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

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

/// Follows a run, and may end it by throwing.
struct Watch {
  /// How far the work is, in (0, 1]; 0 or less when nobody knows. `doing` is a word or two for people,
  /// "" for reading.
  std::function<void(double done, std::string_view doing)> progress = {};
  /// Once, last before noise is drawn: from here on the price stays spent.
  std::function<void()> drawing = {};
  /// What `save` kept in an earlier run of the same job; nothing in the first one. A checkpoint holds
  /// what is public or released: no row, no sum without noise.
  std::function<std::optional<std::string>()> saved = {};
  std::function<void(std::string_view state)> save = {};
};

/// What a run needs besides its input.
struct Context {
  Meter& meter;
  BitSource& bits;
  const Watch* watch = nullptr;

  void progress(double done, std::string_view doing = "") const {
    if (watch != nullptr && watch->progress) watch->progress(done, doing);
  }
  void begins_to_draw() const {
    if (watch != nullptr && watch->drawing) watch->drawing();
  }
};

}  // namespace gauze
