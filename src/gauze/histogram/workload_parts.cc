#include "gauze/histogram/workload_parts.h"

#include <algorithm>
#include <span>

namespace gauze {
namespace {

using Kind = AxisWorkload::Kind;

/// A box of cells, and how much its error matters.
struct Asked {
  double weight;
  Box box;
};

constexpr std::size_t kMostBoxes = 4096;

/// All boxes of a workload; none where it has other questions, or more of them.
std::vector<Asked> boxes_of(const Workload& workload) {
  std::vector<Asked> all;
  if (workload.queries() > kMostBoxes) return {};
  for (const Workload::Product& product : workload.products()) {
    std::vector<Asked> boxes = {{product.weight, {}}};
    for (const AxisWorkload& axis : product.axes) {
      std::vector<Asked> longer;
      for (const Asked& asked : boxes) {
        for (const auto& [begin, end] : axis.intervals()) {
          longer.push_back(asked);
          longer.back().box.begin.push_back(begin);
          longer.back().box.end.push_back(end);
        }
      }
      boxes = std::move(longer);
    }
    if (boxes.empty()) return {};
    all.insert(all.end(), boxes.begin(), boxes.end());
  }
  return all;
}

/// Calls `visit` with the number of every cell of the box.
template <class Visit>
void for_cells_of(const Shape& shape, const Box& box, std::size_t axis, std::size_t first,
                  const Visit& visit) {
  const bool last = axis + 1 == shape.axes();
  for (std::uint32_t i = box.begin[axis]; i < box.end[axis]; ++i) {
    const std::size_t cell = first * shape.extents[axis] + i;
    if (last)
      visit(cell);
    else
      for_cells_of(shape, box, axis + 1, cell, visit);
  }
}

/// One axis: what lies between the ends of ranges, in order, so that ranges remain ranges.
std::optional<WorkloadParts> between_ends(const Workload& workload) {
  const std::uint32_t cells = workload.shape().extents[0];
  std::vector<std::uint32_t> ends = {0, cells};
  for (const Workload::Product& product : workload.products())
    for (const auto& [begin, end] : product.axes[0].intervals())
      ends.insert(ends.end(), {begin, end});
  std::sort(ends.begin(), ends.end());
  ends.erase(std::unique(ends.begin(), ends.end()), ends.end());
  const auto parts = static_cast<std::uint32_t>(ends.size() - 1);
  if (parts == cells) return {};
  const auto part_at = [&](std::uint32_t end) {
    return static_cast<std::uint32_t>(std::lower_bound(ends.begin(), ends.end(), end) -
                                      ends.begin());
  };
  std::vector<Workload::Product> products;
  for (const Workload::Product& product : workload.products()) {
    auto ranges = product.axes[0].intervals();
    for (auto& [begin, end] : ranges) {
      begin = part_at(begin);
      end = part_at(end);
    }
    products.push_back({product.weight, {AxisWorkload::ranges(parts, std::move(ranges))}});
  }
  WorkloadParts result{{}, {}, Workload(std::move(products))};
  for (std::uint32_t part = 0; part < parts; ++part) {
    result.sizes.push_back(ends[part + 1] - ends[part]);
    result.part_of_cell.insert(result.part_of_cell.end(), ends[part + 1] - ends[part], part);
  }
  return result;
}

/// The boxes as questions about parts, or as many as there are parts with the same Gram matrix.
AxisWorkload about_parts(const std::vector<Asked>& boxes, const Shape& shape,
                         std::span<const std::uint32_t> part_of_cell, std::size_t parts) {
  DenseMatrix questions{boxes.size(), parts, std::vector<double>(boxes.size() * parts, 0.0)};
  for (std::size_t i = 0; i < boxes.size(); ++i)
    for_cells_of(shape, boxes[i].box, 0, 0,
                 [&](std::size_t cell) { questions.at(i, part_of_cell[cell]) = boxes[i].weight; });
  if (boxes.size() <= parts) return AxisWorkload::matrix(std::move(questions));
  DenseMatrix gram{parts, parts, std::vector<double>(parts * parts, 0.0)};
  for (std::size_t row = 0; row < boxes.size(); ++row)
    for (std::size_t i = 0; i < parts; ++i)
      for (std::size_t j = 0; j < parts; ++j)
        gram.at(i, j) += questions.at(row, i) * questions.at(row, j);
  return AxisWorkload::with_gram(gram);
}

/// Several axes: box by box, every part that the box cuts is cut in two.
std::optional<WorkloadParts> cut_by(const std::vector<Asked>& boxes, const Shape& shape) {
  std::vector<std::uint32_t> part_of_cell(shape.cells(), 0);
  std::vector<std::size_t> sizes = {part_of_cell.size()};
  for (const Asked& asked : boxes) {
    std::vector<std::size_t> inside(sizes.size(), 0);
    for_cells_of(shape, asked.box, 0, 0, [&](std::size_t cell) { ++inside[part_of_cell[cell]]; });
    std::vector<std::uint32_t> becomes(sizes.size());
    for (std::uint32_t part = 0; part < becomes.size(); ++part) {
      const bool is_cut = inside[part] > 0 && inside[part] < sizes[part];
      becomes[part] = is_cut ? static_cast<std::uint32_t>(sizes.size()) : part;
      if (!is_cut) continue;
      sizes[part] -= inside[part];
      sizes.push_back(inside[part]);
    }
    if (sizes.size() > WorkloadParts::kMost) return {};
    for_cells_of(shape, asked.box, 0, 0,
                 [&](std::size_t cell) { part_of_cell[cell] = becomes[part_of_cell[cell]]; });
  }
  if (sizes.size() == part_of_cell.size()) return {};
  AxisWorkload questions = about_parts(boxes, shape, part_of_cell, sizes.size());
  return WorkloadParts{std::move(part_of_cell),
                       {sizes.begin(), sizes.end()},
                       Workload({{1.0, {std::move(questions)}}})};
}

}  // namespace

std::optional<WorkloadParts> parts_told_apart(const Workload& workload) {
  const Shape shape = workload.shape();
  check_dense(shape);
  const std::vector<Asked> boxes = boxes_of(workload);
  if (boxes.empty()) return {};
  return shape.axes() == 1 ? between_ends(workload) : cut_by(boxes, shape);
}

}  // namespace gauze
