#include "gauze/accounting/event.h"

#include <nlohmann/json.hpp>

#include "gauze/accounting/loss.h"
#include "gauze/testing/events.h"
#include "gauze/testing/matchers.h"

namespace gauze {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace): the event builders
using nlohmann::json;

std::vector<Event> one_of_each() {
  return {laplace("7/3", "2", 5),
          discrete_laplace("0.1", "3"),
          gaussian("1e-9", "1/3"),
          event(events::DiscreteGaussian{5, 2, 1}),
          pure("0.1"),
          approximate("0", "1e-300"),
          zcdp("1/7"),
          event(events::Rdp{{1.5, 2}, {0.1, std::numeric_limits<double>::infinity()}}),
          randomized_response("2/3", 4),
          exponential("1"),
          event(events::PermuteAndFlip{1}),
          event(events::SparseVector{Ratio(1, 3), Ratio(1, 7), 4}),
          poisson("0.0042666667", {gaussian("1.1"), laplace("2")}, 14063),
          without_replacement(3, 10, {laplace("1")}),
          event(events::Composed{{pure("1"), gaussian("2")}}, (std::uint64_t{1} << 63) - 1)};
}

TEST(EventJson, GivesBackEveryKindExactly) {
  const std::vector<Event> events = one_of_each();
  for (const Event& e : events) {
    EXPECT_EQ(event_from_json(json::parse(to_json(e).dump())), e) << to_json(e).dump();
  }
  EXPECT_EQ(events_from_json(json::parse(to_json(events).dump())), events);
}

TEST(EventJson, ReadsTenthsAsTenths) {
  const Event e = event_from_json(json::parse(R"({"type": "pure", "epsilon": 0.1})"));
  EXPECT_EQ(std::get<events::Pure>(e.kind).epsilon, parse_ratio("1/10"));
}

TEST(EventJson, PartsInheritTheRelationOfTheirWrapper) {
  const Event e = event_from_json(json::parse(
      R"({"type":"sampled_without_replacement","sample":1,"population":2,"event":{"type":"pure","epsilon":1}})"));
  EXPECT_EQ(e.relation, Relation::kReplace);
  EXPECT_EQ(std::get<events::SampledWithoutReplacement>(e.kind).events[0].relation,
            Relation::kReplace);
}

TEST(EventJson, RejectsWhatItCannotRead) {
  const auto read = [](const char* text) { return events_from_json(json::parse(text)); };
  EXPECT_ERROR(read("3"), ErrorCode::kInvalidInput);
  EXPECT_ERROR(read(R"({"version": 2, "events": []})"), ErrorCode::kInvalidInput);
  EXPECT_ERROR(read(R"([{"type": "laplace", "scale": 1}])"), ErrorCode::kInvalidInput);
  EXPECT_ERROR(read(R"([{"type": "laplacian"}])"), ErrorCode::kUnknownName);
  EXPECT_ERROR(read(R"([{"type": "pure", "epsilon": 1, "delta": 0}])"), ErrorCode::kUnknownName);
  EXPECT_ERROR(read(R"([{"type": "pure", "epsilon": "NaN"}])"), ErrorCode::kInvalidInput);
  EXPECT_ERROR(read(R"([{"type": "pure", "epsilon": -1}])"), ErrorCode::kInvalidOption);
  EXPECT_ERROR(read(R"([{"type": "pure", "epsilon": 1, "count": 0}])"), ErrorCode::kInvalidOption);
  EXPECT_ERROR(read(R"([{"type": "pure", "epsilon": 1, "count": -3}])"), ErrorCode::kInvalidInput);
  EXPECT_ERROR(read(R"([{"type": "pure", "epsilon": 1, "relation": "near"}])"),
               ErrorCode::kUnknownName);
  EXPECT_ERROR(read(R"([{"type": "composed", "events": []}])"), ErrorCode::kInvalidOption);
  std::string deep = R"({"type":"pure","epsilon":1})";
  for (int i = 0; i < 40; ++i) deep = R"({"type":"composed","event":)" + deep + "}";
  EXPECT_ERROR(read(deep.c_str()), ErrorCode::kInvalidInput);
}

TEST(Event, ChecksItsParameters) {
  for (const Event& e : one_of_each()) e.validate();
  EXPECT_ERROR(laplace("0").validate(), ErrorCode::kInvalidOption);
  EXPECT_ERROR(gaussian("-1").validate(), ErrorCode::kInvalidOption);
  EXPECT_ERROR(discrete_laplace("1", "1/2").validate(), ErrorCode::kInvalidOption);
  EXPECT_ERROR(approximate("1", "1.1").validate(), ErrorCode::kInvalidOption);
  EXPECT_ERROR(randomized_response("1/3", 2).validate(), ErrorCode::kInvalidOption);
  EXPECT_ERROR(poisson("0", {pure("1")}).validate(), ErrorCode::kInvalidOption);
  EXPECT_ERROR(without_replacement(3, 2, {pure("1")}).validate(), ErrorCode::kInvalidOption);
}

TEST(Event, SamplersKeepToTheRelationTheyAreProvedFor) {
  // Parts and wrapper agree on the relation, so it is the sampler that is refused.
  for (const Relation relation : {Relation::kAddRemove, Relation::kReplace}) {
    const Event noise = event(events::Gaussian{1, 1}, 1, relation);
    const Event poissonian = event(events::PoissonSampled{Ratio(1, 10), {noise}}, 1, relation);
    const Event fixed = event(events::SampledWithoutReplacement{1, 2, {noise}}, 1, relation);
    const bool add_remove = relation == Relation::kAddRemove;
    (add_remove ? poissonian : fixed).validate();
    EXPECT_ERROR((add_remove ? fixed : poissonian).validate(), ErrorCode::kCannotCompose);
  }
}

TEST(Loss, IsExactWhereItIsRational) {
  EXPECT_EQ(*pure_epsilon(laplace("7/3", "2", 5)), parse_ratio("30/7"));
  EXPECT_EQ(*zcdp_rho(gaussian("2", "1", 8)), 1);
  EXPECT_EQ(*zcdp_rho(exponential("2")), parse_ratio("1/2"));
  EXPECT_EQ(*zcdp_rho(event(events::PermuteAndFlip{2})), 2);
  EXPECT_FALSE(pure_epsilon(gaussian("1")).has_value());
  EXPECT_FALSE(zcdp_rho(approximate("1", "1e-9")).has_value());
  const auto loss = approximate_loss(approximate("0.1", "1e-6", 10));
  EXPECT_EQ(loss->epsilon, 1);
  EXPECT_EQ(loss->delta, parse_ratio("1e-5"));
}

// Two-coin randomised response tells the truth with probability 3/4.
TEST(Loss, TwoCoinRandomizedResponseCostsLnThree) {
  const double epsilon = round_up(*pure_epsilon(randomized_response("0.75", 2)));
  EXPECT_NEAR(epsilon, 1.098612, 1e-6);
  EXPECT_GE(epsilon, std::log(3.0));
}

}  // namespace
}  // namespace gauze
