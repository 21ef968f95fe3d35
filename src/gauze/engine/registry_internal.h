#pragma once

#include <memory>
#include <utility>

#include "gauze/engine/registry.h"
#include "gauze/mechanism/selection_choice.h"

// The parts of the table, one function per family, and what their entries share.
namespace gauze::internal {

std::vector<Algorithm> additive_algorithms();
std::vector<Algorithm> choice_algorithms();
std::vector<Algorithm> threshold_algorithms();
std::vector<Algorithm> adaptive_algorithms();
std::vector<Algorithm> statistics_algorithms();
std::vector<Algorithm> stability_algorithms();
std::vector<Algorithm> sequence_algorithms();
std::vector<Algorithm> key_algorithms();
std::vector<Algorithm> histogram_algorithms();

/// Who may know how long the input is.
enum class Length : std::uint8_t { kPublic, kPrivate };

/// A job from a mechanism and a function that turns rows into its input. A mechanism whose accuracy
/// depends on the input's length promises it beforehand only if that length is public.
template <Length length = Length::kPublic, class Mechanism, class Read>
Job job_of(Mechanism mechanism, Read read) {
  const auto shared = std::make_shared<const Mechanism>(std::move(mechanism));
  const auto accuracy = [shared](std::uint64_t size, double confidence) -> std::optional<Accuracy> {
    if constexpr (
        requires { shared->accuracy(confidence).half_width; } &&
        !requires { shared->accuracy(size, confidence); }) {
      return shared->accuracy(confidence);
    } else if constexpr (length == Length::kPublic) {
      return shared->accuracy(size, confidence);
    } else {
      return std::nullopt;
    }
  };
  return Job(shared->event(), accuracy, [shared, read](const Rows& rows) {
    return [shared, input = read(rows)](Context& context) {
      auto answer = shared->run(input, context);
      return Release<nlohmann::json>{nlohmann::json(std::move(answer.value)),
                                     std::move(answer.accuracy), std::move(answer.spent)};
    };
  });
}

/// How a job reads one number of each person.
inline std::vector<double> numbers(const Rows& rows) {
  return rows.numbers();
}

/// When to take the algorithm that is chosen for a task, as `gauze describe` says it.
inline std::string reason_for(const char* facts, const SelectionTask& task) {
  const SelectionChoice choice = choose_selection(task);
  return std::string(facts) + ": " + std::string(choice.reason) +
         ". For counts under add_remove say monotone.";
}

inline OptionSpec epsilon_option() {
  return {"epsilon", OptionSpec::Type::kNumber, "what the release may cost, above 0; 0.1 is strong",
          ""};
}

/// `fallback` is "" where the C++ options require it.
inline OptionSpec relation_option(const char* fallback) {
  return {"relation", OptionSpec::Type::kText,
          "what makes two data sets neighbours: add_remove (one person more or less) or replace "
          "(one person changed)",
          fallback};
}

}  // namespace gauze::internal
