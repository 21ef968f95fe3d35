#include "gauze/learn/trainer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <vector>

#include "gauze/learn/sensitivity.h"
#include "gauze/random/uniform.h"
#include "gauze/testing/matchers.h"
#include "gauze/testing/seeded_bits.h"

namespace gauze {
namespace {

using testing::SeededBits;
using Row = std::vector<double>;

double uniform(BitSource& bits, double low, double high) {
  return low + (high - low) * static_cast<double>(bits.next() >> 11) * 0x1p-53;
}

struct Person {
  Row row;
  double label;
};

Person random_person(BitSource& bits, std::size_t dimension) {
  Person person{Row(dimension), bits.next() % 2 == 0 ? -1.0 : 1.0};
  for (double& value : person.row) value = uniform(bits, -1, 1);
  return person;
}

Examples examples_of(const std::vector<Person>& people, bool sparse = false) {
  const auto dimension = static_cast<std::uint32_t>(people.front().row.size());
  Examples examples = sparse ? Examples::sparse(dimension) : Examples::dense(dimension);
  for (const Person& person : people) {
    examples.start_unit();
    examples.add_row(person.row, person.label);
  }
  return examples;
}

SlotOrder in_order(std::vector<std::uint32_t> slots) {
  return
      [slots = std::move(slots)](std::uint64_t) -> std::span<const std::uint32_t> { return slots; };
}

SlotOrder as_they_stand(std::uint64_t records) {
  std::vector<std::uint32_t> slots(records);
  std::iota(slots.begin(), slots.end(), 0);
  return in_order(slots);
}

double distance(const Row& a, const Row& b) {
  double squares = 0;
  for (std::size_t i = 0; i < a.size(); ++i) squares += (a[i] - b[i]) * (a[i] - b[i]);
  return std::sqrt(squares);
}

// The plan as the textbook says it, without batches of storage, lanes or sparse rows.
Row plain_sgd(const std::vector<Person>& people, const Loss& loss, const SgdPlan& plan) {
  const std::size_t dimension = people.front().row.size();
  Row w(dimension), mean(dimension);
  std::uint64_t t = 0;
  for (std::uint64_t pass = 0; pass < plan.passes; ++pass) {
    for (std::size_t first = 0; first < people.size(); first += plan.batch) {
      const std::size_t end = std::min<std::size_t>(first + plan.batch, people.size());
      if (end - first < plan.batch && plan.tail == Tail::kDrop) break;
      Row sum(dimension);
      for (std::size_t i = first; i < end; ++i) {
        double score = 0;
        for (std::size_t j = 0; j < dimension; ++j) score += w[j] * people[i].row[j];
        const double slope = loss.slope(score, people[i].label);
        for (std::size_t j = 0; j < dimension; ++j) sum[j] += slope * people[i].row[j];
      }
      const double step = plan.schedule->step(++t);
      for (std::size_t j = 0; j < dimension; ++j) {
        w[j] = (1 - step * plan.regularisation) * w[j] -
               step / static_cast<double>(plan.batch) * sum[j];
      }
      const double norm = distance(w, Row(dimension));
      for (double& value : w) value *= std::min(1.0, plan.radius / norm);
      for (std::size_t j = 0; j < dimension; ++j) mean[j] += plan.weight(t) * w[j];
    }
  }
  return plan.average == Average::kLast ? w : mean;
}

// All numbers are short binary fractions, so that every operation is exact and its order cannot matter.
TEST(Trainer, IsPlainSgdBitForBitWhereArithmeticIsExact) {
  SeededBits bits(1);
  std::vector<Person> people;
  for (int i = 0; i < 7; ++i) {
    Person person{Row(5), bits.next() % 2 == 0 ? -1.0 : 1.0};
    for (double& value : person.row) value = static_cast<double>(bits.next() % 4) / 8;
    people.push_back(person);
  }
  for (const std::uint64_t batch : {1, 2, 4}) {
    const SgdPlan plan{.schedule = Schedule::constant(0.5),
                       .records = 7,
                       .batch = batch,
                       .regularisation = 0.25,
                       .tail = Tail::kKeep};
    const Row expected = plain_sgd(people, Loss::squared(100), plan);
    EXPECT_NE(expected, Row(5));
    EXPECT_EQ(train(examples_of(people), Loss::squared(100), plan, as_they_stand(7)), expected);
    EXPECT_EQ(train(examples_of(people, true), Loss::squared(100), plan, as_they_stand(7)),
              expected);
  }
}

TEST(Trainer, IsPlainSgdForEveryOption) {
  SeededBits bits(2);
  std::vector<Person> people;
  for (int i = 0; i < 53; ++i) people.push_back(random_person(bits, 6));
  for (Person& person : people) {
    for (double& value : person.row) value /= 4;
  }
  for (const Loss& loss : {Loss::logistic(), Loss::huber(0.2), Loss::squared(0.5)}) {
    for (const Average average : {Average::kLast, Average::kUniform, Average::kLinear}) {
      for (const Tail tail : {Tail::kDrop, Tail::kKeep}) {
        for (const double radius : {0.5, 0.05}) {
          const SgdPlan plan{.schedule = Schedule::square_root(3, 53, 0.2),
                             .records = 53,
                             .passes = 3,
                             .batch = 10,
                             .regularisation = 0.1,
                             .radius = radius,
                             .average = average,
                             .tail = tail};
          const Row expected = plain_sgd(people, loss, plan);
          for (const bool sparse : {false, true}) {
            EXPECT_LE(distance(train(examples_of(people, sparse), loss, plan, as_they_stand(53)),
                               expected),
                      1e-14);
          }
        }
      }
    }
  }
}

TEST(Trainer, TakesTheMeanOfAUnitsRowsAndNothingOfEmptySlots) {
  Examples rows = Examples::dense(2, 3);
  rows.start_unit();
  rows.add_row(Row{1, 0}, 1);
  rows.add_row(Row{0, 1}, 1);
  rows.start_unit();  // without rows
  const SgdPlan plan{.schedule = Schedule::constant(1), .records = 4, .batch = 2};
  const Row w = train(rows, Loss::squared(10), plan, in_order({kEmptySlot, 0, 1, kEmptySlot}));
  EXPECT_EQ(w, (Row{0.25, 0.25}));  // (1/2) mean of (1, 0) and (0, 1)
}

TEST(Trainer, RefusesOrdersOfAnotherPlan) {
  const Examples one = examples_of({{{0.5}, 1}});
  const SgdPlan plan{.schedule = Schedule::constant(1), .records = 2};
  EXPECT_ERROR(train(one, Loss::logistic(), plan, in_order({0})), ErrorCode::kInvalidInput);
  EXPECT_ERROR(train(one, Loss::logistic(), plan, in_order({0, 1})), ErrorCode::kInvalidInput);
}

// Check 6: one record with gradient ±1, all others without features.
TEST(Trainer, LinearLossesAttainTheSensitivity) {
  for (const std::uint64_t batch : {1, 5}) {
    const SgdPlan plan{
        .schedule = Schedule::constant(0.1), .records = 50, .passes = 4, .batch = batch};
    const Loss loss = Loss::huber(0.5);
    std::vector<Person> people(50, {{0}, 1});
    people[13] = {{1}, 1};
    const Row up = train(examples_of(people), loss, plan, as_they_stand(50));
    people[13].label = -1;
    const Row down = train(examples_of(people), loss, plan, as_they_stand(50));
    const double expected = batch == 1 ? 0.8 : 0.16;
    EXPECT_NEAR(distance(up, down), expected, 1e-12);
    EXPECT_NEAR(sgd_sensitivity(plan, loss.bounds(), Relation::kReplace).l2_sensitivity, expected,
                1e-12);
  }
}

// Check 32: with lambda = 0.01 no model leaves the ball of radius L / lambda, projected or not.
TEST(Trainer, RegularisedModelsStayInTheirBall) {
  SeededBits bits(3);
  std::vector<Person> people;
  for (int i = 0; i < 100; ++i) people.push_back({{1, uniform(bits, -1, 1)}, 1});
  SgdPlan plan{.schedule = Schedule::constant(1 / 1.01),
               .records = 100,
               .passes = 100,
               .regularisation = 0.01};
  const Row free = train(examples_of(people), Loss::logistic(), plan, as_they_stand(100));
  EXPECT_LE(distance(free, {0, 0}), 100);
  plan.radius = 100;
  EXPECT_EQ(train(examples_of(people), Loss::logistic(), plan, as_they_stand(100)), free);
}

// Each of the 24 placements of three units in four slots is expected 2,000 times in 48,000, standard
// deviation 44; one of them is six away with probability below 1e-7.
TEST(RandomSlots, AreUniform) {
  SeededBits bits(4);
  for (const bool fresh : {false, true}) {
    SgdPlan plan{.schedule = Schedule::constant(1), .records = 4, .passes = 2};
    plan.fresh_permutations = fresh;
    std::map<std::vector<std::uint32_t>, int> seen;
    int changed = 0;
    for (int i = 0; i < 48000; ++i) {
      RandomSlots slots(3, plan, bits);
      const auto first = slots(0);
      const std::vector<std::uint32_t> before(first.begin(), first.end());
      const auto second = slots(1);
      const std::vector<std::uint32_t> after(second.begin(), second.end());
      changed += before != after ? 1 : 0;
      ++seen[after];
    }
    EXPECT_EQ(seen.size(), 24u);
    for (const auto& [order, count] : seen) EXPECT_NEAR(count, 2000, 6 * 44);
    EXPECT_EQ(changed > 0, fresh);
  }
}

TEST(RandomSlots, LeaveOutRandomUnitsWhereThereAreTooMany) {
  SeededBits bits(5);
  const SgdPlan plan{.schedule = Schedule::constant(1), .records = 2};
  std::map<std::vector<std::uint32_t>, int> seen;
  for (int i = 0; i < 24000; ++i) {
    RandomSlots slots(4, plan, bits);
    const auto order = slots(0);
    ++seen[{order.begin(), order.end()}];
  }
  EXPECT_EQ(seen.size(), 12u);
  for (const auto& [order, count] : seen) EXPECT_NEAR(count, 2000, 6 * 43);
}

Schedule random_schedule(BitSource& bits, const LossBounds& loss, double lambda,
                         std::uint64_t records) {
  const double smoothness = loss.smoothness + lambda;
  switch (bits.next() % 4) {
    case 0:
      return Schedule::constant(uniform(bits, 0.1, 2) / (loss.smoothness + 2 * lambda));
    case 1:
      return Schedule::decreasing(smoothness, records, uniform(bits, 0, 0.9));
    case 2:
      return Schedule::square_root(smoothness, records, uniform(bits, 0, 0.9));
    default:
      return lambda > 0 ? Schedule::strongly_convex(smoothness, lambda)
                        : Schedule::constant(1 / smoothness);
  }
}

// Check 10: pairs that differ in one slot, in floating point. Half of them are made to move far: every
// row points the same way.
TEST(SgdSensitivity, IsNeverExceededByNeighbours) {
  SeededBits bits(6);
  double largest = 0;
  for (int trial = 0; trial < 1500; ++trial) {
    const std::size_t dimension = 1 + bits.next() % 5;
    const std::uint64_t records = 3 + bits.next() % 40;
    const double lambda = bits.next() % 2 == 0 ? 0 : uniform(bits, 0.001, 0.5);
    const double radius = uniform(bits, 0.2, 3);
    const std::vector<Loss> losses = {Loss::logistic(), Loss::huber(uniform(bits, 0.05, 1)),
                                      Loss::squared(radius), Loss::logistic().weighted(0.5, 2)};
    const Loss loss = losses[bits.next() % 4];
    SgdPlan plan{.schedule = random_schedule(bits, loss.bounds(), lambda, records),
                 .records = records,
                 .passes = 1 + bits.next() % 4,
                 .batch = 1 + bits.next() % std::min<std::uint64_t>(7, records),
                 .regularisation = lambda};
    if (loss.kind() == Loss::Kind::kSquared || bits.next() % 2 == 0) plan.radius = radius;
    plan.average = static_cast<Average>(bits.next() % 3);
    plan.tail = bits.next() % 2 == 0 ? Tail::kDrop : Tail::kKeep;
    plan.fresh_permutations = bits.next() % 2 == 0;

    std::vector<Person> people;
    for (std::uint64_t i = 0; i < records; ++i) people.push_back(random_person(bits, dimension));
    const std::size_t changed = bits.next() % records;
    if (bits.next() % 2 == 0) {
      for (Person& person : people) person.row.assign(dimension, bits.next() % 8 == 0 ? 1.0 : 0.0);
      people[changed] = {Row(dimension, 1.0), 1};
    }
    std::vector<Person> others = people;
    others[changed] = random_person(bits, dimension);
    if (bits.next() % 2 == 0) {
      others[changed] = people[changed];
      others[changed].label *= -1;
    }
    const bool sparse = bits.next() % 2 == 0;
    const bool emptied = bits.next() % 4 == 0;

    std::vector<std::vector<std::uint32_t>> orders;
    RandomSlots slots(records, plan, bits);
    for (std::uint64_t pass = 0; pass < plan.passes; ++pass) {
      const auto order = slots(pass);
      orders.emplace_back(order.begin(), order.end());
    }
    const auto model = [&](const std::vector<Person>& data, bool without) {
      auto mine = orders;
      for (auto& order : mine) {
        if (without)
          std::replace(order.begin(), order.end(), static_cast<std::uint32_t>(changed), kEmptySlot);
      }
      return train(
          examples_of(data, sparse), loss, plan,
          [&](std::uint64_t pass) -> std::span<const std::uint32_t> { return mine[pass]; });
    };
    const ModelSensitivity bound =
        sgd_sensitivity(plan, loss.bounds(), Relation::kReplace,
                        {.dimension = static_cast<std::uint32_t>(dimension)});
    const double moved = distance(model(people, false), model(others, emptied));
    ASSERT_LE(moved, bound.total()) << "trial " << trial;
    largest = std::max(largest, moved / bound.total());
  }
  EXPECT_GT(largest, 0.9);  // and the bound is no idle one
}

// Where the bound is attained exactly, double arithmetic goes beyond it: `rounding` is not idle either.
TEST(SgdSensitivity, NeedsItsRounding) {
  int beyond = 0;
  for (int i = 1; i <= 40; ++i) {
    const SgdPlan plan{.schedule = Schedule::constant(0.001 * i), .records = 3, .passes = 10};
    std::vector<Person> people(3, {{0}, 1});
    people[0] = {{1}, 1};
    people[1] = {{0.7}, 1};
    const Row up = train(examples_of(people), Loss::huber(0.5), plan, as_they_stand(3));
    people[0].label = -1;
    const Row down = train(examples_of(people), Loss::huber(0.5), plan, as_they_stand(3));
    const ModelSensitivity bound =
        sgd_sensitivity(plan, Loss::huber(0.5).bounds(), Relation::kReplace);
    beyond += distance(up, down) > bound.l2_sensitivity ? 1 : 0;
    EXPECT_LE(distance(up, down), bound.total()) << i;
  }
  EXPECT_GT(beyond, 0);
}

}  // namespace
}  // namespace gauze
