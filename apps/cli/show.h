#pragma once

#include <optional>
#include <string>

#include "gauze/random/bit_source.h"
#include "gauze/service/answer_file.h"
#include "gauze/service/ask.h"
#include "gauze/service/workspace.h"
#include "progress.h"
#include "text.h"

namespace gauze::cli {

/// How an answer is handed out.
struct Delivery {
  AnswerFiles files = {};
  std::string checkpoint = {};  ///< a file; "" for none
  bool json = false;
};

/// Which pieces of the result it needs.
Asked::Wanted wanted_for(const Delivery& delivery);

/// Asks on tables, shows the answer and writes the files. On a terminal a long scan shows how far it is;
/// Ctrl-C, SIGTERM and SIGHUP stop it and throw `door::Stop`. `files` were checked before.
Outcome answer(Workspace& workspace, Quote quote, const Delivery& delivery);
/// The same on plain values.
Outcome answer(const Input& input, Quote quote, const Delivery& delivery);

/// Shows plan and cost; there is no answer for files, so that they are refused.
void explain(const Quote& quote, const Delivery& delivery);

}  // namespace gauze::cli
