#include "gauze/registry/values_task.h"

#include <algorithm>
#include <cstdio>

#include "gauze/base/error.h"

namespace gauze {
namespace {

/// With as many digits as people compare.
std::string number_text(double value) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%.10g", value);
  return buffer;
}

}  // namespace

std::string lines_of_value(const nlohmann::json& value) {
  if (value.is_array()) {
    std::string lines;
    for (const auto& item : value)
      lines.append(lines.empty() ? "" : "\n").append(lines_of_value(item));
    return lines;
  }
  if (value.is_object() && value.contains("released"))
    return value.contains("value") ? lines_of_value(value.at("value"))
                                   : "no value: none is clear enough on these rows";
  if (value.is_object()) {
    std::string lines;
    for (const auto& [name, item] : value.items()) {
      std::string words = lines_of_value(item);
      std::replace(words.begin(), words.end(), '\n', ' ');
      lines.append(lines.empty() ? "" : "\n").append(name).append("  ").append(words);
    }
    return lines;
  }
  if (value.is_number_float()) return number_text(value.get<double>());
  return value.is_string() ? value.get<std::string>() : value.dump();
}

Result result_of(const nlohmann::json& value) {
  Result result;
  result.json["value"] = value;
  result.text = lines_of_value(value);
  return result;
}

Task values_task(Event event, Task::Promise accuracy,
                 std::function<DrawValue(const Rows& rows)> read) {
  const auto read_rows = [read = std::move(read)](const Input& input, Context&) -> Task::Draw {
    const auto* const rows = std::get_if<Rows>(&input);
    if (rows == nullptr) throw Error(ErrorCode::kInternal, "the task takes plain rows");
    return [draw = read(*rows)](Context& context) {
      Release<nlohmann::json> answer = draw(context);
      return Release<Result>{result_of(answer.value), std::move(answer.accuracy),
                             std::move(answer.spent)};
    };
  };
  return {.event = std::move(event), .accuracy = std::move(accuracy), .read = read_rows};
}

}  // namespace gauze
