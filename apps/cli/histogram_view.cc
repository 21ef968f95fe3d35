#include "histogram_view.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "gauze/base/error.h"
#include "gauze/base/words.h"
#include "html.h"
#include "numbers.h"
#include "text.h"

namespace gauze::cli {
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

/// A row of the terminal: filled to the value less its error, then the error bar.
std::string bar(double value, double half_width, double most, std::size_t width) {
  const auto place = [&](double x) {
    return static_cast<std::size_t>(
        std::lround(std::clamp(x / most, 0.0, 1.0) * static_cast<double>(width)));
  };
  const std::size_t low = place(value - half_width);
  const std::size_t high = place(value + half_width);
  std::string text;
  if (high - low < 2) {
    for (std::size_t i = 0; i < place(value); ++i) text += glyph("█", "#");
    return text;
  }
  for (std::size_t i = 0; i < low; ++i) text += glyph("█", "#");
  for (std::size_t i = low; i < high; ++i)
    text += i == low ? glyph("├", "|") : i + 1 == high ? glyph("┤", "|") : glyph("─", "-");
  return text;
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

/// Rows per area on a coarse grid of at most so many parts: values[row][column], rows downwards.
std::vector<std::vector<double>> coarse(const HistogramView& view, std::size_t columns,
                                        std::size_t rows) {
  const std::vector<std::uint32_t> cells = extents(view.axes);
  std::vector<std::vector<double>> grid;
  for_boxes(cells, {step_of(cells[0], columns), step_of(cells[1], rows)}, [&](const Box& box) {
    const double area = width_of(view.axes[0], box.begin[0], box.end[0]) *
                        width_of(view.axes[1], box.begin[1], box.end[1]);
    if (box.begin[1] == 0) grid.emplace_back();
    grid.back().push_back(view.values.count(box) / area);
  });
  // Columns became lists from below upwards; a picture has lists of rows from above downwards.
  std::vector<std::vector<double>> turned(grid[0].size(), std::vector<double>(grid.size()));
  for (std::size_t x = 0; x < grid.size(); ++x)
    for (std::size_t y = 0; y < grid[x].size(); ++y) turned[grid[x].size() - 1 - y][x] = grid[x][y];
  return turned;
}

double largest(const std::vector<std::vector<double>>& grid) {
  double most = 0;
  for (const auto& row : grid)
    for (const double value : row) most = std::max(most, value);
  return most > 0 ? most : 1;
}

/// Where some edges of the axis are on a map of `spots` of `step` cells each, from 0 to 1, with their texts.
std::vector<std::pair<double, std::string>> edges_of(const Axis& axis, std::uint32_t step,
                                                     std::size_t spots) {
  const std::size_t parts = spots <= 6 ? spots : 4;
  std::vector<std::pair<double, std::string>> edges;
  for (std::size_t i = 0; i <= parts; ++i) {
    const std::size_t spot = spots * i / parts;
    const auto cell = static_cast<std::uint32_t>(std::min<std::size_t>(axis.cells(), spot * step));
    const Value edge = axis.edge(cell);
    const auto number = drawn(edge);
    edges.emplace_back(static_cast<double>(spot) / static_cast<double>(spots),
                       escaped(number ? nearest(*number, 6) : to_text(edge).substr(0, 16)));
  }
  return edges;
}

/// The shades of a map with the counts they stand for; the darkest is `most`.
std::string shades_legend(double most) {
  std::string legend = "<p class=\"legend\">";
  for (const double shade : {0.0, 0.25, 0.5, 0.75, 1.0}) {
    const Answer::Cell count{shade * shade * most, most / 20};
    legend += "<span><i class=\"s0\" style=\"opacity:" + coordinate(shade) + "\"></i>" +
              escaped(value_text(count, Type::kDouble)) + "</span> ";
  }
  return legend + "</p>";
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

std::string bars_text(const Answer& summary, std::size_t width) {
  double most = 0;
  std::size_t labels = columns(summary.columns[0].name);
  std::size_t numbers = 1;
  std::size_t errors = 0;
  std::vector<std::array<std::string, 3>> cells;
  for (const auto& row : summary.rows) {
    cells.push_back({shown(value_text(row[0], Type::kText)),
                     shown(value_text(row[1], Type::kDouble)), shown(half_width_text(row[1]))});
    labels = std::max(labels, columns(cells.back()[0]));
    numbers = std::max(numbers, columns(cells.back()[1]));
    errors = std::max(errors, columns(cells.back()[2]));
    const double half = row[1].half_width.value_or(0);
    most = std::max(most, number_of(row[1]) + (std::isfinite(half) ? half : 0));
  }
  if (!(most > 0)) most = 1;
  const std::size_t used = labels + numbers + errors + 8;
  const std::size_t room = width > used + 12 ? width - used : 12;
  const auto pad = [](std::size_t to, const std::string& text) {
    return std::string(to - std::min(to, columns(text)), ' ');
  };
  std::string text = "  " + summary.columns[0].name + pad(labels, summary.columns[0].name) + "  " +
                     pad(numbers, "n") + "n\n";
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const auto& [label, number, error] = cells[i];
    text +=
        "  " + label + pad(labels, label) + "  " + pad(numbers, number) + number + " " + error +
        pad(errors, error) + "  " +
        bar(number_of(summary.rows[i][1]), summary.rows[i][1].half_width.value_or(0), most, room) +
        "\n";
  }
  return text;
}

std::string heat_text(const HistogramView& view, std::size_t width) {
  static const char* const kFancy[] = {" ", "·", "░", "▒", "▓", "█"};
  static const char* const kPlain[] = {" ", ".", ":", "+", "*", "#"};
  const auto grid = coarse(view, std::clamp<std::size_t>(width - 6, 16, 72), 24);
  const double most = largest(grid);
  std::string text;
  for (const auto& row : grid) {
    text += "    ";
    for (const double value : row) {
      // By the square root, or one crowded place would leave the rest white.
      const double shade = std::sqrt(std::clamp(value / most, 0.0, 1.0));
      const auto level = static_cast<std::size_t>(std::lround(5 * shade));
      text += glyph(kFancy[level], kPlain[level]);
    }
    text += "\n";
  }
  const Axis& x = view.axes[0];
  const Axis& y = view.axes[1];
  return text + "    " + x.column() + ": " + x.label(0, x.cells()) + ", left to right; " +
         y.column() + ": " + y.label(0, y.cells()) + ", upwards\n";
}

std::string heat_svg(const HistogramView& view) {
  constexpr std::size_t kMost = 64;
  const auto grid = coarse(view, kMost, kMost);
  const std::size_t rows = grid.size();
  const std::size_t columns = grid[0].size();
  const double most = largest(grid);
  std::string svg;
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t column = 0; column < columns; ++column) {
      const double shade = std::sqrt(std::clamp(grid[row][column] / most, 0.0, 1.0));
      if (shade < 0.01) continue;
      svg += "<rect x=\"" + std::to_string(column) + "\" y=\"" + std::to_string(row) +
             "\" width=\"1.03\" height=\"1.03\" fill-opacity=\"" + coordinate(shade) + "\"/>";
    }
  }
  const Axis& x = view.axes[0];
  const Axis& y = view.axes[1];
  const Box spot{{0, 0}, {step_of(x.cells(), kMost), step_of(y.cells(), kMost)}};
  const double area = width_of(x, 0, spot.end[0]) * width_of(y, 0, spot.end[1]);
  std::string across, upwards;
  for (const auto& [place, label] : edges_of(x, spot.end[0], columns))
    across += "<span style=\"left:" + coordinate(100 * place) + "%\">" + label + "</span>";
  for (const auto& [place, label] : edges_of(y, spot.end[1], rows))
    upwards += "<span style=\"top:" + coordinate(100 * (1 - place)) + "%\">" + label + "</span>";
  return "<figure><figcaption>" + escaped(names_of(view.axes)) + "</figcaption>" +
         shades_legend(most * area) + "<div class=\"plot map\"><div class=\"scale\">" + upwards +
         "</div><svg class=\"heat\" role=\"img\" aria-label=\"heat map of counts\" "
         "preserveAspectRatio=\"none\" viewBox=\"0 0 " +
         std::to_string(columns) + " " + std::to_string(rows) + "\">" + svg +
         "</svg><div class=\"times\">" + across + "</div></div><p class=\"note\">" +
         escaped(
             x.column() + " from left to right, " + y.column() +
             " upwards. The numbers above are rows in a spot as large as the lowest on the left; "
             "shades go by the square root.") +
         "</p></figure>\n";
}

std::string_view heat_style() {
  return R"(
.plot.map { height: auto; grid-template-columns: 5.5rem 1fr; grid-template-rows: auto 0; padding-right: 2.5rem; margin-bottom: .6rem; }
.heat { width: 100%; aspect-ratio: 4 / 3; background: var(--card); border-radius: 4px; }
.heat rect { fill: var(--c0); }
)";
}

}  // namespace gauze::cli
