#include "pictures.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "gauze/registry/wording.h"
#include "plot.h"
#include "text.h"

namespace gauze::cli {
namespace {

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

/// The sums of blocks of cells, at most so many columns and rows: values[row][column], rows downwards.
std::vector<std::vector<double>> coarse(const Figure::Heat& heat, std::size_t columns,
                                        std::size_t rows) {
  const std::size_t wide = heat.x_labels.size();
  const std::size_t high = heat.y_labels.size();
  const std::size_t step_x = (wide + columns - 1) / columns;
  const std::size_t step_y = (high + rows - 1) / rows;
  std::vector<std::vector<double>> grid((high + step_y - 1) / step_y,
                                        std::vector<double>((wide + step_x - 1) / step_x));
  for (std::size_t y = 0; y < high; ++y)
    for (std::size_t x = 0; x < wide; ++x)
      grid[grid.size() - 1 - y / step_y][x / step_x] += heat.values[y * wide + x];
  return grid;
}

/// What the curve is worth at x, on straight lines between its points.
double value_at(const std::vector<Figure::Curve::Point>& points, double x) {
  const auto next = std::upper_bound(points.begin(), points.end(), x,
                                     [](double at, const auto& point) { return at < point.x; });
  if (next == points.begin()) return points.front().y;
  if (next == points.end()) return points.back().y;
  const auto before = next - 1;
  return before->y + (next->y - before->y) * (x - before->x) / (next->x - before->x);
}

}  // namespace

std::string bars_text(const Answer& summary, std::size_t width) {
  const std::size_t count = summary.columns.size() - 1;
  double most = 0;
  std::size_t labels = columns(summary.columns[0].name);
  std::size_t numbers = 1;
  std::size_t errors = 0;
  std::vector<std::array<std::string, 3>> cells;
  for (const auto& row : summary.rows) {
    cells.push_back({shown(value_text(row[0], Type::kText)),
                     shown(value_text(row[count], Type::kDouble)),
                     shown(half_width_text(row[count]))});
    labels = std::max(labels, columns(cells.back()[0]));
    numbers = std::max(numbers, columns(cells.back()[1]));
    errors = std::max(errors, columns(cells.back()[2]));
    const double half = row[count].half_width.value_or(0);
    most = std::max(most, number_of(row[count]) + (std::isfinite(half) ? half : 0));
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
    const Answer::Cell& cell = summary.rows[i][count];
    text += "  " + label + pad(labels, label) + "  " + pad(numbers, number) + number + " " + error +
            pad(errors, error) + "  " +
            bar(number_of(cell), cell.half_width.value_or(0), most, room) + "\n";
  }
  return text;
}

std::string heat_text(const Figure::Heat& heat, std::size_t width) {
  static const char* const kFancy[] = {" ", "·", "░", "▒", "▓", "█"};
  static const char* const kPlain[] = {" ", ".", ":", "+", "*", "#"};
  const auto grid = coarse(heat, std::clamp<std::size_t>(width - 6, 16, 72), 24);
  double most = 0;
  for (const auto& row : grid) most = std::max(most, *std::max_element(row.begin(), row.end()));
  if (!(most > 0)) most = 1;
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
  return text + "    " + shown(heat.x + ", left to right; " + heat.y) + ", upwards\n";
}

std::string curve_text(const Figure::Curve& curve, const std::string& title) {
  std::vector<Figure::Curve::Point> points;
  for (const auto& point : curve.points)
    if (std::isfinite(point.x) && std::isfinite(point.y)) points.push_back(point);
  std::stable_sort(points.begin(), points.end(),
                   [](const auto& a, const auto& b) { return a.x < b.x; });
  if (points.size() < 2 || !(points.front().x < points.back().x)) return "";
  const auto [low, high] = std::minmax_element(
      points.begin(), points.end(), [](const auto& a, const auto& b) { return a.y < b.y; });
  const double bottom = std::min(low->y, 0.0);
  const double top = high->y > bottom ? high->y : bottom + 1;
  const double from = points.front().x;
  const double to = points.back().x;
  return (title.empty() ? "" : "  " + shown(title) + "\n") +
         plot(
             [&](double x) {
               return (value_at(points, from + x * (to - from)) - bottom) / (top - bottom);
             },
             [](double) { return 0; },
             {.x = shown(curve.x),
              .y = shown(curve.y),
              .curve = "",
              .dotted = "",
              .low_x = nearest(from),
              .high_x = nearest(to),
              .low_y = nearest(bottom),
              .high_y = nearest(top)});
}

}  // namespace gauze::cli
