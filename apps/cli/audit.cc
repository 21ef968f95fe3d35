#include "gauze/audit/audit.h"

#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>

#include "command.h"
#include "gauze/audit/program.h"
#include "gauze/audit/timing.h"
#include "gauze/base/error.h"
#include "gauze/engine/release.h"
#include "gauze/registry/auditing.h"
#include "gauze/service/audit_report.h"
#include "gauze/service/page.h"
#include "option_flags.h"
#include "plot.h"
#include "progress.h"
#include "text.h"

namespace gauze::cli {
namespace {

/// What every audit takes.
struct AuditRequest {
  std::string runs;
  std::string confidence = "0.999";
  std::string data;
  std::string neighbour;
  std::string page;
  bool timing = false;
  bool json = false;
};

void add_common(CLI::App& command, AuditRequest& request) {
  command.add_option("--runs", request.runs,
                     "Of the mechanism, about, altogether (1e6; 4000 where each is a process)");
  if (command.get_option_no_throw("--confidence") == nullptr) {
    command.add_option("--confidence", request.confidence,
                       "That no epsilon shown is above the truth (0.999)");
  }
  command.add_option("--data", request.data, "An input of your own, one row per line");
  command.add_option("--neighbour", request.neighbour, "Its neighbour, another file");
  command.add_flag(
      "--timing", request.timing,
      "Also look at how long each run takes; on one core, and better on a quiet machine");
  command.add_option("--report", request.page, "Write a page with a picture");
  command.add_flag("--json", request.json, "Print everything found as JSON");
}

/// The pair that was given, or else those that `library` knows.
template <class Read, class Library>
audit::LinePairs pairs_of(const AuditRequest& request, Read read, Library library) {
  require(request.data.empty() == request.neighbour.empty(),
          "--data and --neighbour: give both files or neither");
  if (request.data.empty()) return library();
  audit::Neighbours<audit::Lines> pair{request.data + " and " + request.neighbour,
                                       read(request.data), read(request.neighbour)};
  require(pair.first != pair.second,
          "--data and --neighbour: hold the same rows; nothing can be learnt from them");
  return {std::move(pair)};
}

audit::Lines numbers_in(const std::string& file) {
  return Rows::parse(read_all(file), {.column = "1"}).cells();
}

/// As a program would read them.
audit::Lines rows_in(const std::string& file) {
  audit::Lines lines;
  std::istringstream text(read_all(file));
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  return lines;
}

std::string audit_text(const audit::Report& report) {
  const audit::Finding& found = report.finding;
  const AuditWords words = words_of(report);
  std::string text = heading(words.verdict) + "\n";
  const auto line = [&](const char* label, const std::string& value) {
    std::string start = "  ";
    start.append(label).append(9 - std::min<std::size_t>(9, std::string_view(label).size()), ' ');
    text += start + value + "\n";
  };
  line("claimed", words.claimed);
  if (!found.event.empty()) {
    line("shown", words.shown);
    line("inputs", words.inputs);
    line("", "A  " + words.likely);
    line("", "B  " + words.unlikely);
    line("event", found.event);
    line("", "on A  " + words.on_likely);
    line("", "on B  " + words.on_unlikely);
  } else {
    line("shown", "nothing: no event told the inputs apart");
  }
  for (const std::string& note : report.notes) text += wrap(note);
  if (report.curve.size() > 1) {
    text += "\n" + plot([&](double x) { return seen_power(report, x); },
                        [&](double x) { return report.claim.most_power(x); },
                        {.x = "false alarms",
                         .y = "detections of A",
                         .curve = "as seen",
                         .dotted = "the most that the claim allows"});
  }
  return shown(text + "\n" + wrap(kAuditCaution));
}

void show(const audit::Report& report, const AuditRequest& request) {
  if (request.json)
    print_json(audit_json(report));
  else
    print(audit_text(report));
  if (!request.page.empty()) write_all(request.page, audit_page(report));
  if (report.violation()) throw Exit{kViolationFound};
}

audit::Report run(const audit::Subject& subject, const AuditRequest& request) {
  Progress progress("running");
  audit::Options options{.runs = whole(request.runs.empty() ? "1e6" : request.runs, "--runs", 1000),
                         .confidence = number(request.confidence, "--confidence"),
                         .threads = request.timing ? 1u : 0u,
                         .progress = [&](double done) { progress.show(done); }};
  for (const std::string& each : {request.data, request.neighbour}) {
    if (!request.page.empty() && !each.empty() && same_file(request.page, each))
      refuse_to_replace(request.page, "--report");
  }
  if (!request.page.empty()) {
    check_page_name(request.page);
    check_writable(request.page);
  }
  try {
    audit::Report report = audit::audit(request.timing ? audit::timed(subject) : subject, options);
    if (request.timing) {
      report.notes.push_back(
          "Number 1 of the output is how long a run took, compared with those before it; numbers "
          "that it printed follow.");
    }
    return report;
  } catch (const door::Stop& stopped) {
    throw Exit{128 + stopped.signal};
  }
}

/// An algorithm of the registry.
struct OwnRequest : AuditRequest {
  nlohmann::json options;
  std::string claimed_epsilon;
  std::string claimed_delta = "0";
};

void audit_own(const Algorithm& algorithm, const OwnRequest& request) {
  audit::Subject subject = audit_subject(
      algorithm, request.options,
      pairs_of(request, numbers_in, [&] { return neighbours_for(algorithm, request.options); }));
  if (!request.claimed_epsilon.empty()) {
    subject.claim = audit::Claim::approximate(number(request.claimed_epsilon, "--claimed-epsilon"),
                                              number(request.claimed_delta, "--claimed-delta"));
  }
  show(run(subject, request), request);
}

void add_own(CLI::App& command, const Algorithm& algorithm) {
  CLI::App* sub = command.add_subcommand(algorithm.name, algorithm.summary);
  auto request = std::make_shared<OwnRequest>();
  add_option_flags(*sub, algorithm.options, request->options, Missing::kRefused);
  add_common(*sub, *request);
  sub->add_option("--claimed-epsilon", request->claimed_epsilon,
                  "Audit this claim instead of the algorithm's own");
  sub->add_option("--claimed-delta", request->claimed_delta, "Of that claim (0)");
  sub->footer("Input of --data and --neighbour: " + algorithm.input);
  sub->callback([request, &algorithm] { audit_own(algorithm, *request); });
}

/// Somebody's program.
struct ForeignRequest : AuditRequest {
  std::string program;
  std::string epsilon;
  std::string delta = "0";
  std::string kind = "numbers";
  std::string lower = "0";
  std::string upper = "1";
  std::string relation = "add_remove";
  std::string size = "6";
  std::string sensitivity = "1";
  std::string timeout = "60";
  bool monotone = false;
  bool one_run = false;
};

/// Data that differ in one place are lists; another order is other data, and may show.
audit::LinePairs in_their_order(audit::LinePairs pairs, Relation relation) {
  if (relation == Relation::kReplace)
    std::erase_if(pairs, [](const auto& each) { return each.same; });
  return pairs;
}

audit::LinePairs library_of(const ForeignRequest& request) {
  const std::size_t size = whole(request.size, "--size", 1);
  require(size <= 10'000, "--size: must be at most 10000");
  const double sensitivity = number(request.sensitivity, "--sensitivity");
  const Relation relation = parse_relation(request.relation);
  if (request.kind == "numbers") {
    return in_their_order(
        audit::lines_of(audit::people(number(request.lower, "--lower"),
                                      number(request.upper, "--upper"), relation)),
        relation);
  }
  if (request.kind == "words") return in_their_order(audit::words(size, relation), relation);
  require(relation == Relation::kAddRemove,
          "--relation: only numbers and words of people can be replaced; give --data and "
          "--neighbour for other pairs");
  if (request.kind == "counts") return audit::lines_of(audit::counts(size));
  if (request.kind == "scores")
    return audit::lines_of(audit::scores(size, sensitivity, request.monotone));
  if (request.kind == "answers")
    return audit::lines_of(audit::answers(size, sensitivity, audit::Norm::kL1));
  throw Error(ErrorCode::kInvalidOption,
              "--kind: must be numbers, counts, scores, answers or words");
}

audit::Report report_on(const audit::ProgramSubject& audited, AuditRequest request) {
  // A process per run: a million of them would take the day.
  constexpr std::uint64_t kProcesses = 4000;
  AuditRequest few = request;
  if (request.runs.empty()) few.runs = std::to_string(kProcesses);
  std::vector<std::string> notes;
  if (audited.asides) {
    // Two audits, either of which may accuse.
    few.confidence = request.confidence =
        audit::shortest(1 - (1 - number(request.confidence, "--confidence")) / 2);
    AuditRequest beside = request;
    beside.runs = std::to_string(std::min(kProcesses, whole(few.runs, "--runs", 1000)));
    audit::Report report = run(*audited.asides, beside);
    if (report.violation()) {
      report.notes.push_back(
          "It is the exit code or the error messages that tell; what the program prints was not "
          "looked at.");
      return report;
    }
    notes.push_back("Its exit code or error messages differ from process to process; in " +
                    grouped(report.runs) + " processes they told too little to refute the claim.");
  }
  const bool one_run = audited.mode == audit::ProgramMode::kOne;
  audit::Report report = run(audited.subject, one_run || request.timing ? few : request);
  if (one_run) {
    notes.push_back(
        "Each run was a process of its own; a program that takes the number of "
        "runs as its second argument can be audited much deeper.");
  }
  report.notes.insert(report.notes.end(), notes.begin(), notes.end());
  return report;
}

void audit_foreign(const ForeignRequest& request) {
  if (request.program.empty()) {
    throw Error(ErrorCode::kInvalidOption,
                "what is to be audited? Name an algorithm of `gauze list`, or give --program");
  }
  require(!request.epsilon.empty(), "--epsilon: what does the program claim?");
  const audit::Claim claim = audit::Claim::approximate(number(request.epsilon, "--epsilon"),
                                                       number(request.delta, "--delta"));
  audit::Program program{.command = request.program,
                         .timeout = number(request.timeout, "--timeout")};
  if (request.one_run) program.mode = audit::ProgramMode::kOne;
  const auto audited = audit::program_subject(
      program, claim, pairs_of(request, rows_in, [&] { return library_of(request); }));
  show(report_on(audited, request), request);
}

void add_foreign(CLI::App& command, ForeignRequest& request) {
  command.add_option("--program", request.program,
                     "A mechanism of your own: PROGRAM FILE RUNS reads rows from FILE and prints "
                     "one output per line, RUNS of them");
  command.add_option("--epsilon", request.epsilon, "What the program claims");
  command.add_option("--delta", request.delta, "What the program claims (0)");
  command.add_option("--kind", request.kind,
                     "What its rows are: numbers of people, counts of cells, scores of candidates "
                     "or queries, answers to be noised, words of people (numbers)");
  command.add_option("--lower", request.lower, "Least number of a person (0)");
  command.add_option("--upper", request.upper, "Largest number of a person (1)");
  command.add_option("--relation", request.relation,
                     "Of people: add_remove or replace (add_remove)");
  command.add_option("--size", request.size,
                     "How many counts, scores or answers; how many words of a person (6)");
  command.add_option("--sensitivity", request.sensitivity,
                     "How far a person moves each score, or the answers in sum (1)");
  command.add_flag("--monotone", request.monotone, "A person moves all scores the same way");
  command.add_flag("--one-run-per-process", request.one_run,
                   "PROGRAM FILE makes one run, and all it prints is the output");
  command.add_option("--timeout", request.timeout, "Seconds that a process may take (60)");
}

}  // namespace

void add_audit(CLI::App& app, const Registry& registry) {
  CLI::App* command = app.add_subcommand(
      "audit", "Try to refute what a mechanism claims: one of Gauze's, or any program");
  command->require_subcommand(0, 1);
  for (const Algorithm* each : registry.algorithms())
    if (each->kind.plain != InputKind::Plain::kNone) add_own(*command, *each);
  auto request = std::make_shared<ForeignRequest>();
  add_foreign(*command, *request);
  add_common(*command, *request);
  command->footer(
      "Exit code 0: no violation found (which does not prove privacy). 6: violation found.\n"
      "Examples:\n"
      "  gauze audit laplace --l1-sensitivity 1 --scale 2\n"
      "  gauze audit count --epsilon 1 --relation add_remove --claimed-epsilon 0.5\n"
      "  gauze audit --program ./my_count.sh --epsilon 1 --lower 0 --upper 10\n"
      "  gauze audit --program 'python3 svt.py' --epsilon 1 --kind scores --size 4");
  command->callback([command, request] {
    if (command->get_subcommands().empty()) audit_foreign(*request);
  });
}

}  // namespace gauze::cli
