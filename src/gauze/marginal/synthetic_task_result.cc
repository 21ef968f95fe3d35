#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "gauze/marginal/synthetic_result_internal.h"
#include "gauze/numeric/decimal_text.h"
#include "gauze/registry/answer_json.h"
#include "gauze/registry/wording.h"

namespace gauze::internal {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kRowsForPeople = 10;
/// Of logarithms, beliefs, slopes and the next step's.
constexpr std::uint64_t kBytesOfACell = 4 * sizeof(double);

Json names_of(const Clique& clique, const Encoding& encoding) {
  Json names = Json::array();
  for (const std::uint32_t column : clique) names.push_back(encoding.columns[column].name());
  return names;
}

Json columns_json(const Encoding& encoding) {
  Json columns = Json::array();
  for (const ColumnEncoding& each : encoding.columns)
    columns.push_back({{"name", each.name()},
                       {"type", name(each.type())},
                       {"cells", each.cells()},
                       {"nulls", each.has_nulls()},
                       {"by", each.by()}});
  return columns;
}

Json json_of(const SyntheticMaker& maker, const SyntheticRows& made, const Accuracy& accuracy) {
  const Encoding& encoding = maker.encoding;
  Json measured = Json::array(), fit = Json::array(), cliques = Json::array();
  for (const MeasuredTable& each : made.measured)
    measured.push_back({{"columns", names_of(each.clique, encoding)},
                        {"cells", each.values.size()},
                        {"round", each.round},
                        {"sigma", round_up(each.sigma)},
                        {"rho", round_up(each.rho)}});
  for (const TableFit& each : made.fit)
    fit.push_back({{"columns", names_of(each.clique, encoding)},
                   {"distance", each.distance},
                   {"expected", each.expected}});
  for (const Clique& each : made.cliques) cliques.push_back(names_of(each, encoding));
  return {{"method", {{"algorithm", maker.algorithm}, {"note", made.note}}},
          {"synthetic", {{"rows", made.rows.rows()}}},
          {"columns", columns_json(encoding)},
          {"total", {{"n", made.total.total}, {"n_half_width", finite(accuracy.half_width)}}},
          {"rho",
           {{"budget", round_down(made.budget)},
            {"measured", round_up(made.measured_rho)},
            {"chosen", round_up(made.chosen_rho)},
            {"prepared", 0},
            {"checked", 0}}},
          {"measured", std::move(measured)},
          {"model",
           {{"cliques", std::move(cliques)},
            {"cells", made.cells},
            {"bytes", made.cells * kBytesOfACell}}},
          {"fit", std::move(fit)},
          {"quality", nullptr}};
}

/// What was released as numbers, as many for all inputs: columns as they were measured first, then of all
/// larger tables their number and the sums of first cells and of all cells by precision, then rows.
Json value_of(const SyntheticRows& made) {
  Json value = Json::array();
  double tables = 0, first = 0, all = 0;
  for (const MeasuredTable& each : made.measured) {
    if (each.round == 0)
      for (const std::int64_t count : each.values) value.push_back(count);
    if (each.round == 0) continue;
    const double precision = 1 / round_up(Ratio(each.sigma * each.sigma));
    double sum = 0;
    for (const std::int64_t count : each.values) sum += static_cast<double>(count);
    tables += 1;
    first += precision * static_cast<double>(each.values.front());
    all += precision * sum / static_cast<double>(each.values.size());
  }
  for (const double number : {tables, first, all}) value.push_back(number);
  value.push_back(made.rows.rows());
  for (const auto& column : made.rows.columns)
    value.push_back(std::count(column.begin(), column.end(), 0u));
  return value;
}

Answer answer_of(const SyntheticRows& made, const Encoding& encoding, std::size_t rows,
                 BitSource& bits) {
  Answer answer;
  for (const ColumnEncoding& each : encoding.columns)
    answer.columns.push_back({each.name(), each.type(), true});
  answer.rows.reserve(rows);
  for (std::size_t row = 0; row < rows; ++row) {
    auto& cells = answer.rows.emplace_back();
    cells.reserve(encoding.columns.size());
    for (std::size_t column = 0; column < encoding.columns.size(); ++column)
      cells.push_back({encoding.columns[column].decoded(made.rows.columns[column][row], bits), {}});
  }
  return answer;
}

std::vector<Note> notes_of(const SyntheticRows& made, const Accuracy& accuracy) {
  const Answer::Cell total{made.total.total, accuracy.half_width};
  std::vector<Note> notes = {
      {"in all", value_text(total, Type::kDouble) + " " + half_width_text(total) +
                     " private rows; " + grouped(made.rows.rows()) + " are made up"},
      {"measured", std::to_string(made.measured.size()) +
                       (made.measured.size() == 1 ? " table" : " tables") + " of " +
                       std::to_string(made.rows.columns.size()) +
                       (made.rows.columns.size() == 1 ? " column" : " columns") +
                       "; all else follows from the model"}};
  if (!made.note.empty()) notes.push_back({"method", made.note});
  notes.push_back({"error", "no row is a person; counts of few rows are mostly noise"});
  return notes;
}

}  // namespace

Result SyntheticMaker::operator()(const SyntheticRows& made, const Accuracy& accuracy,
                                  BitSource& bits) const {
  Result result;
  if (wanted == Asked::Wanted::kValue) {
    result.json["value"] = value_of(made);
    return result;
  }
  result.title = title;
  result.json = json_of(*this, made, accuracy);
  result.notes = notes_of(made, accuracy);
  // Without a summary people see the table, which is not drawn as bars.
  const bool all = wanted == Asked::Wanted::kAll;
  result.table = answer_of(
      made, encoding, all ? made.rows.rows() : std::min(made.rows.rows(), kRowsForPeople), bits);
  return result;
}

}  // namespace gauze::internal
