#include "gauze/histogram/histogram_view.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "gauze/base/error.h"
#include "gauze/base/words.h"
#include "gauze/numeric/decimal_text.h"
#include "gauze/registry/wording.h"

namespace gauze {
namespace {

Answer::Column count_column(const std::vector<Axis>& axes) {
  return {row_names(axes).count, Type::kDouble, false};
}

/// Rows name one value of the axis, not where a range begins and ends.
bool holds_names(const Axis& axis) {
  return !axis.is_ordered() || axis.type() == Type::kBoolean;
}

/// A single cell of both truth values has no name.
Value name_of(const Axis& axis, std::uint32_t cell) {
  if (!axis.is_ordered()) return axis.category(cell);
  return axis.cells() == 1 ? Value() : Value(cell == 1);
}

/// Calls visit(box) for all boxes of `steps` cells along each axis, the last axis fastest; the last box
/// of an axis may be smaller.
template <class Visit>
void for_boxes(const std::vector<std::uint32_t>& cells, const std::vector<std::uint32_t>& steps,
               Visit visit) {
  Box box{std::vector<std::uint32_t>(cells.size(), 0), {}};
  for (;;) {
    box.end.clear();
    for (std::size_t axis = 0; axis < cells.size(); ++axis)
      box.end.push_back(std::min(cells[axis], box.begin[axis] + steps[axis]));
    visit(box);
    std::size_t axis = cells.size();
    for (;;) {
      if (axis == 0) return;
      --axis;
      box.begin[axis] = box.end[axis];
      if (box.begin[axis] < cells[axis]) break;
      box.begin[axis] = 0;
    }
  }
}

/// Calls visit(part) for the parts of a box that hold one name each; ranges stay as they are.
template <class Visit>
void for_names(const std::vector<Axis>& axes, const Box& box, Visit visit) {
  std::vector<std::uint32_t> cells;
  std::vector<std::uint32_t> steps;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    cells.push_back(box.end[i] - box.begin[i]);
    steps.push_back(holds_names(axes[i]) ? 1 : cells.back());
  }
  for_boxes(cells, steps, [&](Box part) {
    for (std::size_t i = 0; i < axes.size(); ++i) {
      part.begin[i] += box.begin[i];
      part.end[i] += box.begin[i];
    }
    visit(part);
  });
}

/// So many cells together that there are at most `most` boxes along the axis.
std::uint32_t step_of(std::uint32_t cells, std::size_t most) {
  const std::size_t limit = std::max<std::size_t>(1, most);
  return static_cast<std::uint32_t>((cells + limit - 1) / limit);
}

/// A value as a number whose order is that of the values.
double place_of(const Value& value) {
  if (const auto* x = std::get_if<Date>(&value)) return static_cast<double>(x->days);
  if (const auto* x = std::get_if<Timestamp>(&value)) return static_cast<double>(x->microseconds);
  if (const auto* x = std::get_if<bool>(&value)) return *x ? 1 : 0;
  return drawn(value).value_or(0);
}

/// How wide a range of cells is in the column's own values: cells may differ by one of them.
double width_of(const Axis& axis, std::uint32_t begin, std::uint32_t end) {
  return std::max(place_of(axis.edge(end)) - place_of(axis.edge(begin)), 1e-300);
}

std::vector<std::uint32_t> extents(const std::vector<Axis>& axes) {
  std::vector<std::uint32_t> result;
  for (const Axis& axis : axes) result.push_back(axis.cells());
  return result;
}

std::string names_of(const std::vector<Axis>& axes) {
  std::string names;
  for (const Axis& axis : axes) names.append(names.empty() ? "" : " · ").append(axis.column());
  return names;
}

/// A text as a value of the axis' column.
Value parsed(const Axis& axis, const std::string& text) {
  switch (axis.type()) {
    case Type::kText:
      return text;
    case Type::kBoolean:
      require(text == "true" || text == "false", "range: a truth value is true or false");
      return text == "true";
    case Type::kDate:
      return parse_date(text);
    case Type::kTimestamp:
      try {
        return parse_timestamp(text);
      } catch (const Error&) {
        throw Error(ErrorCode::kInvalidOption,
                    "range: column '" + axis.column() +
                        "' holds times; a range of them is cut by two dots, like "
                        "'2024-01-01 08:00:00..2024-01-01 17:30:00'");
      }
    case Type::kInteger: {
      const Ratio number = parse_ratio(text, "range");
      require(denominator(number) == 1 && number >= INT64_MIN && number <= INT64_MAX,
              "range: the column holds whole numbers");
      return numerator(number).convert_to<std::int64_t>();
    }
    default:
      return parse_ratio(text, "range").convert_to<double>();
  }
}

/// One axis' part of a range: its first and its last value, as far as they are given.
struct RangePart {
  std::optional<Value> low, high;
};

RangePart parse_part(const Axis& axis, const std::string& part) {
  // Timestamps have colons of their own, so that ranges of them are cut at "..".
  const std::string mark = axis.is_ordered() && axis.type() == Type::kTimestamp ? ".." : ":";
  const std::size_t at = axis.is_ordered() || part == mark ? part.find(mark) : std::string::npos;
  const bool one = at == std::string::npos;
  const std::string low = part.substr(0, at);
  const std::string high = one ? low : part.substr(at + mark.size());
  RangePart result;
  if (one || !low.empty()) result.low = parsed(axis, low);
  if (one || !high.empty()) result.high = parsed(axis, high);
  return result;
}

/// The first and the last cell of a part.
std::pair<std::uint32_t, std::uint32_t> cells_of(const Axis& axis, const RangePart& part) {
  const std::uint32_t first = part.low ? axis.index(*part.low) : 0;
  const std::uint32_t last = part.high ? axis.index(*part.high) : axis.cells() - 1;
  require(first != Axis::kNoCell && last != Axis::kNoCell, "range: is no category of the column");
  if ((part.low && axis.side(*part.low) > 0) || (part.high && axis.side(*part.high) < 0))
    throw Error(ErrorCode::kInvalidOption, "range: lies outside of column '" + axis.column() +
                                               "', which goes from " + axis.label(0, axis.cells()));
  require(first <= last, "range: must not end before it begins");
  return {first, last};
}

/// Whether the cells of a part begin before it or end behind it.
bool is_widened(const Axis& axis, const RangePart& part) {
  if (!axis.is_ordered()) return false;
  const auto [first, last] = cells_of(axis, part);
  // Where values are one apart, a cell that ends below 41 ends at 40.
  const bool whole = axis.type() != Type::kDouble && axis.type() != Type::kDecimal;
  const bool before = part.low && place_of(axis.edge(first)) < place_of(*part.low);
  const bool behind =
      part.high && place_of(*part.high) + (whole ? 1 : 0) < place_of(axis.edge(last + 1));
  return before || behind;
}

/// The parts of a range, one for each axis.
std::vector<RangePart> parts_of(const std::vector<Axis>& axes, const std::string& text) {
  std::vector<std::string> texts = {""};
  for (const char c : text) {
    if (c == ',' && axes.size() > 1)
      texts.emplace_back();
    else
      texts.back() += c;
  }
  require(texts.size() == axes.size(),
          "range: must have one part for each column, like 18:65 or 18:65,0:100");
  std::vector<RangePart> parts;
  for (std::size_t i = 0; i < axes.size(); ++i) parts.push_back(parse_part(axes[i], texts[i]));
  return parts;
}

double number_of(const Answer::Cell& cell) {
  return drawn(cell.value).value_or(0);
}

/// A box of whole numbers may have been cut into categories: its parts become whole again, with the same
/// sum.
void round_counts(Answer& answer) {
  double running = 0;
  double before = 0;
  for (auto& row : answer.rows) {
    Answer::Cell& count = row[row.size() - 2];
    running += number_of(count);
    const double now = std::round(running);
    count.value = now - before;
    before = now;
  }
}

/// "age: 0 to 99".
std::string described(const Axis& axis) {
  return axis.column() + ": " + axis.label(0, axis.cells());
}

/// Where each spot of `step` cells begins.
std::vector<std::string> edges_of(const Axis& axis, std::uint32_t step) {
  std::vector<std::string> edges;
  for (std::uint32_t cell = 0; cell < axis.cells(); cell += step) {
    const Value edge = axis.edge(cell);
    const std::optional<double> number = drawn(edge);
    edges.push_back(number ? nearest(*number, 6) : to_text(edge).substr(0, 16));
  }
  return edges;
}

/// The boxes with the most rows, of too many to see.
Answer largest_of(const HistogramView& view, std::size_t most) {
  Answer answer{{{names_of(view.axes), Type::kText, true}, count_column(view.axes)}, {}};
  for (const Box& box : view.boxes())
    answer.rows.push_back({{label_of(view.axes, box), {}}, view.count(box)});
  std::stable_sort(answer.rows.begin(), answer.rows.end(), [](const auto& a, const auto& b) {
    return number_of(a.back()) > number_of(b.back());
  });
  answer.rows.resize(std::min(answer.rows.size(), most));
  return answer;
}

}  // namespace

std::string label_of(const std::vector<Axis>& axes, const Box& box) {
  std::string label;
  for (std::size_t i = 0; i < axes.size(); ++i)
    label.append(label.empty() ? "" : " · ").append(axes[i].label(box.begin[i], box.end[i]));
  return label;
}

Answer::Cell HistogramView::count(const Box& box) const {
  return {values.count(box), released.range(box).half_width};
}

Answer::Cell HistogramView::count(const std::vector<double>& weights) const {
  return {values.weighted(weights).value, released.weighted(weights).half_width};
}

std::vector<Box> HistogramView::boxes() const {
  std::vector<Box> boxes;
  for (auto& leaf : released.partition())
    if (leaf.variance > 0) boxes.push_back(std::move(leaf.box));
  std::sort(boxes.begin(), boxes.end(),
            [](const Box& a, const Box& b) { return a.begin < b.begin; });
  return boxes;
}

RowNames row_names(const std::vector<Axis>& axes) {
  std::vector<std::string> taken;
  const auto take = [&](std::string name, const std::vector<std::string>& endings) {
    const auto is_taken = [&](const std::string& ending) {
      return std::any_of(taken.begin(), taken.end(),
                         [&](const std::string& each) { return same_name(each, name + ending); });
    };
    while (std::any_of(endings.begin(), endings.end(), is_taken)) name += '_';
    for (const std::string& ending : endings) taken.push_back(name + ending);
    return name;
  };
  RowNames names;
  for (const Axis& axis : axes) {
    names.axes.push_back(holds_names(axis) ? take(axis.column(), {""})
                                           : take(axis.column(), {"_from", "_to"}));
  }
  taken.push_back(names_of(axes));  // the labels of ranges stand beside the count, too
  names.count = take("n", {"", "_half_width", "_variance"});
  return names;
}

Answer rows_of(const HistogramView& view) {
  Answer answer;
  const RowNames names = row_names(view.axes);
  for (std::size_t i = 0; i < view.axes.size(); ++i) {
    const Type type = view.axes[i].type();
    if (holds_names(view.axes[i])) {
      answer.columns.push_back({names.axes[i], type, true});
    } else {
      answer.columns.push_back({names.axes[i] + "_from", type, true});
      answer.columns.push_back({names.axes[i] + "_to", type, true});
    }
  }
  answer.columns.push_back(count_column(view.axes));
  answer.columns.push_back({names.count + "_variance", Type::kDouble, false});
  const auto add = [&](const Box& box) {
    std::vector<Answer::Cell> row;
    for (std::size_t i = 0; i < view.axes.size(); ++i) {
      const Axis& axis = view.axes[i];
      if (holds_names(axis)) {
        row.push_back({name_of(axis, box.begin[i]), {}});
      } else {
        row.push_back({axis.edge(box.begin[i]), {}});
        row.push_back({axis.edge(box.end[i]), {}});
      }
    }
    row.push_back(view.count(box));
    row.push_back({view.released.range(box).variance, {}});
    answer.rows.push_back(std::move(row));
  };
  if (view.leaves) {
    for (const Box& box : view.boxes()) for_names(view.axes, box, add);
  } else {
    for_boxes(extents(view.axes), std::vector<std::uint32_t>(view.axes.size(), 1), add);
  }
  if (view.whole) round_counts(answer);
  return answer;
}

Answer summary_of(const HistogramView& view, std::size_t most) {
  Answer answer{{{names_of(view.axes), Type::kText, true}, count_column(view.axes)}, {}};
  // Ordered cells can be taken together; categories cannot.
  double room = static_cast<double>(most);
  double ordered = 0;
  for (const Axis& axis : view.axes) {
    if (axis.is_ordered())
      ordered += 1;
    else
      room /= axis.cells();
  }
  if (room < 1 && view.leaves) return largest_of(view, most);
  const double each = std::pow(std::max(room, 1.0), 1 / std::max(ordered, 1.0)) + 1e-9;
  std::vector<std::uint32_t> steps;
  for (const Axis& axis : view.axes)
    steps.push_back(axis.is_ordered() ? step_of(axis.cells(), static_cast<std::size_t>(each)) : 1);
  for_boxes(extents(view.axes), steps, [&](const Box& box) {
    if (answer.rows.size() < most)
      answer.rows.push_back({{label_of(view.axes, box), {}}, view.count(box)});
  });
  return answer;
}

Answer answers_to(const HistogramView& view, const Questions& questions) {
  Answer answer{{{names_of(view.axes), Type::kText, true}, count_column(view.axes)}, {}};
  for (const Box& box : questions.ranges)
    answer.rows.push_back({{label_of(view.axes, box), {}}, view.count(box)});
  for (const auto& [condition, weights] : questions.where)
    answer.rows.push_back({{condition, {}}, view.count(weights)});
  return answer;
}

Box parse_range(const std::vector<Axis>& axes, const std::string& text) {
  const std::vector<RangePart> parts = parts_of(axes, text);
  Box box;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const auto [first, last] = cells_of(axes[i], parts[i]);
    box.begin.push_back(first);
    box.end.push_back(last + 1);
  }
  return box;
}

bool is_widened(const std::vector<Axis>& axes, const std::string& text) {
  const std::vector<RangePart> parts = parts_of(axes, text);
  for (std::size_t i = 0; i < axes.size(); ++i)
    if (is_widened(axes[i], parts[i])) return true;
  return false;
}

Figure::Heat heat_of(const HistogramView& view) {
  constexpr std::size_t kMost = 64;
  const Axis& x = view.axes[0];
  const Axis& y = view.axes[1];
  const std::vector<std::uint32_t> steps = {step_of(x.cells(), kMost), step_of(y.cells(), kMost)};
  const auto area = [&](const Box& box) {
    return width_of(x, box.begin[0], box.end[0]) * width_of(y, box.begin[1], box.end[1]);
  };
  const Box first{{0, 0}, {std::min(x.cells(), steps[0]), std::min(y.cells(), steps[1])}};
  Figure::Heat heat{.x = described(x),
                    .y = described(y),
                    .x_labels = edges_of(x, steps[0]),
                    .y_labels = edges_of(y, steps[1]),
                    .values = {},
                    .half_width = view.released.range(first).half_width};
  heat.values.resize(heat.x_labels.size() * heat.y_labels.size());
  for_boxes(extents(view.axes), steps, [&](const Box& box) {
    const std::size_t column = box.begin[0] / steps[0];
    const std::size_t row = box.begin[1] / steps[1];
    heat.values[row * heat.x_labels.size() + column] =
        view.values.count(box) * (area(first) / area(box));
  });
  return heat;
}

}  // namespace gauze
