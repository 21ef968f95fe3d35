#include "plot.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "text.h"

namespace gauze::cli {
namespace {

constexpr int kColumns = 36;
constexpr int kRows = 10;

/// A grid of dots; (0, 0) is the lower left corner.
class Canvas {
 public:
  Canvas(int width, int height)
      : width_(width),
        height_(height),
        dots_(static_cast<std::size_t>(width) * static_cast<std::size_t>(height), ' ') {}

  int width() const { return width_; }
  int height() const { return height_; }
  char& at(int x, int y) {
    return dots_[static_cast<std::size_t>(y) * static_cast<std::size_t>(width_) +
                 static_cast<std::size_t>(x)];
  }

 private:
  int width_;
  int height_;
  std::vector<char> dots_;
};

void draw(Canvas& canvas, const std::function<double(double)>& f, char mark, int every) {
  const auto row = [&](int x) {
    const double y = f(static_cast<double>(x) / (canvas.width() - 1));
    return static_cast<int>(std::lround(std::clamp(y, 0.0, 1.0) * (canvas.height() - 1)));
  };
  for (int x = 0; x < canvas.width(); x += every) {
    // A steep curve leaves no gaps: the dots between two columns are filled in.
    const int from = x == 0 ? row(0) : std::min(row(x - 1) + 1, row(x));
    for (int y = every == 1 ? from : row(x); y <= row(x); ++y) canvas.at(x, y) = mark;
  }
}

/// Eight dots of the canvas in one character, U+2800 plus a bit per dot.
std::string braille(Canvas& canvas, int column, int line) {
  constexpr int kBits[2][4] = {{0x01, 0x02, 0x04, 0x40}, {0x08, 0x10, 0x20, 0x80}};
  int code = 0x2800;
  for (int dx = 0; dx < 2; ++dx) {
    for (int dy = 0; dy < 4; ++dy) {
      const int y = canvas.height() - 1 - (4 * line + dy);
      if (canvas.at(2 * column + dx, y) != ' ') code += kBits[dx][dy];
    }
  }
  return {static_cast<char>(0xE0 | (code >> 12)), static_cast<char>(0x80 | ((code >> 6) & 0x3F)),
          static_cast<char>(0x80 | (code & 0x3F))};
}

}  // namespace

std::string plot(const std::function<double(double)>& curve, const PlotLabels& labels) {
  return plot(
      curve, [](double x) { return x; }, labels);
}

std::string plot(const std::function<double(double)>& curve,
                 const std::function<double(double)>& dotted, const PlotLabels& labels) {
  const bool fine = utf8();
  Canvas canvas(fine ? 2 * kColumns : kColumns, fine ? 4 * kRows : kRows);
  draw(canvas, dotted, '.', fine ? 3 : 2);
  draw(canvas, curve, '*', 1);

  const std::size_t margin = std::max(labels.low_y.size(), labels.high_y.size()) + 3;
  const auto at_the_left = [&](const std::string& label) {
    return std::string(margin - 1 - label.size(), ' ') + label + " ";
  };
  std::string result;
  for (int line = 0; line < kRows; ++line) {
    result += at_the_left(line == 0 ? labels.high_y : line == kRows - 1 ? labels.low_y : "");
    result += glyph("│", "|");
    for (int column = 0; column < kColumns; ++column) {
      result += fine ? braille(canvas, column, line)
                     : std::string(1, canvas.at(column, kRows - 1 - line));
    }
    if (line == 1) result += "  " + labels.y + glyph(" ↑", " (up)");
    if (line == 3 && !labels.curve.empty()) result += "  solid: " + labels.curve;
    if (line == 4 && !labels.dotted.empty()) result += "  dotted: " + labels.dotted;
    result.erase(result.find_last_not_of(' ') + 1);
    result += '\n';
  }
  result += at_the_left("") + glyph("└", "+");
  for (int column = 0; column < kColumns; ++column) result += glyph("─", "-");
  const std::size_t ends = labels.low_x.size() + labels.high_x.size();
  const std::size_t used = std::min<std::size_t>(kColumns, ends + labels.x.size());
  const std::size_t before = (kColumns - used) / 2;
  return result + "\n" + at_the_left("") + " " + labels.low_x + std::string(before, ' ') +
         labels.x + std::string(kColumns - used - before, ' ') + labels.high_x + "\n";
}

}  // namespace gauze::cli
