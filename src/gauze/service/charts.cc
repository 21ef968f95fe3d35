#include "gauze/service/charts.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "gauze/numeric/decimal_text.h"
#include "gauze/registry/wording.h"
#include "gauze/service/html.h"

namespace gauze::service {
namespace {

constexpr std::size_t kMostBars = 60;
constexpr std::size_t kMostSeries = 6;

/// One number to draw: where, in which colour, and how far it may be off.
struct Point {
  std::string label;
  std::size_t series = 0;
  double at = 0;  ///< on a time axis
  double value = 0;
  double low = 0, high = 0;
  std::string text;  ///< "1,234 ± 56"
};

struct Chart {
  std::string title;
  bool over_time = false;
  std::vector<std::string> series;  ///< names; one empty name when there is only one
  std::vector<Point> points;
  std::size_t left_out = 0;
};

std::string key_text(const Answer& answer, std::size_t row, std::size_t column) {
  const Answer::Cell& cell = answer.rows[row][column];
  if (std::holds_alternative<std::monostate>(cell.value)) return "(none)";
  return value_text(cell, answer.columns[column].type);
}

std::optional<double> moment(const Value& value) {
  if (const auto* date = std::get_if<Date>(&value)) return static_cast<double>(date->days);
  if (const auto* time = std::get_if<Timestamp>(&value))
    return static_cast<double>(time->microseconds) / 86'400e6;
  return std::nullopt;
}

/// Which columns name a row, and how the names become axis and colours.
struct Axis {
  std::vector<std::size_t> keys;
  std::vector<std::string> series;  ///< in the order of their first row
  bool over_time = false;
};

std::string series_name(const Answer& answer, const Axis& axis, std::size_t row) {
  std::string name;
  for (std::size_t i = 1; i < axis.keys.size(); ++i)
    name.append(name.empty() ? "" : " · ").append(key_text(answer, row, axis.keys[i]));
  return name;
}

Axis axis_of(const Answer& answer) {
  Axis axis;
  for (std::size_t i = 0; i < answer.columns.size(); ++i) {
    if (answer.columns[i].is_key) axis.keys.push_back(i);
  }
  for (std::size_t row = 0; row < answer.rows.size(); ++row) {
    const std::string name = series_name(answer, axis, row);
    if (std::find(axis.series.begin(), axis.series.end(), name) == axis.series.end())
      axis.series.push_back(name);
    if (axis.series.size() > kMostSeries) break;
  }
  if (axis.series.size() > kMostSeries || axis.keys.size() < 2) axis.series.clear();
  const bool colours = !axis.series.empty() || axis.keys.size() == 1;
  axis.over_time = colours && !axis.keys.empty() && answer.rows.size() > 2;
  for (const auto& row : answer.rows)
    axis.over_time = axis.over_time && moment(row[axis.keys[0]].value).has_value();
  if (axis.series.empty()) axis.series.emplace_back();
  return axis;
}

Chart chart_of(const Answer& answer, const Axis& axis, std::size_t column) {
  Chart chart{answer.columns[column].name, axis.over_time, axis.series, {}, 0};
  for (std::size_t row = 0; row < answer.rows.size(); ++row) {
    const Answer::Cell& cell = answer.rows[row][column];
    const std::optional<double> value = drawn(cell.value);
    if (!value) continue;
    if (!axis.over_time && chart.points.size() == kMostBars) {
      ++chart.left_out;
      continue;
    }
    Point point;
    const std::string name = series_name(answer, axis, row);
    point.label = axis.keys.empty() ? "all" : key_text(answer, row, axis.keys[0]);
    const auto found = std::find(axis.series.begin(), axis.series.end(), name);
    if (found != axis.series.end())
      point.series = static_cast<std::size_t>(found - axis.series.begin());
    else if (!name.empty())
      point.label += " · " + name;
    if (axis.over_time) point.at = *moment(answer.rows[row][axis.keys[0]].value);
    const double half = cell.half_width.value_or(0);
    point.value = *value;
    point.low = *value - half;
    point.high = *value + half;
    const std::string width = half_width_text(cell);
    point.text = value_text(cell, answer.columns[column].type) + (width.empty() ? "" : " " + width);
    chart.points.push_back(point);
  }
  return chart;
}

struct Range {
  double low = 0, high = 1;
  /// Where the value lies; what is outside lies at the nearer end.
  double percent(double value) const {
    return 100 * (std::clamp(value, low, high) - low) / (high - low);
  }
};

/// All points with their error bars, but for those that would flatten everything else. Bars grow from zero; a line need not show it when that would
/// flatten it.
Range range_of(const Chart& chart) {
  double low = INFINITY, high = -INFINITY;
  double largest = 0;
  for (const Point& point : chart.points) largest = std::max(largest, std::abs(point.value));
  for (const Point& point : chart.points) {
    low = std::min(low, std::max(point.low, point.value - largest / 2));
    high = std::max(high, std::min(point.high, point.value + largest / 2));
  }
  if (!chart.over_time || (low > 0 && low < 0.6 * high)) low = std::min(low, 0.0);
  if (!chart.over_time) high = std::max(high, 0.0);
  if (!(low < high)) high = low + 1;
  return {low, high};
}

std::string quoted_percent(double value) {
  return "\"" + coordinate(value) + "%\"";
}

std::string bar_svg(const Point& point, const Range& range) {
  const double zero = range.percent(0), end = range.percent(point.value);
  const double low = range.percent(point.low), high = range.percent(point.high);
  std::string svg = "<svg role=\"img\" aria-label=\"" + escaped(point.label + ": " + point.text) +
                    "\"><rect class=\"s" + std::to_string(point.series) +
                    "\" y=\"3\" height=\"14\" x=" + quoted_percent(std::min(zero, end)) +
                    " width=" + quoted_percent(std::abs(end - zero)) + "/>";
  if (point.low < point.high) {
    svg += "<g class=\"whisker\"><line x1=" + quoted_percent(low) + " x2=" + quoted_percent(high) +
           " y1=\"10\" y2=\"10\"/>";
    // Without an end where it goes on beyond the picture.
    for (const auto& [x, ends] :
         {std::pair(low, point.low >= range.low), std::pair(high, point.high <= range.high)})
      if (ends)
        svg +=
            "<line x1=" + quoted_percent(x) + " x2=" + quoted_percent(x) + " y1=\"6\" y2=\"14\"/>";
    svg += "</g>";
  }
  if (range.low < 0)
    svg += "<line class=\"zero\" x1=" + quoted_percent(zero) + " x2=" + quoted_percent(zero) +
           " y1=\"0\" y2=\"20\"/>";
  return svg + "</svg>";
}

std::string bars(const Chart& chart) {
  const Range range = range_of(chart);
  std::string rows, last;
  for (const Point& point : chart.points) {
    const bool repeats = chart.series.size() > 1 && point.label == last;
    last = point.label;
    rows += "<div class=\"label\">" + (repeats ? "" : escaped(point.label)) + "</div>" +
            bar_svg(point, range) + "<div class=\"value\">" + escaped(point.text) + "</div>\n";
  }
  return "<div class=\"bars\">\n" + rows + "</div>\n";
}

/// Round numbers that cover the range, five or so.
std::vector<double> ticks(const Range& range) {
  const double rough = (range.high - range.low) / 4;
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  double step = 10 * power;
  for (const double factor : {5.0, 2.0, 1.0}) {
    if (factor * power >= rough) step = factor * power;
  }
  std::vector<double> result;
  for (double at = std::floor(range.low / step) * step; at < range.high + step; at += step)
    result.push_back(std::abs(at) < step / 2 ? 0 : at);
  return result;
}

std::string tick_text(double value, double step) {
  const int decimals = step >= 1 ? 0 : static_cast<int>(std::ceil(-std::log10(step) - 1e-9));
  char buffer[400];
  std::snprintf(buffer, sizeof buffer, "%.*f", decimals, value);
  std::string text = buffer;
  std::size_t at = std::min(text.find('.'), text.size());
  while (at > 3 + (text[0] == '-' ? 1u : 0u)) text.insert(at -= 3, ",");
  return text;
}

/// One series as a band and a line on a canvas of 100 by 100 that stretches with the page.
std::string line_svg(const std::vector<Point>& points, std::size_t series, const Range& x,
                     const Range& y) {
  std::string line, back, dots;
  for (const Point& point : points) {
    const std::string at = coordinate(x.percent(point.at)) + ",";
    const auto place = [&](double value) { return at + coordinate(100 - y.percent(value)) + " "; };
    line += place(point.value);
    dots += "M" + place(point.value) + "h0";
  }
  for (const Point& point : points)
    back += coordinate(x.percent(point.at)) + "," + coordinate(100 - y.percent(point.high)) + " ";
  for (auto point = points.rbegin(); point != points.rend(); ++point)
    back += coordinate(x.percent(point->at)) + "," + coordinate(100 - y.percent(point->low)) + " ";
  const std::string colour = "s" + std::to_string(series);
  return "<polygon class=\"band " + colour + "\" points=\"" + back + "\"/>" +
         "<polyline class=\"line " + colour + "\" points=\"" + line + "\"/>" +
         "<path class=\"dots " + colour + "\" d=\"" + dots + "\"/>";
}

std::string lines(const Chart& chart) {
  std::vector<std::vector<Point>> series(chart.series.size());
  Range x{INFINITY, -INFINITY};
  for (const Point& point : chart.points) {
    series[point.series].push_back(point);
    x = {std::min(x.low, point.at), std::max(x.high, point.at)};
  }
  if (!(x.low < x.high)) return bars(chart);
  const std::vector<double> steps = ticks(range_of(chart));
  const Range y{steps.front(), steps.back()};
  std::string svg, scale, labels;
  for (const double tick : steps) {
    const std::string height = coordinate(100 - y.percent(tick));
    svg += "<line class=\"grid\" x1=\"0\" x2=\"100\" y1=\"" + height + "\" y2=\"" + height + "\"/>";
    scale +=
        "<span style=\"top:" + height + "%\">" + tick_text(tick, steps[1] - steps[0]) + "</span>";
  }
  for (std::size_t i = 0; i < series.size(); ++i) {
    std::sort(series[i].begin(), series[i].end(),
              [](const Point& a, const Point& b) { return a.at < b.at; });
    if (!series[i].empty()) svg += line_svg(series[i], i, x, y);
  }
  const std::vector<Point>& first = series[0];
  const std::size_t every = std::max<std::size_t>(1, (first.size() + 3) / 4);
  for (std::size_t i = 0; i < first.size(); i += every)
    labels += "<span style=\"left:" + coordinate(x.percent(first[i].at)) + "%\">" +
              escaped(first[i].label) + "</span>";
  return "<div class=\"plot\"><div class=\"scale\">" + scale +
         "</div><svg viewBox=\"0 0 100 100\" preserveAspectRatio=\"none\" role=\"img\" "
         "aria-label=\"" +
         escaped(chart.title) + " over time, with its 95 % band\">" + svg +
         "</svg><div class=\"times\">" + labels + "</div></div>\n";
}

std::string legend(const Chart& chart) {
  if (chart.series.size() < 2) return "";
  std::string result = "<p class=\"legend\">";
  for (std::size_t i = 0; i < chart.series.size(); ++i)
    result += "<span><i class=\"s" + std::to_string(i) + "\"></i>" + escaped(chart.series[i]) +
              "</span> ";
  return result + "</p>\n";
}

}  // namespace

std::string charts(const Answer& answer) {
  if (answer.rows.empty()) return "";
  const Axis axis = axis_of(answer);
  std::string result;
  for (std::size_t i = 0; i < answer.columns.size(); ++i) {
    if (answer.columns[i].is_key) continue;
    const Chart chart = chart_of(answer, axis, i);
    if (chart.points.size() < 2) continue;
    result += "<figure>\n<figcaption>" + escaped(chart.title) + "</figcaption>\n" + legend(chart) +
              (chart.over_time ? lines(chart) : bars(chart));
    if (chart.left_out > 0)
      result += "<p class=\"note\">" + grouped(chart.left_out) + " more are in the table.</p>\n";
    result += "</figure>\n";
  }
  return result.empty() ? "" : "<div class=\"figures\">\n" + result + "</div>\n";
}

namespace {

/// Some of the labels along an axis of `labels.size()` spots, with where they begin, from 0 to 1.
std::vector<std::pair<double, std::string>> marks_of(const std::vector<std::string>& labels) {
  const std::size_t parts = labels.size() <= 6 ? labels.size() : 4;
  std::vector<std::pair<double, std::string>> marks;
  for (std::size_t i = 0; i < parts; ++i) {
    const std::size_t spot = labels.size() * i / parts;
    marks.emplace_back(static_cast<double>(spot) / static_cast<double>(labels.size()),
                       escaped(labels[spot].substr(0, 24)));
  }
  return marks;
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

std::string heat_html(const Figure::Heat& heat) {
  const std::size_t columns = heat.x_labels.size();
  const std::size_t rows = heat.y_labels.size();
  double most = 0;
  for (const double value : heat.values) most = std::max(most, value);
  if (!(most > 0)) most = 1;
  std::string svg, across, upwards;
  for (std::size_t y = 0; y < rows; ++y) {
    for (std::size_t x = 0; x < columns; ++x) {
      // By the square root, or one crowded place would leave the rest white.
      const double shade = std::sqrt(std::clamp(heat.values[y * columns + x] / most, 0.0, 1.0));
      if (shade < 0.01) continue;
      svg += "<rect x=\"" + std::to_string(x) + "\" y=\"" + std::to_string(rows - 1 - y) +
             "\" width=\"1.03\" height=\"1.03\" fill-opacity=\"" + coordinate(shade) + "\"/>";
    }
  }
  for (const auto& [place, label] : marks_of(heat.x_labels))
    across += "<span style=\"left:" + coordinate(100 * place) + "%\">" + label + "</span>";
  for (const auto& [place, label] : marks_of(heat.y_labels))
    upwards += "<span style=\"top:" + coordinate(100 * (1 - place)) + "%\">" + label + "</span>";
  return shades_legend(most) + "<div class=\"plot map\"><div class=\"scale\">" + upwards +
         "</div><svg class=\"heat\" role=\"img\" aria-label=\"heat map of counts\" "
         "preserveAspectRatio=\"none\" viewBox=\"0 0 " +
         std::to_string(columns) + " " + std::to_string(rows) + "\">" + svg +
         "</svg><div class=\"times\">" + across + "</div></div><p class=\"note\">" +
         escaped(
             heat.x + " from left to right, " + heat.y +
             " upwards. The numbers above are counts of a spot as large as the lowest on the left; "
             "shades go by the square root." +
             (heat.half_width > 0
                  ? " That spot is known " + half_width_text(heat.half_width, Type::kDouble) + "."
                  : "")) +
         "</p>";
}

std::string curve_html(const Figure::Curve& curve) {
  Chart chart{curve.y, true, {""}, {}, 0};
  Range across{INFINITY, -INFINITY};
  for (const Figure::Curve::Point& each : curve.points) {
    const double half = std::isfinite(each.half_width) ? each.half_width : 0;
    if (!std::isfinite(each.x) || !std::isfinite(each.y)) continue;
    chart.points.push_back({"", 0, each.x, each.y, each.y - half, each.y + half, ""});
    across = {std::min(across.low, each.x), std::max(across.high, each.x)};
  }
  if (!(across.low < across.high)) return "";
  const std::vector<double> steps = ticks(range_of(chart));
  const std::vector<double> marks = ticks(across);
  const Range y{steps.front(), steps.back()};
  std::string svg, scale, labels;
  for (const double tick : steps) {
    const std::string height = coordinate(100 - y.percent(tick));
    svg += "<line class=\"grid\" x1=\"0\" x2=\"100\" y1=\"" + height + "\" y2=\"" + height + "\"/>";
    scale +=
        "<span style=\"top:" + height + "%\">" + tick_text(tick, steps[1] - steps[0]) + "</span>";
  }
  for (const double mark : marks)
    if (mark >= across.low && mark <= across.high)
      labels += "<span style=\"left:" + coordinate(across.percent(mark)) + "%\">" +
                tick_text(mark, marks[1] - marks[0]) + "</span>";
  return "<div class=\"plot\"><div class=\"scale\">" + scale +
         "</div><svg class=\"curve\" viewBox=\"0 0 100 100\" preserveAspectRatio=\"none\" "
         "role=\"img\" aria-label=\"" +
         escaped(curve.y + " by " + curve.x + ", with its 95 % band") + "\">" + svg +
         line_svg(chart.points, 0, across, y) + "</svg><div class=\"times\">" + labels +
         "</div></div><p class=\"note\">" + escaped(curve.x + " from left to right, " + curve.y) +
         " upwards.</p>\n";
}

}  // namespace

std::string figure_html(const Figure& figure) {
  if (const auto* shown = std::get_if<Figure::Bars>(&figure.drawing)) return charts(shown->answer);
  const auto* heat = std::get_if<Figure::Heat>(&figure.drawing);
  const std::string drawing =
      heat != nullptr ? heat_html(*heat) : curve_html(std::get<Figure::Curve>(figure.drawing));
  if (drawing.empty()) return "";
  const std::string caption =
      figure.title.empty() ? "" : "<figcaption>" + escaped(figure.title) + "</figcaption>\n";
  return "<figure>\n" + caption + drawing + "</figure>\n";
}

std::string_view chart_style() {
  return R"(
.figures { display: grid; gap: 2rem; }
figure { margin: 0; }
figcaption { font-weight: 600; margin-bottom: .6rem; }
.bars { display: grid; grid-template-columns: minmax(4rem, max-content) 1fr max-content; column-gap: .8rem; align-items: center; }
.bars .label { text-align: right; overflow-wrap: anywhere; max-width: 14rem; font-size: .92rem; }
.bars .value { font-variant-numeric: tabular-nums; font-size: .85rem; color: var(--soft); text-align: right; }
.bars svg { width: 100%; height: 20px; overflow: visible; }
.whisker line { stroke: var(--ink); stroke-width: 1.5; opacity: .75; }
.zero { stroke: var(--soft); stroke-width: 1; }
rect.s0, i.s0, .dots.s0, .line.s0, .band.s0 { fill: var(--c0); stroke: var(--c0); background: var(--c0); }
rect.s1, i.s1, .dots.s1, .line.s1, .band.s1 { fill: var(--c1); stroke: var(--c1); background: var(--c1); }
rect.s2, i.s2, .dots.s2, .line.s2, .band.s2 { fill: var(--c2); stroke: var(--c2); background: var(--c2); }
rect.s3, i.s3, .dots.s3, .line.s3, .band.s3 { fill: var(--c3); stroke: var(--c3); background: var(--c3); }
rect.s4, i.s4, .dots.s4, .line.s4, .band.s4 { fill: var(--c4); stroke: var(--c4); background: var(--c4); }
rect.s5, i.s5, .dots.s5, .line.s5, .band.s5 { fill: var(--c5); stroke: var(--c5); background: var(--c5); }
rect { stroke: none !important; }
.line { fill: none !important; stroke-width: 2; stroke-linejoin: round; vector-effect: non-scaling-stroke; }
.dots { fill: none !important; stroke-width: 6; stroke-linecap: round; vector-effect: non-scaling-stroke; }
.band { stroke: none !important; opacity: .22; }
.grid { stroke: var(--rule); stroke-width: 1; vector-effect: non-scaling-stroke; }
.plot { display: grid; grid-template-columns: 4.2rem 1fr; grid-template-rows: minmax(0, 1fr) 0; height: 17rem; padding: .6rem 1.6rem 2rem 0; position: relative; }
.plot svg { width: 100%; height: 100%; min-height: 0; overflow: visible; }
.scale, .times { position: relative; font-size: .8rem; color: var(--soft); font-variant-numeric: tabular-nums; }
.scale span { position: absolute; right: .8rem; transform: translateY(-50%); white-space: nowrap; }
.times { grid-column: 2; height: 0; }
.times span { position: absolute; top: .5rem; transform: translateX(-50%); white-space: nowrap; }
.legend { margin: 0 0 .6rem; font-size: .88rem; }
.legend span { margin-right: 1rem; white-space: nowrap; }
.legend i { display: inline-block; width: .8em; height: .8em; border-radius: 2px; margin-right: .4em; }
.plot.map { height: auto; grid-template-columns: 5.5rem 1fr; grid-template-rows: auto 0; padding-right: 2.5rem; margin-bottom: .6rem; }
.heat { width: 100%; aspect-ratio: 4 / 3; background: var(--card); border-radius: 4px; }
.heat rect { fill: var(--c0); }
@media (max-width: 36rem) {
  .bars { grid-template-columns: 1fr auto; grid-auto-flow: dense; }
  .bars .label { text-align: left; grid-column: 1; }
  .bars .value { grid-column: 2; grid-row: auto; }
  .bars svg { grid-column: 1 / 3; order: 0; margin-bottom: .35rem; }
  .plot { grid-template-columns: 3.2rem 1fr; height: 13rem; }
}
)";
}

}  // namespace gauze::service
