#pragma once

#include "gauze/engine/job.h"
#include "gauze/query/sql_query.h"
#include "gauze/service/workspace.h"
#include "text.h"

namespace gauze::cli {

/// What a question may cost and contribute.
struct Terms {
  Ratio epsilon;
  Ratio delta = 0;
  bool accept_weak = false;
  PlanOptions bounds;
  std::uint64_t memory = 0;
  unsigned threads = 0;
};

/// From the table `question_options`.
Terms terms_of(const OptionValues& values);

/// A question planned and priced: nothing has been read or spent.
struct Quote {
  SqlQuery query;
  Ratio epsilon, delta;  ///< as asked
  Budget price;          ///< what will be charged, in the currency of the ledger if there is one
  bool explain_only = false;                           ///< the text began with EXPLAIN
  std::shared_ptr<std::function<void(double)>> watch;  ///< hears how far the scan is
  std::vector<std::string> notes = {};  ///< what whoever asks should know of the data
  std::optional<Budget> left = {};      ///< in the ledger, before
  std::string ledger = {};
};

/// An answer with everything there is to say about it.
struct Answered {
  Quote quote;
  Answer answer;
  std::optional<Budget> left;  ///< in the ledger, afterwards
  std::string ledger;
};

/// Plans and prices `sql`. Refuses what would leak, and weak guarantees nobody insisted on.
Quote quote(service::Workspace& workspace, const std::string& sql, const Terms& terms);

/// Asks through the one door. On a terminal a long scan shows how far it is; Ctrl-C, SIGTERM and
/// SIGHUP stop it and throw `door::Stop`.
Answered ask(service::Workspace& workspace, Quote quote);

void print_answer(const Answered& answered);
void print_quote(const Quote& quote);
Json as_json(const Answered& answered);
Json as_json(const Quote& quote);

/// Shows the answer and writes the files that were asked for. `check_files` refuses what could not
/// be written, and what would replace a file for which `reads` holds, before anything is spent.
struct AnswerFiles {
  std::string output, report;
};
void check_files(const AnswerFiles& files, const std::function<bool(const std::string&)>& reads);
void hand_out(const Answered& answered, const AnswerFiles& files, bool json);
/// Shows plan and cost; there is no answer for files, so that they are refused.
void hand_out(const Quote& quote, const AnswerFiles& files, bool json);

/// Writes the answer to `path`, .csv, .json or .parquet; a number `n` has its error bar beside it
/// in the column `n_half_width`.
void write_answer(const Answer& answer, const std::string& path);

/// Each row as an object, with the same names.
Json rows_json(const Answer& answer);

/// What the error bar of a column is called in files and JSON.
std::string half_width_name(const std::string& column);

/// Refuses columns whose names, or those of their error bars, a file could not tell apart: it would be
/// lost after it was paid for.
void refuse_equal_names(const std::vector<Answer::Column>& columns);

}  // namespace gauze::cli
