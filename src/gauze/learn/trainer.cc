#include "gauze/learn/trainer.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "gauze/base/error.h"
#include "gauze/learn/rows_internal.h"
#include "gauze/random/uniform.h"

namespace gauze {

using internal::DenseRows;
using internal::SparseRows;

namespace {

/// The model, the gradient of a batch and the average so far.
class Descent {
 public:
  Descent(const SgdPlan& plan, std::size_t dimension)
      : plan_(plan),
        model_(dimension, 0),
        gradient_(dimension, 0),
        average_(plan.average == Average::kLast ? 0 : dimension, 0) {}

  /// Adds the gradients of these slots.
  template <class Rows>
  void see(const Rows& rows, const Loss& loss, std::span<const std::uint32_t> slots) {
    const auto slope = [&](std::size_t row, double score) {
      return loss.slope(score, rows.examples.label(row));
    };
    for (const std::uint32_t unit : slots) {
      if (unit == kEmptySlot) continue;
      internal::add_unit(rows, unit, model_, slope, gradient_);
    }
  }

  /// Makes the t-th step with what was seen since the last one.
  void step(std::uint64_t t) {
    const double length = plan_.schedule->step(t);
    const double kept = 1 - length * plan_.regularisation;
    const double per_slot = length / static_cast<double>(plan_.batch);
    for (std::size_t i = 0; i < model_.size(); ++i) {
      model_[i] = kept * model_[i] - per_slot * gradient_[i];
      gradient_[i] = 0;
    }
    if (std::isfinite(plan_.radius)) project();
    if (plan_.average == Average::kLast) return;
    const double weight = plan_.weight(t);
    for (std::size_t i = 0; i < model_.size(); ++i) average_[i] += weight * model_[i];
  }

  std::vector<double> result() && {
    return std::move(plan_.average == Average::kLast ? model_ : average_);
  }

 private:
  void project() {
    const double norm = std::sqrt(internal::dot(model_.data(), model_.data(), model_.size()));
    if (norm <= plan_.radius) return;
    const double factor = plan_.radius / norm;
    for (double& weight : model_) weight *= factor;
  }

  const SgdPlan& plan_;
  std::vector<double> model_;
  std::vector<double> gradient_;
  std::vector<double> average_;
};

template <class Rows>
std::vector<double> descend(const Rows& rows, const Loss& loss, const SgdPlan& plan,
                            const SlotOrder& order) {
  Descent descent(plan, rows.examples.dimension());
  const std::uint64_t per_pass = plan.updates_per_pass();
  std::uint64_t t = 0;
  for (std::uint64_t pass = 0; pass < plan.passes; ++pass) {
    const std::span<const std::uint32_t> slots = order(pass);
    const auto known = [&](std::uint32_t u) {
      return u == kEmptySlot || u < rows.examples.units();
    };
    if (slots.size() != plan.records || !std::all_of(slots.begin(), slots.end(), known)) {
      throw Error(ErrorCode::kInvalidInput, "an order must fill as many slots as the plan has");
    }
    for (std::uint64_t update = 0; update < per_pass; ++update) {
      const std::uint64_t first = update * plan.batch;
      descent.see(rows, loss, slots.subspan(first, std::min(plan.batch, plan.records - first)));
      descent.step(++t);
    }
  }
  return std::move(descent).result();
}

}  // namespace

RandomSlots::RandomSlots(std::uint64_t units, const SgdPlan& plan, BitSource& bits)
    : fresh_(plan.fresh_permutations), bits_(bits) {
  slots_.resize(std::min<std::uint64_t>(units, kEmptySlot));
  std::iota(slots_.begin(), slots_.end(), 0);
  if (slots_.size() > plan.records) shuffle(bits_, std::span(slots_));
  slots_.resize(plan.records, kEmptySlot);
  shuffle(bits_, std::span(slots_));
}

std::span<const std::uint32_t> RandomSlots::operator()(std::uint64_t pass) {
  if (fresh_ && pass > 0) shuffle(bits_, std::span(slots_));
  return slots_;
}

std::vector<double> train(const Examples& examples, const Loss& loss, const SgdPlan& plan,
                          const SlotOrder& order) {
  plan.validate();
  if (examples.is_sparse()) return descend(SparseRows{examples}, loss, plan, order);
  return descend(DenseRows{examples}, loss, plan, order);
}

}  // namespace gauze
