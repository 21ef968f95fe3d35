#include "gauze/learn/minimiser.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "gauze/base/error.h"
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

std::vector<Person> random_people(BitSource& bits, std::size_t count, std::size_t dimension) {
  std::vector<Person> people;
  for (std::size_t i = 0; i < count; ++i) {
    Person person{Row(dimension), bits.next() % 3 == 0 ? -1.0 : 1.0};
    for (double& value : person.row) value = uniform(bits, -0.5, 1);
    people.push_back(person);
  }
  return people;
}

Examples examples_of(const std::vector<Person>& people, std::uint32_t dimension,
                     bool sparse = false) {
  Examples examples = sparse ? Examples::sparse(dimension) : Examples::dense(dimension);
  for (const Person& person : people) {
    examples.start_unit();
    examples.add_row(person.row, person.label);
  }
  return examples;
}

double distance(const Row& a, const Row& b) {
  double squares = 0;
  for (std::size_t i = 0; i < a.size(); ++i) squares += (a[i] - b[i]) * (a[i] - b[i]);
  return std::sqrt(squares);
}

// One feature: the minimiser is where the derivative, which grows, passes 0.
double by_bisection(const std::vector<Person>& people, const Objective& objective) {
  long double low = -1e4, high = 1e4;
  for (int i = 0; i < 200; ++i) {
    const long double w = (low + high) / 2;
    long double derivative = static_cast<long double>(objective.lambda) * w;
    for (const Person& person : people) {
      const double x = person.row[0];
      derivative += static_cast<long double>(
                        objective.loss.slope(static_cast<double>(w * x), person.label) * x) /
                    static_cast<long double>(objective.records);
    }
    (derivative < 0 ? low : high) = w;
  }
  return static_cast<double>(low);
}

TEST(Minimiser, IsWhereTheDerivativeVanishes) {
  SeededBits bits(1);
  for (const Loss& loss : {Loss::logistic(), Loss::huber(0.1), Loss::logistic().weighted(3, 0.5)}) {
    for (const double lambda : {1e-3, 0.1, 2.0}) {
      const auto people = random_people(bits, 37, 1);
      const Objective objective{loss, lambda, 40};
      const double expected = by_bisection(people, objective);
      for (const bool sparse : {false, true}) {
        const Minimum fit = minimise(examples_of(people, 1, sparse), objective, 1e-9);
        EXPECT_LE(fit.distance, 1e-9);
        EXPECT_LE(std::fabs(fit.model[0] - expected), fit.distance + 1e-12);
      }
    }
  }
}

// A coarse fit lies within what it states of a far finer one.
TEST(Minimiser, CertifiesItsDistance) {
  SeededBits bits(2);
  for (int trial = 0; trial < 60; ++trial) {
    const auto people = random_people(bits, 50 + bits.next() % 200, 8);
    const Loss loss = trial % 2 == 0 ? Loss::logistic() : Loss::huber(uniform(bits, 0.05, 1));
    const Objective objective{loss, uniform(bits, 0.001, 0.3), people.size()};
    const Examples examples = examples_of(people, 8, trial % 3 == 0);
    const Minimum fine = minimise(examples, objective, 1e-10);
    for (const double asked : {1.0, 1e-2, 1e-5}) {
      const Minimum fit = minimise(examples, objective, asked);
      EXPECT_LE(fit.distance, asked);
      EXPECT_LE(distance(fit.model, fine.model), fit.distance + fine.distance);
    }
  }
}

// Pairs that differ in one person, and pairs in which one is gone: never further than sensitivity and twice the
// solver's distance.
TEST(MinimiserSensitivity, IsNeverExceededByNeighbours) {
  SeededBits bits(3);
  double largest = 0;
  for (int trial = 0; trial < 300; ++trial) {
    const std::size_t count = 5 + bits.next() % 40;
    auto people = random_people(bits, count, 3);
    const Loss loss = trial % 2 == 0 ? Loss::logistic() : Loss::huber(uniform(bits, 0.05, 1));
    const Objective objective{loss, uniform(bits, 0.01, 5), count};
    const Relation relation = bits.next() % 2 == 0 ? Relation::kReplace : Relation::kAddRemove;
    const double allowed = minimiser_sensitivity(1, objective.lambda, count, relation);
    if (trial % 3 == 0) {
      for (Person& person : people) person.row = {0, 0, 0};
      people[0].row = {1, 0, 0};
    }
    const Minimum one = minimise(examples_of(people, 3), objective, allowed * 1e-5);
    if (relation == Relation::kReplace) {
      people[0].label *= -1;
    } else {
      people.erase(people.begin());
    }
    const Minimum other = minimise(examples_of(people, 3), objective, allowed * 1e-5);
    const double moved = distance(one.model, other.model);
    ASSERT_LE(moved, allowed * (1 + 2e-5) * (1 + 1e-12)) << trial;
    largest = std::max(largest, moved / allowed);
  }
  EXPECT_GT(largest, 0.95);
}

TEST(Minimiser, ReachesTheDistanceItIsCertainOf) {
  SeededBits bits(4);
  for (const double lambda : {1e-3, 1e-2, 1.0}) {
    for (const std::size_t units : {0u, 1u, 400u, 800u}) {
      const auto people = random_people(bits, units, 5);
      const Objective objective{Loss::logistic(), lambda, 400};
      const double certain = certain_distance(objective, {5, 1}, Relation::kAddRemove);
      EXPECT_LT(certain, 0.01 * minimiser_sensitivity(1, lambda, 400, Relation::kAddRemove));
      EXPECT_LE(minimise(examples_of(people, 5), objective, certain).distance, certain);
    }
  }
}

TEST(Minimiser, CanBeCancelledAtEveryStep) {
  SeededBits bits(5);
  const Examples examples = examples_of(random_people(bits, 50, 3), 3);
  int steps = 0;
  const auto cancel = [&] {
    if (++steps == 3) throw Error(ErrorCode::kBusy, "cancelled");
  };
  EXPECT_ERROR(minimise(examples, {Loss::logistic(), 1e-3, 50}, 1e-9, cancel), ErrorCode::kBusy);
  EXPECT_EQ(steps, 3);
}

TEST(Minimiser, RefusesWhatItCannotCertify) {
  const Examples one = examples_of({{{1}, 1}}, 1);
  EXPECT_ERROR(minimise(one, {Loss::hinge(), 1, 1}, 1), ErrorCode::kInvalidOption);
  EXPECT_ERROR(minimise(one, {Loss::squared(1), 1, 1}, 1), ErrorCode::kInvalidOption);
  EXPECT_ERROR(minimise(one, {Loss::logistic(), 0, 1}, 1), ErrorCode::kInvalidOption);
  EXPECT_ERROR(minimise(one, {Loss::logistic(), 1, 0}, 1), ErrorCode::kInvalidOption);
  EXPECT_ERROR(minimise(one, {Loss::logistic(), 1, 1}, 0), ErrorCode::kInvalidOption);
  EXPECT_ERROR(certain_distance({Loss::logistic(), 1e-9, 100}, {100, 1}, Relation::kReplace),
               ErrorCode::kInvalidOption);
}

}  // namespace
}  // namespace gauze
