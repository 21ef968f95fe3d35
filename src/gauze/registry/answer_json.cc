#include "gauze/registry/answer_json.h"

#include <cmath>

#include "gauze/base/error.h"
#include "gauze/base/words.h"

namespace gauze {
namespace {

using Json = nlohmann::ordered_json;

Json value_json(const Value& value) {
  if (const auto* x = std::get_if<bool>(&value)) return *x;
  if (const auto* x = std::get_if<std::int64_t>(&value)) return *x;
  if (const auto* x = std::get_if<double>(&value)) return finite(*x);
  if (const auto* x = std::get_if<Ratio>(&value)) return finite(x->convert_to<double>());
  if (std::holds_alternative<std::monostate>(value)) return nullptr;
  return to_text(value);
}

}  // namespace

Json finite(double value) {
  if (std::isfinite(value)) return value;
  return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
}

Json rows_json(const Answer& answer) {
  Json rows = Json::array();
  for (const auto& row : answer.rows) {
    Json cells = Json::object();
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string& name = answer.columns[i].name;
      cells[name] = value_json(row[i].value);
      if (row[i].half_width) cells[half_width_name(name)] = finite(*row[i].half_width);
    }
    rows.push_back(std::move(cells));
  }
  return rows;
}

std::string half_width_name(const std::string& column) {
  return column + "_half_width";
}

void refuse_equal_names(const std::vector<Answer::Column>& columns) {
  std::vector<std::string> names;
  for (const Answer::Column& column : columns) {
    names.push_back(column.name);
    if (!column.is_key) names.push_back(half_width_name(column.name));
  }
  for (std::size_t i = 0; i < names.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (!same_name(names[i], names[j])) continue;
      throw Error(ErrorCode::kInvalidOption,
                  "two columns of the answer would be called '" + names[i].substr(0, 100) +
                      "', for the error bar of a column n is called n_half_width; rename one "
                      "with AS");
    }
  }
}

}  // namespace gauze
