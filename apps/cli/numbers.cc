#include "numbers.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "text.h"

namespace gauze::cli {
namespace {

std::string delta_part(const std::string& delta) {
  return ", δ = " + delta;
}

}  // namespace

std::string amount_text(const Ratio& amount, double (*safe)(const Ratio&)) {
  const double value = decimal(amount, safe);
  if (std::isfinite(value) && ratio_of_decimal(value) == amount) return nearest(value, 17);
  if (safe == round_up) return upward(value, 6);
  char buffer[64];
  std::snprintf(buffer, sizeof buffer, "%.6g", value);
  if (std::strtod(buffer, nullptr) <= value) return buffer;
  const double unit = std::pow(10.0, std::floor(std::log10(std::abs(value))) - 5);
  std::snprintf(buffer, sizeof buffer, "%.6g", value - unit);
  return buffer;
}

std::string cost_text(const Ratio& epsilon, const Ratio& delta) {
  return "ε = " + amount_text(epsilon, round_up) +
         (delta > 0 ? delta_part(amount_text(delta, round_up)) : "");
}

std::string price_text(const Budget& price) {
  if (price.currency != Budget::Currency::kZcdp) return cost_text(price.amount, price.delta);
  return "ρ = " + amount_text(price.amount, round_up) +
         (price.delta > 0 ? delta_part(amount_text(price.delta, round_up)) : "");
}

std::string budget_text(const Budget& left) {
  const bool rho = left.currency == Budget::Currency::kZcdp;
  return std::string(rho ? "ρ = " : "ε = ") + amount_text(left.amount, round_down) +
         (left.delta > 0 ? delta_part(amount_text(left.delta, round_down)) : "");
}

}  // namespace gauze::cli
