#include "gauze/mechanism/quantile.h"

#include <algorithm>
#include <bit>

#include "gauze/base/error.h"
#include "gauze/mechanism/additive_internal.h"
#include "gauze/mechanism/quantile_internal.h"
#include "gauze/mechanism/selection_internal.h"

namespace gauze {

using internal::choose_quantile;
using internal::QuantileDomain;
using internal::rank_sensitivity;
using internal::selection_radius;
using internal::selection_rate;

namespace {

Release<double> released(const QuantileDomain& domain, std::uint64_t index,
                         const Quantile& quantile) {
  return {domain.value(index), quantile.accuracy(), quantile.event()};
}

}  // namespace

Quantile::Quantile(Options options) : options_(std::move(options)) {
  internal::check_tabular(options_.epsilon, options_.relation);
  internal::check_quantile_probability(options_.probability);
  internal::check_records_per_unit(options_.records_per_unit);
  domain_ =
      std::make_shared<const QuantileDomain>(options_.lower, options_.upper, options_.granularity);
}

Event Quantile::event() const {
  return {events::Exponential{options_.epsilon}, options_.relation};
}

Ratio Quantile::rate() const {
  const Ratio sensitivity =
      rank_sensitivity(options_.probability, options_.relation, options_.records_per_unit);
  return selection_rate(options_.epsilon, sensitivity, false);
}

Accuracy Quantile::accuracy(double confidence) const {
  const double beta = internal::failure_probability(confidence);
  return {selection_radius(rate(), domain_->size(), beta), confidence, "rank"};
}

Release<double> Quantile::run(std::span<const double> values, Context& context) const {
  context.meter.charge(event());
  const std::uint64_t index = choose_quantile(domain_->runs(values), 0, domain_->size() - 1,
                                              {options_.probability}, rate(), context.bits);
  return released(*domain_, index, *this);
}

Release<double> Quantile::run(std::span<const GridCount> counts, Context& context) const {
  context.meter.charge(event());
  const std::uint64_t index = choose_quantile(domain_->runs(counts), 0, domain_->size() - 1,
                                              {options_.probability}, rate(), context.bits);
  return released(*domain_, index, *this);
}

InterquartileRange::InterquartileRange(Options options) : options_(std::move(options)) {
  internal::check_tabular(options_.epsilon, options_.relation);
  domain_ =
      std::make_shared<const QuantileDomain>(options_.lower, options_.upper, options_.granularity);
}

Event InterquartileRange::event() const {
  return {events::Exponential{options_.epsilon.get() / 2}, options_.relation, 2};
}

Accuracy InterquartileRange::accuracy(double confidence) const {
  const double beta = internal::failure_probability(confidence);
  const Ratio rate = selection_rate(Ratio(options_.epsilon.get() / 2),
                                    rank_sensitivity(Ratio(3, 4), options_.relation), false);
  return {selection_radius(rate, domain_->size(), beta / 2), confidence, "rank of each quartile"};
}

Release<double> InterquartileRange::run(std::span<const double> values, Context& context) const {
  context.meter.charge(event());
  const auto runs = domain_->runs(values);
  const auto quartile = [&](const Ratio& probability) {
    const Ratio rate = selection_rate(Ratio(options_.epsilon.get() / 2),
                                      rank_sensitivity(probability, options_.relation), false);
    return choose_quantile(runs, 0, domain_->size() - 1, {probability}, rate, context.bits);
  };
  const double low = domain_->value(quartile(Ratio(1, 4)));
  const double high = domain_->value(quartile(Ratio(3, 4)));
  return {std::max(0.0, high - low), accuracy(), event()};
}

namespace {

/// Recursive splitting (Kaplan, Schnapp and Stemmer 2022). A record belongs to the one part whose
/// open range of indices contains it, which depends on earlier answers and the record alone.
class Splitter {
 public:
  Splitter(std::span<const Ratio> probabilities, const Ratio& epsilon_of_record, BitSource& bits)
      : probabilities_(probabilities),
        epsilon_(epsilon_of_record),
        bits_(bits),
        answers_(probabilities.size()) {}

  /// Answers the probabilities [begin, end) from the records `runs`, which stand for the ranks
  /// between the probabilities `low` and `high`.
  void split(std::size_t begin, std::size_t end, std::span<const internal::Run> runs,
             std::uint64_t first, std::uint64_t last, const Ratio& low, const Ratio& high) {
    if (begin == end) return;
    const std::size_t middle = begin + (end - begin) / 2;
    const Ratio& probability = probabilities_[middle];
    const Ratio here = (probability - low) / (high - low);
    // Parts gain and lose records even under replace, so each choice is private for add_remove.
    const Ratio rate =
        selection_rate(epsilon_, rank_sensitivity(here, Relation::kAddRemove), false);
    const std::uint64_t answer = choose_quantile(runs, first, last, {here}, rate, bits_);
    answers_[middle] = answer;
    const auto less = [](const internal::Run& run, std::uint64_t index) {
      return run.index < index;
    };
    const auto below = std::lower_bound(runs.begin(), runs.end(), answer, less);
    const auto above = std::lower_bound(below, runs.end(), answer + 1, less);
    split(begin, middle, {runs.begin(), below}, first, answer, low, probability);
    split(middle + 1, end, {above, runs.end()}, answer, last, probability, high);
  }

  const std::vector<std::uint64_t>& answers() const { return answers_; }

 private:
  std::span<const Ratio> probabilities_;
  Ratio epsilon_;
  BitSource& bits_;
  std::vector<std::uint64_t> answers_;
};

}  // namespace

Quantiles::Quantiles(Options options) : options_(std::move(options)) {
  internal::check_tabular(options_.epsilon, options_.relation);
  internal::check_records_per_unit(options_.records_per_unit);
  domain_ =
      std::make_shared<const QuantileDomain>(options_.lower, options_.upper, options_.granularity);
  const std::vector<Ratio>& probabilities = options_.probabilities;
  require(!probabilities.empty(), "probabilities must hold at least one");
  Integer common = 1;
  Ratio before = 0;
  for (const Ratio& probability : probabilities) {
    require(probability > before && probability < 1,
            "probabilities must increase and lie strictly between 0 and 1");
    common = lcm(common, denominator(probability));
    require(common <= (1 << 20), "probabilities must have a common denominator of at most 2^20");
    before = probability;
  }
}

std::uint64_t Quantiles::levels() const {
  return std::bit_width(options_.probabilities->size());  // ceil(log2(m + 1))
}

Ratio Quantiles::epsilon_of_record() const {
  const std::uint64_t records =
      options_.records_per_unit * (options_.relation == Relation::kReplace ? 2 : 1);
  return options_.epsilon.get() / Ratio(Integer(levels()) * records);
}

// One event per level, under replace too: old and new record in the same part are one choice whose
// range is twice that of a single choice, not two choices (quantile.md).
Event Quantiles::event() const {
  const Ratio of_level = options_.epsilon.get() / Ratio(Integer(levels()));
  return {events::Exponential{of_level}, options_.relation, levels()};
}

Accuracy Quantiles::accuracy(double confidence) const {
  const double beta = internal::failure_probability(confidence);
  const auto m = static_cast<double>(options_.probabilities->size());
  const Ratio rate = selection_rate(epsilon_of_record(), 1, false);
  return {static_cast<double>(levels()) * selection_radius(rate, domain_->size(), beta / m),
          confidence, "rank of each quantile"};
}

std::vector<double> Quantiles::choose(std::span<const internal::Run> runs, BitSource& bits) const {
  Splitter splitter(options_.probabilities.get(), epsilon_of_record(), bits);
  splitter.split(0, options_.probabilities->size(), runs, 0, domain_->size() - 1, 0, 1);
  std::vector<double> result;
  for (const std::uint64_t index : splitter.answers()) result.push_back(domain_->value(index));
  return result;
}

Release<std::vector<double>> Quantiles::run(std::span<const double> values,
                                            Context& context) const {
  context.meter.charge(event());
  return {choose(domain_->runs(values), context.bits), accuracy(), event()};
}

Release<std::vector<double>> Quantiles::run(std::span<const GridCount> counts,
                                            Context& context) const {
  context.meter.charge(event());
  return {choose(domain_->runs(counts), context.bits), accuracy(), event()};
}

}  // namespace gauze
