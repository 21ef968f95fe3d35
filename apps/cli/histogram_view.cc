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

}  // namespace

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
