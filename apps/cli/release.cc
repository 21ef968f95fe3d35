#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "command.h"
#include "data_flags.h"
#include "gauze/base/error.h"
#include "gauze/service/job.h"
#include "number_lines.h"
#include "option_flags.h"
#include "show.h"

namespace gauze::cli {
namespace {

using Plain = InputKind::Plain;

struct ReleaseRequest {
  Question question;
  std::string file = "-";  ///< of plain values
  ColumnChoice column;
  DataOptions data;  ///< the form on tables
  Delivery delivery;
};

bool is_asked(const InputKind& kind, std::string_view name) {
  return std::any_of(kind.asks.begin(), kind.asks.end(),
                     [&](const OptionSpec& each) { return each.name == name; });
}

/// Everything that can fail fails before a row is read.
void release_plain(const Registry& registry, const Algorithm& algorithm, ReleaseRequest request) {
  expect_plain_values(request.data, request.question.table, request.file);
  check_files(algorithm, request.delivery.files, [&](const std::string& path) {
    return request.file != "-" && same_file(path, request.file);
  });
  Quote priced = quote(registry, request.question);
  if (is_asked(algorithm.kind, "column") && request.question.options.contains("column"))
    request.column.column = request.question.options.at("column");
  const bool whole_lines = request.column.column.empty() && !request.column.header;
  if (algorithm.kind.plain == Plain::kFile) {
    answer(PlainFile{request.file}, std::move(priced), request.delivery);
  } else if (algorithm.kind.plain == Plain::kLines && whole_lines) {
    converse_in_lines(request.file, std::move(priced), request.delivery);
  } else {
    answer(Rows::parse(read_all(request.file), request.column), std::move(priced),
           request.delivery);
  }
}

void release_table(const Registry& registry, const Algorithm& algorithm, ReleaseRequest request) {
  add_limits(algorithm, request.question.options, request.data);
  Workspace workspace(request.data);
  check_files(algorithm, request.delivery.files,
              [&](const std::string& path) { return workspace.reads(path); });
  answer(workspace, quote(registry, workspace, request.question), request.delivery);
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

void add_inputs(CLI::App& command, const Algorithm& algorithm, ReleaseRequest& request) {
  const InputKind& kind = algorithm.kind;
  command.add_option("file", request.file,
                     "The input where there is no --data; - reads standard input (-)");
  if (kind.plain != Plain::kFile && !kind.writes_table) {
    if (!is_asked(kind, "column"))
      command.add_option("--column", request.column.column,
                         "Which column: a number from 1, or a name from the first line");
    command.add_flag("--header", request.column.header, "The first line names the columns");
  }
  if (kind.tables) {
    add_data_options(command, request.data);
    command.add_option("--table", request.question.table,
                       "Which table of --data (the only private one)");
  } else {  // told how to ask instead, not listed
    command.add_option("--data,-d", request.data.data)->group("");
  }
}

void add_outputs(CLI::App& command, const Algorithm& algorithm, Delivery& delivery) {
  if (algorithm.kind.writes_table) {
    command.add_option("-o,--output", delivery.files.output,
                       "Write all of the answer to a .csv, .json or .parquet file");
    command.add_option("--report", delivery.files.report, "Write a page with a picture");
  }
  if (!algorithm.artifact.empty())
    command.add_option("--artifact", delivery.files.artifact,
                       "Write " + algorithm.artifact + " to a file");
  if (algorithm.checkpoints)
    command.add_option("--checkpoint", delivery.checkpoint,
                       "Keep in this file what was prepared, and go on from there");
  command.add_flag("--json", delivery.json, "Print the answer, its accuracy and its cost as JSON");
}

void add_algorithm(CLI::App& command, const Registry& registry, const Algorithm& algorithm) {
  CLI::App* sub = command.add_subcommand(algorithm.name, algorithm.summary);
  auto request = std::make_shared<ReleaseRequest>();
  request->question.algorithm = algorithm.name;
  // On tables the schema may know what is not given, so that the option table decides what is missing.
  add_option_flags(*sub, all_options(algorithm), request->question.options, Missing::kAllowed);
  add_inputs(*sub, algorithm, *request);
  add_outputs(*sub, algorithm, request->delivery);
  sub->footer("Input: " + algorithm.input +
              (algorithm.kind.tables ? "; or a table with a schema: --data FILE" : "") +
              (algorithm.example.empty() ? "" : "\nExample: " + algorithm.example));
  sub->callback([request, &registry, &algorithm] {
    request->question.wanted = wanted_for(request->delivery);
    explained(algorithm, [&] {
      if (request->data.data.empty())
        release_plain(registry, algorithm, *request);
      else
        release_table(registry, algorithm, *request);
    });
  });
}

}  // namespace

void add_release(CLI::App& app, const Registry& registry) {
  CLI::App* command = app.add_subcommand(
      "release", "Release a private answer about columns of a table or numbers in a file");
  command->require_subcommand(1);
  for (const Algorithm* each : registry.algorithms())
    if (!each->kind.has_command) add_algorithm(*command, registry, *each);
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
