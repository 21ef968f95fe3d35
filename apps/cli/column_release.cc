#include "column_release.h"

#include <algorithm>

#include "gauze/accounting/loss.h"
#include "gauze/base/address.h"
#include "gauze/base/error.h"
#include "gauze/engine/column_job.h"
#include "gauze/engine/meaning.h"
#include "gauze/engine/release.h"
#include "gauze/random/system_bits.h"
#include "numbers.h"
#include "progress.h"

namespace gauze::cli {
namespace {

std::string value_lines(const nlohmann::json& value) {
  if (value.is_array()) {
    std::string lines;
    for (const auto& item : value)
      lines.append(lines.empty() ? "" : "\n").append(value_lines(item));
    return lines;
  }
  if (value.is_object() && value.contains("released"))
    return value.contains("value") ? value_lines(value.at("value"))
                                   : "no value: none is clear enough on these rows";
  if (value.is_object()) {
    std::string lines;
    for (const auto& [name, item] : value.items()) {
      std::string words = value_lines(item);
      std::replace(words.begin(), words.end(), '\n', ' ');
      lines.append(lines.empty() ? "" : "\n").append(name).append("  ").append(words);
    }
    return lines;
  }
  if (value.is_number_float()) return nearest(value.get<double>(), 10);
  return value.is_string() ? value.get<std::string>() : value.dump();
}

/// Infinity has no JSON number.
Json printable(const nlohmann::json& value) {
  if (value.is_array()) {
    Json list = Json::array();
    for (const auto& item : value) list.push_back(printable(item));
    return list;
  }
  return value.is_number_float() ? finite(value.get<double>()) : Json(value);
}

}  // namespace

double quote_delta(const std::string& asked, const std::map<std::string, std::string>& options) {
  const auto own = options.find("delta");
  const double of_release = own == options.end() ? 0 : number(own->second, "--delta");
  const double delta =
      asked.empty() ? (of_release > 0 ? of_release : 1e-6) : number(asked, "--quote-delta");
  require(delta > 0 && delta < 1,
          asked.empty() ? "--delta: must be below 1, like 1e-6"
                        : "--quote-delta: must lie strictly between 0 and 1, like 1e-6");
  return delta;
}

Guarantee price_of(const Event& event, double delta) {
  const std::optional<Ratio> pure = pure_epsilon(event);
  Guarantee price = epsilon_at({event}, pure ? 0 : delta);
  // 0.3 is what the ledger writes; the double next to it is only there because 0.3 has no double.
  if (pure)
    if (const auto near = pure->convert_to<double>(); ratio_of_decimal(near) == *pure)
      price.epsilon = near;
  return price;
}

void print_release(const Release<nlohmann::json>& answer, const Guarantee& cost, bool json,
                   const std::string& counted, const std::string& left) {
  if (json) {
    return print_json({{"value", printable(answer.value)},
                       {"accuracy",
                        {{"half_width", finite(answer.accuracy.half_width)},
                         {"confidence", answer.accuracy.confidence},
                         {"of", answer.accuracy.of}}},
                       {"cost", {{"epsilon", finite(cost.epsilon)}, {"delta", cost.delta}}},
                       {"spent", Json::parse(to_json(answer.spent).dump())}});
  }
  if (!answer.value.is_null()) print_line(value_lines(answer.value));
  print_line();
  print_line("  accuracy   " + answer.accuracy.of + " within " + shown("±") + " " +
             upward(answer.accuracy.half_width) + " with probability " +
             nearest(answer.accuracy.confidence));
  print_line("  cost       " + shown("ε = ") + upward(cost.epsilon) +
             (cost.delta > 0 ? shown(" at δ = ") + upward(cost.delta) : "") + " under " +
             std::string(name(answer.spent.relation)) + ", by " + describe(answer.spent));
  print_line("             " + std::string(verdict(band(cost.epsilon, cost.delta))));
  if (!counted.empty()) print_line("  counted    " + counted);
  if (!left.empty()) print_line("  left       " + left);
}

Request request_for(const Workspace& workspace, const nlohmann::json& job, const Guarantee& cost) {
  const auto epsilon = job.at("options").find("epsilon");
  const Ratio asked =
      epsilon == job.at("options").end()
          ? ratio_of_decimal(cost.epsilon)
          : exact(epsilon->is_string() ? epsilon->get<std::string>() : epsilon->dump(), "epsilon");
  return workspace.request(job.dump(), asked, ratio_of_decimal(cost.delta));
}

void release_column(const ColumnRequest& request) {
  DataOptions data = request.data;
  if (data.rows_per_unit.empty()) data.rows_per_unit = "1";
  require(
      data.rows_per_unit == "1",
      "--rows-per-unit: is 1 here, for one row of each unit takes part; histograms and SQL take "
      "more");
  require(request.confidence > 0 && request.confidence < 1,
          "--confidence: must lie strictly between 0 and 1");
  Workspace workspace(data);
  const TableSchema& table = private_table(workspace.schema(), request.table);
  std::optional<Progress> progress;
  const ColumnJob job({.algorithm = request.algorithm,
                       .options = request.options,
                       .table = table,
                       .column = request.column,
                       .progress = until_drawn(progress, workspace.ledger() != nullptr)});
  const Guarantee cost = price_of(job.event(), request.quote_delta);
  refuse_weak(cost.epsilon, cost.delta, request.accept_weak);
  require(request.confidence == 0.95 || job.accuracy(request.confidence),
          "--confidence: must be 0.95 here, for the error bar comes with the noisy count");
  job.expect_columns(workspace.source());
  const nlohmann::json text = {{"algorithm", request.algorithm},
                               {"options", job.options()},
                               {"table", table.name},
                               {"column", request.column}};
  SystemBits bits;
  outlive_readers();
  progress.emplace();
  Release<nlohmann::json> answer =
      workspace.ledger() == nullptr
          ? release(job, workspace.source(), bits)
          : release(
                request_for(workspace, text, cost), job,
                [&]() -> Source& { return workspace.source(); }, *workspace.ledger(), bits);
  if (auto promise = job.accuracy(request.confidence)) answer.accuracy = *promise;
  const std::string counted = table.unit.kind == UnitSchema::Kind::kRow
                                  ? "each row is a privacy unit of its own"
                                  : "one row of each " + table.unit.column + ", chosen at random";
  const bool leaves_out =
      request.algorithm != "count" && table.find(request.column)->domain.nullable;
  const std::optional<Budget> left = workspace.left_after();
  hand_over(workspace.ledger() != nullptr, [&] {
    print_release(
        answer, cost, request.json,
        counted + (leaves_out ? "; rows without a value are left out" : ""),
        left ? shown(budget_text(*left)) + " in " + shown_address(workspace.ledger_path()) : "");
  });
}

}  // namespace gauze::cli
