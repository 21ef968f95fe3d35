#include "prompt.h"

#include <histedit.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <clocale>
#include <csignal>
#include <cstdlib>
#include <cwchar>
#include <filesystem>
#include <iostream>
#include <sstream>

#include "gauze/base/address.h"
#include "gauze/base/error.h"
#include "gauze/base/words.h"
#include "gauze/engine/release.h"
#include "gauze/service/wording.h"
#include "schema_text.h"
#include "show.h"
#include "statements.h"

namespace gauze::cli {
namespace {

constexpr const char* kHelp =
    "  SELECT ... ;          ask; a question ends with a semicolon and may take several lines\n"
    "  EXPLAIN SELECT ... ;  plan, noise and cost of a question; reads nothing, spends nothing\n"
    "  \\schema [TABLE]       tables, columns and what is publicly known of them\n"
    "  \\budget               what is left, and what a question costs\n"
    "  \\epsilon 0.5          what the next questions may cost\n"
    "  \\delta 1e-6           and with which delta; groups without a public list need one\n"
    "  help  quit            this text; the end (Ctrl-D, too)\n";

volatile std::sig_atomic_t interrupted = 0;

/// Where the lines of earlier conversations are; "" for nowhere.
std::string history_path() {
  if (const char* state = std::getenv("XDG_STATE_HOME"); state != nullptr && *state == '/') {
    const std::filesystem::path folder = std::filesystem::path(state) / "gauze";
    std::error_code failed;
    std::filesystem::create_directories(folder, failed);
    return failed ? "" : (folder / "history").string();
  }
  const char* home = std::getenv("HOME");
  return home == nullptr || *home == '\0' ? "" : std::string(home) + "/.gauze_history";
}

/// Lines from a terminal, edited by libedit.
class LineEditor {
 public:
  LineEditor() {
    std::setlocale(LC_CTYPE, "");  // letters of more than one byte
    edit_ = el_init("gauze", stdin, stdout, stderr);
    history_ = history_init();
    if (edit_ == nullptr || history_ == nullptr)
      throw Error(ErrorCode::kIo, "the terminal cannot be read");
    HistEvent event;
    history(history_, &event, H_SETSIZE, 1000);
    history(history_, &event, H_SETUNIQUE, 1);
    path_ = history_path();
    if (!path_.empty()) history(history_, &event, H_LOAD, path_.c_str());
    el_set(edit_, EL_CLIENTDATA, this);
    el_set(edit_, EL_PROMPT, &LineEditor::prompt_of);
    el_set(edit_, EL_GETCFN, &LineEditor::next_character);
    el_set(edit_, EL_EDITOR, "emacs");
    el_set(edit_, EL_HIST, ::history, history_);
    el_source(edit_, nullptr);
    struct sigaction action {};
    action.sa_handler = [](int) { interrupted = 1; };
    sigaction(SIGINT, &action, nullptr);
  }
  ~LineEditor() {
    history_end(history_);
    el_end(edit_);
  }
  LineEditor(const LineEditor&) = delete;
  LineEditor& operator=(const LineEditor&) = delete;

  enum class Got : std::uint8_t { kLine, kCancelled, kEnd };

  Got read(const std::string& prompt, std::string& line) {
    prompt_ = prompt;
    // Ctrl-C is heard while waiting for a key and at no other time, so that none is lost.
    sigset_t held, before;
    sigemptyset(&held);
    sigaddset(&held, SIGINT);
    pthread_sigmask(SIG_BLOCK, &held, &before);
    int length = 0;
    const char* text = el_gets(edit_, &length);
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    if (interrupted != 0) {
      interrupted = 0;
      el_reset(edit_);
      print_line();
      return Got::kCancelled;
    }
    if (text == nullptr || length <= 0) return Got::kEnd;
    line.assign(text, static_cast<std::size_t>(length));
    return Got::kLine;
  }

  void remember(const std::string& line) {
    HistEvent event;
    history(history_, &event, H_ENTER, line.c_str());
    if (!path_.empty()) history(history_, &event, H_SAVE, path_.c_str());
  }

 private:
  /// The next character for libedit: 1, 0 at the end, -1 after Ctrl-C.
  static int next_character(EditLine* /*edit*/, wchar_t* character) {
    sigset_t open;
    sigemptyset(&open);
    std::mbstate_t state{};
    for (;;) {
      pollfd key{STDIN_FILENO, POLLIN, 0};
      if (interrupted != 0) return -1;
      if (ppoll(&key, 1, nullptr, &open) < 0) continue;
      char byte = 0;
      if (::read(STDIN_FILENO, &byte, 1) != 1) return 0;
      // A Ctrl-D pressed before the terminal listened key by key comes as a zero.
      if (byte == '\0') byte = '\x04';
      const std::size_t got = std::mbrtowc(character, &byte, 1, &state);
      if (got == static_cast<std::size_t>(-2)) continue;  // more bytes of it are to come
      if (got == static_cast<std::size_t>(-1)) {
        state = {};
        continue;
      }
      return 1;
    }
  }

  static char* prompt_of(EditLine* edit) {
    LineEditor* self = nullptr;
    el_get(edit, EL_CLIENTDATA, &self);
    return self->prompt_.data();
  }

  EditLine* edit_ = nullptr;
  History* history_ = nullptr;
  std::string path_;
  std::string prompt_;
};

class Conversation {
 public:
  Conversation(const Registry& registry, Workspace& workspace, Question terms, bool json)
      : registry_(registry), workspace_(workspace), terms_(std::move(terms)), json_(json) {}

  /// "hospital (ε = 2.5 left)> "; while a statement is open, as wide and how to give it up.
  std::string prompt(bool open) const {
    const std::optional<Budget> left = workspace_.left();
    const std::string text =
        workspace_.schema().dataset + (left ? " (" + shown(budget_text(*left)) + " left)" : "");
    if (!open) return text + "> ";
    const std::string way_out = "(Ctrl-C gives up)";
    return std::string(columns(text) - std::min(columns(text), way_out.size()), ' ') + way_out +
           ". ";
  }

  /// False when the user wants to leave.
  bool command(const std::string& line) {
    std::istringstream words(line);
    std::string name, argument;
    words >> name >> argument;
    if (name == "\\quit" || name == "\\q" || name == "\\exit") return false;
    if (name == "\\help" || name == "\\h" || name == "\\?")
      print(kHelp);
    else if (name == "\\schema")
      print(schema_text(workspace_.schema(), argument));
    else if (name == "\\budget")
      budget();
    else if (name == "\\epsilon")
      set_epsilon(argument);
    else if (name == "\\delta")
      set_delta(argument);
    else
      throw Error(ErrorCode::kUnknownName,
                  "there is no '" + name.substr(0, 40) + "' here" +
                      did_you_mean(name, {"\\help", "\\schema", "\\budget", "\\epsilon", "\\delta",
                                          "\\quit"}));
    return true;
  }

  void statement(const std::string& sql) {
    require(terms_.options.contains("epsilon"),
            "say what a question may cost first: \\epsilon 0.5 (or start with --epsilon 0.5)");
    Question question = terms_;
    question.options["sql"] = sql;
    const Delivery delivery{.json = json_};
    question.wanted = wanted_for(delivery);
    Quote priced = quote(registry_, workspace_, question);
    if (priced.task.explain_only) return explain(priced, delivery);
    answer(workspace_, std::move(priced), delivery);
    if (!json_) print_line();
  }

 private:
  std::string term(const char* name) const { return terms_.options.value(name, ""); }

  void budget() {
    const std::optional<Budget> left = workspace_.left();
    print_line(left ? "  left      " + shown(budget_text(*left)) + " in " +
                          shown_address(workspace_.ledger_path())
                    : "  nobody keeps count here; `gauze ledger init` sets a budget");
    const Ratio delta = term("delta").empty() ? Ratio(0) : exact(term("delta"), "--delta");
    print_line(term("epsilon").empty()
                   ? "  per question  not said yet: \\epsilon 0.5"
                   : "  per question  " + shown(price_text(Budget::approximate(
                                              exact(term("epsilon"), "--epsilon"), delta))));
  }

  void set_epsilon(const std::string& text) {
    require(exact(text, "\\epsilon") > 0, "\\epsilon: must be above 0, like 0.5");
    terms_.options["epsilon"] = text;
    budget();
  }

  void set_delta(const std::string& text) {
    const Ratio value = exact(text, "\\delta");
    require(value >= 0 && value < 1, "\\delta: must be from 0 to below 1, like 1e-6");
    terms_.options["delta"] = text;
    budget();
  }

  const Registry& registry_;
  Workspace& workspace_;
  Question terms_;
  bool json_;
};

std::string trimmed(const std::string& text) {
  const std::size_t from = text.find_first_not_of(" \t\r\n");
  if (from == std::string::npos) return "";
  return text.substr(from, text.find_last_not_of(" \t\r\n") - from + 1);
}

/// A line as a command: `help`, `quit` and `exit` are meant as such also without a backslash.
std::string command_of(const std::string& line) {
  const std::string text = trimmed(line);
  const std::string word = trimmed(text.substr(0, text.find(';')));
  const bool alone = text.find_first_not_of("; \t", word.size()) == std::string::npos;
  if (alone && same_name(word, "help")) return "\\help";
  return alone && (same_name(word, "quit") || same_name(word, "exit")) ? "\\quit" : text;
}

/// A line that begins with a backslash is a command, also while a statement is open.
bool is_command(const std::string& line) {
  return trimmed(line).starts_with('\\');
}

/// Runs every whole statement. False when the user wants to leave.
bool proceed(Conversation& conversation, Statements& statements, const std::string& line) {
  const std::string command = statements.rest().empty() ? command_of(line) : trimmed(line);
  if (is_command(command)) return conversation.command(command);
  statements.add(line);
  while (const auto statement = statements.next()) {
    if (!trimmed(*statement).empty()) conversation.statement(trimmed(*statement));
  }
  return true;
}

void interactive(Conversation& conversation) {
  LineEditor editor;
  Statements statements;
  print_line("Ask in SQL; a question ends with a semicolon. help says what else there is.");
  for (std::string line, whole;;) {
    const bool open = !statements.rest().empty();
    const LineEditor::Got got = editor.read(conversation.prompt(open), line);
    if (got == LineEditor::Got::kEnd) break;
    if (got == LineEditor::Got::kCancelled) {
      statements.clear();
      whole.clear();
      continue;
    }
    const bool aside = open && is_command(line);
    if (!aside) whole += (whole.empty() ? "" : " ") + trimmed(line);
    try {
      const bool stay = proceed(conversation, statements, line);
      if (!stay) break;
    } catch (const Error& error) {
      std::fflush(stdout);
      std::cerr << wrap(shown(error.what()) + " [" + name(error.code()) + "]", "  ",
                        std::min<std::size_t>(terminal_width(), 100));
      if (!aside) statements.clear();
    } catch (const door::Stop& stopped) {
      if (stopped.signal != SIGINT) throw;
      print_line("  stopped" + stopped.what_it_costs);
      statements.clear();
    }
    std::fflush(stdout);
    if (!statements.rest().empty()) continue;
    if (!trimmed(whole).empty()) editor.remember(whole);
    whole.clear();
  }
  print_line();
}

void script(Conversation& conversation) {
  Statements statements;
  for (std::string line; std::getline(std::cin, line);) {
    if (!proceed(conversation, statements, line + "\n")) return;
  }
  if (const std::string last = trimmed(statements.rest()); !last.empty())
    conversation.statement(last);
}

/// What is wrong with the options is said before the first question is typed.
void expect_good(const Registry& registry, Workspace& workspace, Question terms) {
  for (const TableSchema& table : workspace.schema().tables) {
    if (table.is_public()) continue;
    terms.options["sql"] = "SELECT COUNT(*) FROM \"" + table.name + "\"";
    terms.options.emplace("epsilon", "1");
    quote(registry, workspace, terms);
    return;
  }
}

}  // namespace

void converse(const Registry& registry, Workspace& workspace, Question terms, bool json) {
  expect_good(registry, workspace, terms);
  Conversation conversation(registry, workspace, std::move(terms), json);
  if (isatty(STDIN_FILENO) != 0 && isatty(STDOUT_FILENO) != 0)
    interactive(conversation);
  else
    script(conversation);
}

}  // namespace gauze::cli
