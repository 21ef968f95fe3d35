#pragma once

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "gauze/histogram/cells.h"

namespace gauze {

/// A box of the tree that halving the longest axis (the first of those) again and again makes, down to single
/// cells. A box of m cells has m - 1 inner boxes, itself included: numbered parents first, those of its
/// first half, of c cells, begin one after its own number, those of its second half c after it.
class HalvedBox {
 public:
  static HalvedBox whole(const Shape& shape);

  std::size_t cells() const {
    std::size_t product = 1;
    for (std::size_t axis = 0; axis < axes_; ++axis) product *= end_[axis] - begin_[axis];
    return product;
  }
  std::pair<HalvedBox, HalvedBox> halves() const;

  /// The number of its first cell in a dense histogram of this shape.
  std::size_t first_cell(const Shape& shape) const;
  /// Its begins along all axes and then its ends are appended.
  void append_to(std::vector<std::uint32_t>& bounds) const;

 private:
  std::size_t axes_ = 0;
  std::array<std::uint32_t, 8> begin_{}, end_{};
};

/// The least and the largest number of halvings from the whole shape to a single cell.
struct HalvingDepths {
  std::uint32_t least, most;
};
HalvingDepths halving_depths(const Shape& shape);

}  // namespace gauze
