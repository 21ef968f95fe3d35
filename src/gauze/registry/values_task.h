#pragma once

#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gauze/registry/task.h"

// Tasks from typed mechanisms that take rows and release a value:
//
//     Task task = task_of(Sum({.lower = 0, ...}), numbers);
//     Release<Result> answer = task.run(Rows({"1", "2"}), context);
namespace gauze {

/// A value as a result: under "value" in JSON, in plain words as text.
Result result_of(const nlohmann::json& value);

/// A value in plain words, one line or several.
std::string lines_of_value(const nlohmann::json& value);

/// Draws a value from rows that were read before; may be called again.
using DrawValue = std::function<Release<nlohmann::json>(Context& context)>;

/// The task of what reads rows and draws a value. Its input must be `Rows`.
Task values_task(Event event, Task::Promise accuracy,
                 std::function<DrawValue(const Rows& rows)> read);

/// Who may know how long the input is.
enum class Length : std::uint8_t { kPublic, kPrivate };

/// How accurate a mechanism is, as a task states it. A mechanism whose accuracy depends on the input's
/// length promises it beforehand only if that length is public.
template <Length length = Length::kPublic, class Mechanism>
Task::Promise promise_of(const std::shared_ptr<const Mechanism>& mechanism) {
  return [mechanism](std::uint64_t size, double confidence) -> std::optional<Accuracy> {
    if constexpr (
        requires { mechanism->accuracy(confidence).half_width; } &&
        !requires { mechanism->accuracy(size, confidence); }) {
      return mechanism->accuracy(confidence);
    } else if constexpr (length == Length::kPublic) {
      return mechanism->accuracy(size, confidence);
    } else {
      return std::nullopt;
    }
  };
}

/// A task from a mechanism and a function that turns rows into its input.
template <Length length = Length::kPublic, class Mechanism, class Read>
Task task_of(Mechanism mechanism, Read read) {
  const auto shared = std::make_shared<const Mechanism>(std::move(mechanism));
  return values_task(
      shared->event(), promise_of<length>(shared), [shared, read](const Rows& rows) -> DrawValue {
        return [shared, input = read(rows)](Context& context) {
          auto answer = shared->run(input, context);
          return Release<nlohmann::json>{nlohmann::json(std::move(answer.value)),
                                         std::move(answer.accuracy), std::move(answer.spent)};
        };
      });
}

/// How a task reads one number of each person.
inline std::vector<double> numbers(const Rows& rows) {
  return rows.numbers();
}

}  // namespace gauze
