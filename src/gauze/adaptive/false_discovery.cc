#include "gauze/adaptive/false_discovery.h"

#include <algorithm>
#include <cmath>

#include "gauze/base/error.h"

namespace gauze {

Spending::Spending(double exponent, std::uint64_t horizon) {
  require(exponent > 1, "exponent must be above 1");
  require(horizon >= 1 && horizon <= (1 << 24), "horizon must lie between 1 and 2^24");
  std::vector<double> shares;
  double total = 0;
  for (std::uint64_t t = 1; t <= horizon; ++t) {
    total += shares.emplace_back(std::pow(static_cast<double>(t), -exponent));
  }
  for (double& share : shares) share /= total;
  shares_ = std::make_shared<const std::vector<double>>(std::move(shares));
}

LordPlusPlus::LordPlusPlus(Options options) : options_(std::move(options)) {
  require(options_.rate > 0 && options_.rate < 1, "rate must lie strictly between 0 and 1");
  if (options_.wealth == 0) options_.wealth = options_.rate / 2;
  require(options_.wealth > 0 && options_.wealth < options_.rate,
          "wealth must lie strictly between 0 and rate");
}

// Ramdas, Yang, Wainwright and Jordan 2017, section 3.
double LordPlusPlus::level() const {
  const std::uint64_t now = tests_ + 1;
  double level = options_.wealth * options_.spending(now);
  for (std::size_t j = 0; j < rejections_.size(); ++j) {
    const double earned = options_.rate - (j == 0 ? options_.wealth : 0);
    level += earned * options_.spending(now - rejections_[j]);
  }
  return level;
}

void LordPlusPlus::record(bool rejected) {
  ++tests_;
  if (rejected) rejections_.push_back(tests_);
}

Saffron::Saffron(Options options) : options_(std::move(options)) {
  require(options_.rate > 0 && options_.rate < 1, "rate must lie strictly between 0 and 1");
  require(options_.candidacy > 0 && options_.candidacy < 1,
          "candidacy must lie strictly between 0 and 1");
  const double most = (1 - options_.candidacy) * options_.rate;
  if (options_.wealth == 0) options_.wealth = most / 2;
  require(options_.wealth > 0 && options_.wealth < most,
          "wealth must lie strictly between 0 and (1 - candidacy) rate");
  if (options_.cap == 0) options_.cap = options_.candidacy;
  require(options_.cap > 0 && options_.cap <= options_.candidacy,
          "cap must be positive and at most the candidacy");
}

// Ramdas, Zrnic, Wainwright and Jordan 2018, section 3: time stands still while there are candidates.
double Saffron::level() const {
  const std::uint64_t now = tests_ + 1;
  const double earned = (1 - options_.candidacy) * options_.rate;
  double level = options_.wealth * options_.spending(now - candidates_);
  for (std::size_t j = 0; j < rejections_.size(); ++j) {
    const std::uint64_t since = candidates_ - rejections_[j].candidates;
    level += (earned - (j == 0 ? options_.wealth : 0)) *
             options_.spending(now - rejections_[j].time - since);
  }
  return std::min(options_.cap, level);
}

void Saffron::record(double p, bool rejected) {
  ++tests_;
  if (p < options_.candidacy) ++candidates_;
  if (rejected) rejections_.push_back({tests_, candidates_});
}

bool Saffron::test(double p) {
  const bool rejected = p < level();
  record(p, rejected);
  return rejected;
}

}  // namespace gauze
