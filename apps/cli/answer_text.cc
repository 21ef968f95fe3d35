#include "answer_text.h"

#include <algorithm>
#include <cmath>

#include "gauze/registry/wording.h"
#include "text.h"

namespace gauze::cli {
namespace {

constexpr std::size_t kLeastBar = 12;
constexpr std::size_t kMostBar = 40;

/// Keys and texts stand left, numbers right, error bars left again beside them.
struct Layout {
  std::vector<std::vector<std::string>> lines;
  std::string sides;
};

bool is_bare(const Answer& answer, std::size_t column) {
  return std::none_of(answer.rows.begin(), answer.rows.end(),
                      [&](const auto& row) { return row[column].half_width.has_value(); });
}

Layout lay_out(const Answer& answer, std::size_t rows) {
  Layout layout;
  layout.lines.resize(rows + 1);
  for (std::size_t i = 0; i < answer.columns.size(); ++i) {
    const Answer::Column& column = answer.columns[i];
    const bool bare = is_bare(answer, i);
    const bool left = bare && !is_numeric(column.type);
    layout.sides += left ? 'l' : 'r';
    layout.lines[0].push_back(column.name);
    for (std::size_t row = 0; row < rows; ++row)
      layout.lines[row + 1].push_back(shown(value_text(answer.rows[row][i], column.type)));
    if (bare) continue;
    layout.sides += 'l';
    layout.lines[0].push_back("");
    for (std::size_t row = 0; row < rows; ++row)
      layout.lines[row + 1].push_back(shown(half_width_text(answer.rows[row][i])));
  }
  return layout;
}

std::string repeated(const std::string& text, std::size_t times) {
  std::string result;
  for (; times > 0; --times) result += text;
  return result;
}

/// Solid as far as the value surely reaches, shaded as far as it may.
std::string bar(const Answer::Cell& cell, double longest, std::size_t width) {
  const std::optional<double> value = drawn(cell.value);
  if (!value || longest <= 0) return "";
  const double half = cell.half_width.value_or(0);
  const auto length = [&](double x) {
    return static_cast<std::size_t>(
        std::lround(std::clamp(x / longest, 0.0, 1.0) * static_cast<double>(width)));
  };
  const std::size_t sure = length(*value - half);
  return repeated(glyph("█", "#"), sure) + repeated(glyph("░", "."), length(*value + half) - sure);
}

/// The one number of each row, if there is one and most are much larger than their error bar.
std::optional<std::size_t> column_to_draw(const Answer& answer) {
  std::optional<std::size_t> found;
  for (std::size_t i = 0; i < answer.columns.size(); ++i) {
    if (answer.columns[i].is_key) continue;
    if (found || is_bare(answer, i)) return std::nullopt;
    found = i;
  }
  if (!found || answer.rows.size() < 2) return std::nullopt;
  std::size_t clear = 0;
  for (const auto& row : answer.rows) {
    const double value = drawn(row[*found].value).value_or(0);
    if (row[*found].half_width.value_or(0) < value / 4) ++clear;
  }
  return 2 * clear >= answer.rows.size() ? found : std::nullopt;
}

void add_bars(const Answer& answer, std::size_t column, std::size_t room, Layout& layout) {
  double longest = 0;
  for (std::size_t row = 0; row + 1 < layout.lines.size(); ++row) {
    const Answer::Cell& cell = answer.rows[row][column];
    const double half = cell.half_width.value_or(0);
    longest = std::max(longest, drawn(cell.value).value_or(0) + (std::isfinite(half) ? half : 0));
  }
  layout.sides += 'l';
  layout.lines[0].push_back("");
  for (std::size_t row = 0; row + 1 < layout.lines.size(); ++row)
    layout.lines[row + 1].push_back(bar(answer.rows[row][column], longest, room));
}

}  // namespace

std::string answer_text(const Answer& answer, std::size_t width, std::size_t most_rows,
                        std::string_view indent) {
  const std::size_t rows = std::min(answer.rows.size(), most_rows);
  Layout layout = lay_out(answer, rows);
  const std::string plain = table(layout.lines, indent, layout.sides);
  std::size_t used = 0;
  for (std::size_t from = 0; from < plain.size();) {
    const std::size_t to = std::min(plain.find('\n', from), plain.size());
    used = std::max(used, columns(std::string_view(plain).substr(from, to - from)));
    from = to + 1;
  }
  const auto draw = column_to_draw(answer);
  if (draw && used + 4 + kLeastBar <= width)
    add_bars(answer, *draw, std::min(width - used - 4, kMostBar), layout);
  std::string text = table(layout.lines, indent, layout.sides);
  if (answer.rows.empty()) text += std::string(indent) + "(no rows)\n";
  if (rows < answer.rows.size()) {
    text += std::string(indent) + glyph("…", "...") + " and " + grouped(answer.rows.size() - rows) +
            " rows more; -o FILE.csv writes them all\n";
  }
  return text;
}

}  // namespace gauze::cli
