#include "gauze/mechanism/subsample_stability.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "gauze/base/error.h"
#include "gauze/mechanism/additive_internal.h"
#include "gauze/mechanism/stability_test_internal.h"
#include "gauze/noise/additive.h"

namespace gauze {
namespace {

/// 64 ln(1/delta) / epsilon, rounded up. Only utility hangs on it.
Ratio published_gap(const Ratio& epsilon, const Ratio& delta) {
  const double gap = 64 * std::log(round_up(Ratio(1 / delta))) / round_down(epsilon);
  return Ratio(ceil(ratio_of_bits(std::max(gap, 1.0))));
}

/// Every record independently, with probability 1 - e^(-1/gap): how many are skipped is geometric.
std::vector<std::uint64_t> subsample(std::uint64_t records, const AdditiveNoise& skipped,
                                     BitSource& bits) {
  std::vector<std::uint64_t> positions;
  std::uint64_t next = static_cast<std::uint64_t>(skipped.draw(bits));
  while (next < records) {
    positions.push_back(next);
    next += 1 + static_cast<std::uint64_t>(skipped.draw(bits));
  }
  return positions;
}

/// What a program that throws has answered: an error must not tell of the records.
std::optional<std::int64_t> answer_of(const RecordProgram& program,
                                      std::span<const std::uint64_t> positions) {
  try {
    return program.answer(positions);
  } catch (...) {
    return std::nullopt;
  }
}

/// The most frequent answer and its lead.
struct Vote {
  std::optional<std::int64_t> winner;
  std::uint64_t lead = 0;
};

Vote count(const std::map<std::optional<std::int64_t>, std::uint64_t>& votes) {
  Vote result;
  std::uint64_t most = 0;
  std::uint64_t next = 0;
  for (const auto& [answer, number] : votes) {
    if (number > most) {
      next = most;
      most = number;
      result.winner = answer;
    } else {
      next = std::max(next, number);
    }
  }
  result.lead = most - next;
  return result;
}

}  // namespace

SubsampleStability::SubsampleStability(Options options) : options_(std::move(options)) {
  internal::check_stability(options_.epsilon, options_.delta);
  require(options_.delta.get() <= Ratio(1, 2), "delta must be at most 1/2");
  require(options_.gap >= 0, "gap must be positive, or 0 for the published one");
  if (options_.gap == 0) options_.gap = published_gap(options_.epsilon, options_.delta);
}

Event SubsampleStability::event() const {
  return {events::Approximate{options_.epsilon, options_.delta}, Relation::kReplace};
}

Accuracy SubsampleStability::accuracy(double confidence) const {
  const double beta = internal::failure_probability(confidence);
  const internal::StabilityTest test(options_.epsilon, options_.delta);
  // In units of twice a record's votes, which are at most 4 rate subsamples.
  const double rate = -std::expm1(-1 / options_.gap.convert_to<double>());
  return {4 * rate * (test.sure_from(beta) + 1), confidence, "lead, as a share of subsamples"};
}

std::uint64_t SubsampleStability::subsamples(std::uint64_t records) const {
  if (options_.subsamples > 0) return options_.subsamples;
  const double nats = std::log(static_cast<double>(std::max<std::uint64_t>(records, 1))) +
                      std::log(round_up(Ratio(1 / options_.delta.get())));
  return static_cast<std::uint64_t>(std::ceil(3 * round_up(options_.gap) * nats));
}

Release<std::optional<std::int64_t>> SubsampleStability::run(const RecordProgram& program,
                                                             Context& context) const {
  context.meter.charge(event());
  const AdditiveNoise skipped = AdditiveNoise::geometric(options_.gap);
  std::vector<std::uint64_t> taken(program.records, 0);
  std::map<std::optional<std::int64_t>, std::uint64_t> votes;
  for (std::uint64_t i = subsamples(program.records); i > 0; --i) {
    const std::vector<std::uint64_t> positions = subsample(program.records, skipped, context.bits);
    for (const std::uint64_t position : positions) ++taken[position];
    ++votes[answer_of(program, positions)];
  }
  // A record has a say in `reach` votes at most, each of which takes 2 off a lead. How often it was
  // drawn does not depend on what it holds.
  const std::uint64_t reach =
      taken.empty() ? 1 : std::max<std::uint64_t>(1, *std::max_element(taken.begin(), taken.end()));
  const Vote vote = count(votes);
  const internal::StabilityTest test(options_.epsilon, options_.delta, Integer(2 * reach));
  const bool stable = test.passes(Integer(vote.lead) - 2 * Integer(reach), context.bits);
  return {stable ? vote.winner : std::nullopt, accuracy(), event()};
}

}  // namespace gauze
