#include "gauze/engine/release.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "column_release.h"
#include "command.h"
#include "data_flags.h"
#include "gauze/base/error.h"
#include "gauze/engine/column_job.h"
#include "gauze/engine/meaning.h"
#include "gauze/engine/registry.h"
#include "gauze/random/system_bits.h"
#include "histogram_release.h"
#include "option_flags.h"
#include "stream_release.h"
#include "text.h"

namespace gauze::cli {
namespace {

struct ReleaseRequest {
  std::map<std::string, std::string> options;  ///< only those that were given
  std::string file = "-";
  ColumnChoice column;
  DataOptions data;  ///< the form on tables
  std::string table;
  std::string confidence = "0.95";
  std::string delta;  ///< to quote the cost at
  bool accept_weak = false;
  bool json = false;
};

/// One row per line of a file: everything that can fail fails before a row is read.
void release_file(const Algorithm& algorithm, const ReleaseRequest& request, double confidence,
                  double delta) {
  const Job job = algorithm.make(OptionValues(algorithm.options, request.options));
  const Guarantee cost = price_of(job.event(), delta);
  refuse_weak(cost.epsilon, cost.delta, request.accept_weak);
  if (!job.accuracy(1, confidence) && confidence != 0.95) {
    throw Error(ErrorCode::kInvalidOption,
                "--confidence: must be 0.95 here, for the error bar comes with the noisy count");
  }
  const Rows rows = Rows::parse(read_all(request.file), request.column);
  SystemBits bits;
  outlive_readers();
  Release<nlohmann::json> answer = release(job, rows, bits);
  if (auto promise = job.accuracy(rows.cells().size(), confidence)) answer.accuracy = *promise;
  hand_over(false, [&] {
    print_release(answer, cost, request.json, "",
                  "nobody keeps count of plain values; --data and `gauze ledger init` do");
  });
}

void run(const Algorithm& algorithm, const ReleaseRequest& request) {
  if (!request.data.data.empty()) expect_form_for_tables(algorithm);
  const double confidence = number(request.confidence, "--confidence");
  require(confidence > 0 && confidence < 1, "--confidence: must lie strictly between 0 and 1");
  const double delta = quote_delta(request.delta, request.options);
  if (request.data.data.empty()) expect_plain_values(request.data, request.table, request.file);
  const bool whole_lines = request.column.column.empty() && !request.column.header;
  if (algorithm.dialogue && whole_lines) {
    return release_stream(algorithm, {.options = request.options,
                                      .file = request.file,
                                      .confidence = confidence,
                                      .quote_delta = delta,
                                      .accept_weak = request.accept_weak,
                                      .json = request.json});
  }
  if (request.data.data.empty()) return release_file(algorithm, request, confidence, delta);
  release_column({.algorithm = algorithm.name,
                  .options = request.options,
                  .data = request.data,
                  .table = request.table,
                  .column = request.column.column,
                  .confidence = confidence,
                  .quote_delta = delta,
                  .accept_weak = request.accept_weak,
                  .json = request.json});
}

bool has_option(const Algorithm& algorithm, std::string_view name) {
  return std::any_of(algorithm.options.begin(), algorithm.options.end(),
                     [&](const OptionSpec& option) { return option.name == name; });
}

/// Explains an error in the command's own words.
template <class Action>
void explained(const Algorithm& algorithm, Action action) {
  try {
    action();
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kInvalidOption) throw;
    throw Error(error.code(), std::string(error.what()) + "; `gauze release " + algorithm.name +
                                  " --help` lists what there is");
  }
}

/// What only histograms take.
void add_histogram(CLI::App& command, const Algorithm& algorithm) {
  CLI::App* sub = command.add_subcommand(algorithm.name, algorithm.summary);
  auto request = std::make_shared<HistogramRequest>();
  auto columns = std::make_shared<std::string>();
  auto delta = std::make_shared<std::string>();
  request->algorithm = algorithm.name;
  add_option_flags(*sub, algorithm.options, request->options, Missing::kAllowed);
  sub->add_option("file", request->file,
                  "Counts, one per line, where there is no --data; - reads standard input (-)");
  add_data_options(*sub, request->data);
  sub->add_option("--table", request->table, "Which table of --data (the only private one)");
  sub->add_option("--column,--columns", *columns, "What to count by, an axis each: age or lon,lat");
  sub->add_option("--range", request->ranges,
                  "Only the count of this range: 18:65, or 18:65,0:100 for two columns; times with "
                  "two dots, 2024-01-01 08:00:00..2024-01-01 17:00:00; a category by name; may be "
                  "given again")
      ->allow_extra_args(false);
  sub->add_option(
         "--where", request->where,
         "Only the count of the cells for which this holds, in SQL: \"age >= 18 AND ward IN "
         "('north', 'south')\"; may be given again")
      ->allow_extra_args(false);
  sub->add_flag("--non-negative", request->non_negative,
                "No negative counts, with the same total; biases small counts upwards");
  sub->add_flag("--whole", request->whole,
                "Whole numbers besides, for every cell, or every box of a method for points");
  sub->add_option("-o,--output", request->files.output,
                  "Write all cells to a .csv, .json or .parquet file");
  sub->add_option("--report", request->files.report, "Write a page with a picture");
  sub->add_option(
      "--quote-delta", *delta,
      "At which the cost is quoted when there is no pure guarantee (that of the release, or 1e-6)");
  sub->add_flag("--accept-weak", request->accept_weak,
                "Allow a cost of epsilon 10 or more, or delta 0.01");
  sub->add_flag("--json", request->json, "Print the counts, the cost and the event as JSON");
  sub->footer("Input: columns of a table with a schema: --data FILE --column NAME; or " +
              algorithm.input);
  sub->callback([request, columns, delta, &algorithm] {
    explained(algorithm, [&] {
      request->quote_delta = quote_delta(*delta, request->options);
      request->columns = list_of(*columns);
      release_histogram(*request);
    });
  });
}

void add_algorithm(CLI::App& command, const Algorithm& algorithm) {
  CLI::App* sub = command.add_subcommand(algorithm.name, algorithm.summary);
  auto request = std::make_shared<ReleaseRequest>();
  // On tables the schema may know what is not given, so that the option table decides what is missing.
  add_option_flags(*sub, algorithm.options, request->options, Missing::kAllowed);
  sub->add_option("file", request->file,
                  "The input, one number per line or CSV; - reads standard input (-)");
  sub->add_option("--column", request->column.column,
                  "Which column: a number from 1, or a name from the first line");
  sub->add_flag("--header", request->column.header, "The first line names the columns");
  if (algorithm.per_person) {
    add_data_options(*sub, request->data);
    sub->add_option("--rows-per-unit", request->data.rows_per_unit,
                    "1 and no other: of each privacy unit one row takes part (1)");
    sub->add_option("--table", request->table, "Which table of --data (the only private one)");
  } else {  // told how to ask instead, not listed
    sub->add_option("--data,-d", request->data.data)->group("");
  }
  if (!has_option(algorithm, "confidence"))
    sub->add_option("--confidence", request->confidence, "Of the error bar (0.95)");
  sub->add_option(
      "--quote-delta", request->delta,
      "At which the cost is quoted when there is no pure guarantee (that of the release, or 1e-6)");
  sub->add_flag("--accept-weak", request->accept_weak,
                "Allow a cost of epsilon 10 or more, or delta 0.01");
  sub->add_flag("--json", request->json,
                "Print {\"value\": ..., \"accuracy\": ..., \"cost\": ..., \"spent\": ...}");
  sub->footer(
      "Input: " + algorithm.input +
      (!algorithm.per_person ? ""
       : algorithm.name == "count"
           ? "; or a table with a schema: --data FILE"
           : "; or a table with a schema, without rows that are null: --data FILE --column NAME"));
  sub->callback([request, &algorithm] { explained(algorithm, [&] { run(algorithm, *request); }); });
}

}  // namespace

void add_release(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "release", "Release a private answer about columns of a table or numbers in a file");
  command->require_subcommand(1);
  for (const Algorithm& algorithm : algorithms()) {
    if (algorithm.histogram)
      add_histogram(*command, algorithm);
    else
      add_algorithm(*command, algorithm);
  }
  command->footer(
      "Examples:\n"
      "  gauze release median --epsilon 0.5 --data hospital --column age\n"
      "  gauze release flat_histogram --epsilon 0.5 --data hospital --column ward\n"
      "  gauze release count --epsilon 0.5 --relation add_remove people.csv --column age\n"
      "  seq 100 | gauze release median --epsilon 1 --lower 0 --upper 200 --relation add_remove -\n"
      "  seq 0 5 500 | gauze release sparse_vector --epsilon 1 --threshold 100 --positives 3 "
      "--sensitivity 1 -");
}

}  // namespace gauze::cli
