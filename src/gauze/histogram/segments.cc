#include "gauze/histogram/segments.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace gauze {
namespace {

/// The least cost so far as a function of the level of the running segment, on [low, high]:
/// square * level^2 + linear * level + constant, when that segment began at `begin`.
struct Piece {
  double low, high;
  double square, linear, constant;
  std::uint32_t begin;

  double lowest_level() const {
    return square == 0 ? low : std::clamp(-linear / (2 * square), low, high);
  }
  double at(double level) const { return (square * level + linear) * level + constant; }
};

void push(std::vector<Piece>& pieces, const Piece& piece) {
  if (!(piece.low < piece.high)) return;
  if (!pieces.empty() && pieces.back().square == 0 && piece.square == 0)
    pieces.back().high = piece.high;
  else
    pieces.push_back(piece);
}

/// Where a new segment is cheaper than going on, it takes over: the minimum with a constant.
std::vector<Piece> capped(const std::vector<Piece>& pieces, double cap, std::uint32_t begin) {
  std::vector<Piece> result;
  for (const Piece& piece : pieces) {
    const Piece fresh{piece.low, piece.high, 0, 0, cap, begin};
    // Levels at which the piece is below the cap: between the roots.
    const double discriminant =
        piece.linear * piece.linear - 4 * piece.square * (piece.constant - cap);
    double from = piece.high;
    double to = piece.high;
    if (piece.square > 0 && discriminant > 0) {
      const double middle = -piece.linear / (2 * piece.square);
      const double reach = std::sqrt(discriminant) / (2 * piece.square);
      from = std::clamp(middle - reach, piece.low, piece.high);
      to = std::clamp(middle + reach, piece.low, piece.high);
    }
    Piece left = fresh;
    left.high = from;
    Piece going = piece;
    going.low = from;
    going.high = to;
    Piece right = fresh;
    right.low = to;
    push(result, left);
    push(result, going);
    push(result, right);
  }
  return result;
}

}  // namespace

std::vector<std::uint32_t> cut_into_segments(std::span<const double> values, double price) {
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  // Squares of values far from zero would cancel.
  const double origin = *least / 2 + *most / 2;
  std::vector<Piece> pieces;
  std::vector<std::uint32_t> last(values.size());
  double best = 0;
  for (std::uint32_t i = 0; i < values.size(); ++i) {
    if (i == 0)
      pieces = {{*least - origin, std::nextafter(*most - origin, INFINITY), 0, 0, price, 0}};
    else
      pieces = capped(pieces, best + price, i);
    const double value = values[i] - origin;
    best = std::numeric_limits<double>::infinity();
    for (Piece& piece : pieces) {
      piece.square += 1;
      piece.linear -= 2 * value;
      piece.constant += value * value;
      const double cost = piece.at(piece.lowest_level());
      if (cost >= best) continue;
      best = cost;
      last[i] = piece.begin;
    }
  }
  std::vector<std::uint32_t> begins = {static_cast<std::uint32_t>(values.size())};
  while (begins.back() > 0) begins.push_back(last[begins.back() - 1]);
  std::reverse(begins.begin(), begins.end());
  return begins;
}

}  // namespace gauze
