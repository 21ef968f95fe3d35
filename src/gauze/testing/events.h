#pragma once

#include <string>
#include <utility>
#include <vector>

#include "gauze/accounting/event.h"

namespace gauze::testing {

// Short names for events in tests.

inline Event event(Event::Kind kind, std::uint64_t count = 1,
                   Relation relation = Relation::kAddRemove) {
  return {std::move(kind), relation, count};
}
inline Event gaussian(const char* sigma, const char* l2 = "1", std::uint64_t count = 1) {
  return event(events::Gaussian{parse_ratio(sigma), parse_ratio(l2)}, count);
}
inline Event laplace(const char* scale, const char* l1 = "1", std::uint64_t count = 1) {
  return event(events::Laplace{parse_ratio(scale), parse_ratio(l1)}, count);
}
inline Event discrete_laplace(const char* scale, const char* l1 = "1", std::uint64_t count = 1) {
  return event(events::DiscreteLaplace{parse_ratio(scale), parse_ratio(l1)}, count);
}
inline Event pure(const char* epsilon, std::uint64_t count = 1) {
  return event(events::Pure{parse_ratio(epsilon)}, count);
}
inline Event approximate(const char* epsilon, const char* delta, std::uint64_t count = 1) {
  return event(events::Approximate{parse_ratio(epsilon), parse_ratio(delta)}, count);
}
inline Event zcdp(const char* rho, std::uint64_t count = 1) {
  return event(events::Zcdp{parse_ratio(rho)}, count);
}
inline Event exponential(const char* epsilon, std::uint64_t count = 1) {
  return event(events::Exponential{parse_ratio(epsilon)}, count);
}
inline Event randomized_response(const char* p, std::uint64_t options, std::uint64_t count = 1) {
  return event(events::RandomizedResponse{parse_ratio(p), options}, count, Relation::kLocal);
}
inline Event poisson(const char* rate, std::vector<Event> events, std::uint64_t count = 1) {
  return event(events::PoissonSampled{parse_ratio(rate), std::move(events)}, count);
}
inline Event without_replacement(std::uint64_t sample, std::uint64_t population,
                                 std::vector<Event> events, std::uint64_t count = 1) {
  for (Event& part : events) part.relation = Relation::kReplace;
  return event(events::SampledWithoutReplacement{sample, population, std::move(events)}, count,
               Relation::kReplace);
}

}  // namespace gauze::testing
