#include "gauze/histogram/halving.h"

#include <algorithm>
#include <bit>

namespace gauze {

HalvedBox HalvedBox::whole(const Shape& shape) {
  HalvedBox box;
  box.axes_ = shape.axes();
  std::copy(shape.extents.begin(), shape.extents.end(), box.end_.begin());
  return box;
}

std::pair<HalvedBox, HalvedBox> HalvedBox::halves() const {
  std::size_t longest = 0;
  for (std::size_t axis = 1; axis < axes_; ++axis)
    if (end_[axis] - begin_[axis] > end_[longest] - begin_[longest]) longest = axis;
  const std::uint32_t middle = begin_[longest] + (end_[longest] - begin_[longest] + 1) / 2;
  std::pair<HalvedBox, HalvedBox> halves{*this, *this};
  halves.first.end_[longest] = middle;
  halves.second.begin_[longest] = middle;
  return halves;
}

std::size_t HalvedBox::first_cell(const Shape& shape) const {
  std::size_t cell = 0;
  for (std::size_t axis = 0; axis < axes_; ++axis) cell = cell * shape.extents[axis] + begin_[axis];
  return cell;
}

void HalvedBox::append_to(std::vector<std::uint32_t>& bounds) const {
  bounds.insert(bounds.end(), begin_.begin(), begin_.begin() + axes_);
  bounds.insert(bounds.end(), end_.begin(), end_.begin() + axes_);
}

// Halves differ by at most one cell, so an axis takes floor(log2) to ceil(log2) halvings.
HalvingDepths halving_depths(const Shape& shape) {
  HalvingDepths depths{0, 0};
  for (const std::uint32_t extent : shape.extents) {
    depths.least += static_cast<std::uint32_t>(std::bit_width(extent)) - 1;
    depths.most += static_cast<std::uint32_t>(std::bit_width(extent - 1));
  }
  return depths;
}

}  // namespace gauze
