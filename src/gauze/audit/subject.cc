#include "gauze/audit/subject.h"

namespace gauze::audit {

Side random_side(BitSource& bits) {
  return (bits.next() & 1) == 0 ? Side::kFirst : Side::kSecond;
}

Subject in_turns(Subject subject) {
  subject.draw_in_turns = [draw = subject.draw](std::size_t pair, std::uint64_t runs,
                                                BitSource& bits) {
    BothOutputs outputs;
    for (std::uint64_t i = 0; i < runs; ++i) {
      const Side earlier = random_side(bits);
      for (const Side side : {earlier, other(earlier)})
        outputs.of(side).append(draw(pair, side, 1, bits));
    }
    return outputs;
  };
  return subject;
}

namespace internal {

std::string brief(const std::string& text) {
  constexpr std::size_t kMost = 100;
  if (text.size() <= kMost) return text;
  return text.substr(0, kMost) + "...";
}

}  // namespace internal
}  // namespace gauze::audit
