// The machine stops at every write, sync, truncation and deletion of the ledger, in every way it can.
// Afterwards the record must hold at least what was handed out, the chain must hold, and the budget
// must not be exceeded.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <functional>

#include "failing_disk.h"
#include "gauze/engine/release.h"
#include "gauze/ledger/ledger_test_internal.h"
#include "gauze/testing/seeded_bits.h"

namespace gauze {
namespace {

using testing::ask;
using testing::LedgerFolder;
using testing::new_ledger;
using testing::put_databases_on_failing_disk;
using testing::SeededBits;
using testing::Stop;

constexpr int kQuestions = 8;  // as many as the budget has room for
constexpr std::array kKinds = {Stop::Kind::kKilled, Stop::Kind::kKilledInside,
                               Stop::Kind::kPowerLost, Stop::Kind::kPowerLostPrefix,
                               Stop::Kind::kPowerLostMixed};

Ratio price() {
  return Ratio(1, 7);
}
Budget budget() {
  return Budget::pure(price() * kQuestions);
}

struct Question {
  Event event() const { return testing::event(events::Pure{price()}); }
  Release<std::uint64_t> run(int input, Context& context) const {
    if (input < 0) throw Error(ErrorCode::kUnavailable, "the source is gone");
    context.meter.charge(event());
    return {context.bits.next(), {}, event()};
  }
};

using Report = std::function<void()>;
using Door = void (*)(Ledger& ledger, const std::string& text, int input, const Report& report);

void the_door(Ledger& ledger, const std::string& text, int input, const Report& report) {
  SeededBits bits(1);
  release(ask(text), Question{}, input, ledger, bits);
  report();
}

/// The broken twin: it pays when the answer is out.
void door_that_pays_afterwards(Ledger& ledger, const std::string& text, int input,
                               const Report& report) {
  if (input < 0) return;
  SeededBits bits(1);
  release(Question{}, input, bits);
  report();
  ledger.settle(ledger.reserve(ask(text), Question{}.event()));
}

/// Questions in two sessions, so that a ledger is closed, opened and checkpointed on the way, and one
/// that is interrupted and asked again.
void ask_questions(const std::string& path, Door door, const Report& report) {
  for (int session = 0; session < 2; ++session) {
    Ledger ledger = Ledger::open(path);
    ledger.set_schema("people", {std::string(64, 'a')});
    for (int i = 0; i < 2; ++i) door(ledger, std::to_string(i), 1, report);
    try {
      door(ledger, "interrupted", -1, report);
    } catch (const Error&) {
    }
    door(ledger, "interrupted", 1, report);
  }
}

struct Outcome {
  int answers = 0;  // seen before the machine stopped
  bool stopped = false;
};

/// Runs the body on the failing disk in a process of its own. It calls `report` for each answer that
/// it has handed out, before it goes on.
Outcome on_failing_disk(const Stop& stop, const std::function<void(const Report&)>& body) {
  std::array<int, 2> pipe_ends{};
  if (pipe(pipe_ends.data()) != 0) throw std::runtime_error("no pipe");
  const pid_t child = fork();
  if (child == 0) {
    close(pipe_ends[0]);
    put_databases_on_failing_disk(stop);
    try {
      body([&] {
        if (write(pipe_ends[1], "a", 1) != 1) _exit(79);
      });
    } catch (const std::exception& error) {
      std::fprintf(stderr, "%s\n", error.what());
      _exit(80);
    }
    _exit(0);
  }
  close(pipe_ends[1]);
  Outcome outcome;
  for (char answer = 0; read(pipe_ends[0], &answer, 1) == 1;) ++outcome.answers;
  close(pipe_ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128;
  EXPECT_TRUE(code == 0 || code == 77) << code;
  outcome.stopped = code != 0;
  return outcome;
}

/// What is wrong with the ledger after `answers` were seen; "" when nothing is.
std::string complaint(const std::string& path, int answers) {
  try {
    Ledger ledger = Ledger::open(path);
    ledger.verify();
    Ratio spent = 0;
    for (const Entry& entry : ledger.history()) spent += entry.cost.amount;
    if (ledger.left("people").amount != budget().amount - spent) return "the totals are wrong";
    if (spent < price() * answers) return "more was seen than is recorded";
    if (spent > budget().amount) return "the budget is exceeded";
    // It goes on from there: exactly the rest can still be asked.
    const int room = kQuestions - static_cast<int>(ledger.history().size());
    for (int i = 0; i < room; ++i) ledger.reserve(ask("more"), Question{}.event());
    try {
      ledger.reserve(ask("more"), Question{}.event());
      return "more was granted than there is";
    } catch (const Error& error) {
      if (error.code() != ErrorCode::kBudgetExceeded) return error.what();
    }
    ledger.verify();
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

struct Sweep {
  std::uint64_t operations = 0;
  int complaints = 0;
  std::string first;
};

/// Stops at operation 1, 2, 3, ... until the run ends by itself.
Sweep stop_everywhere(Stop stop, Door door) {
  Sweep sweep;
  const LedgerFolder folder(LedgerFolder::Place::kMemory);
  { new_ledger(folder.file("fresh"), budget()); }
  for (stop.at = 1;; ++stop.at) {
    for (const char* suffix : {"", "-wal", "-shm"}) std::filesystem::remove(folder.file() + suffix);
    std::filesystem::copy_file(folder.file("fresh"), folder.file());
    const Outcome outcome = on_failing_disk(
        stop, [&](const Report& report) { ask_questions(folder.file(), door, report); });
    const std::string wrong = complaint(folder.file(), outcome.answers);
    if (!wrong.empty() && sweep.complaints++ == 0) {
      sweep.first = wrong + ", at operation " + std::to_string(stop.at);
    }
    if (!outcome.stopped || ::testing::Test::HasFailure()) break;
    sweep.operations = stop.at;
  }
  return sweep;
}

TEST(LedgerCrash, RecordsEveryAnswerSeenWhereverTheMachineStops) {
  for (const Stop::Kind kind : kKinds) {
    const Sweep sweep = stop_everywhere({.kind = kind}, the_door);
    EXPECT_EQ(sweep.complaints, 0) << static_cast<int>(kind) << ": " << sweep.first;
    // 14 transactions, each with some writes and a sync.
    EXPECT_GT(sweep.operations, 100u);
    RecordProperty("operations" + std::to_string(static_cast<int>(kind)),
                   static_cast<int>(sweep.operations));
  }
}

TEST(LedgerCrash, TheHarnessCatchesADoorThatPaysAfterwards) {
  for (const Stop::Kind kind : kKinds) {
    EXPECT_GT(stop_everywhere({.kind = kind}, door_that_pays_afterwards).complaints, 0);
  }
}

TEST(LedgerCrash, TheHarnessCatchesADiskThatOnlySaysItHasWritten) {
  for (const Stop::Kind kind :
       {Stop::Kind::kPowerLost, Stop::Kind::kPowerLostPrefix, Stop::Kind::kPowerLostMixed}) {
    EXPECT_GT(stop_everywhere({.kind = kind, .sync_is_a_lie = true}, the_door).complaints, 0);
  }
}

TEST(LedgerCrash, SurvivesOneCrashAfterAnother) {
  const LedgerFolder folder(LedgerFolder::Place::kMemory);
  { new_ledger(folder.file(), Budget::pure(price() * 60)); }
  std::size_t answers = 0;
  for (std::uint64_t at = 1; at <= 60; ++at) {
    const Stop stop{.kind = kKinds[at % kKinds.size()], .at = at};
    answers += static_cast<std::size_t>(on_failing_disk(stop, [&](const Report& report) {
                                          Ledger ledger = Ledger::open(folder.file());
                                          the_door(ledger, std::to_string(at), 1, report);
                                        }).answers);
    Ledger ledger = Ledger::open(folder.file());
    ledger.verify();
    ASSERT_GE(ledger.history().size(), answers) << at;
    ASSERT_LE(ledger.history().size(), at);
  }
  EXPECT_GT(answers, 0u);
}

TEST(LedgerCrash, MakesAWholeLedgerOrNone) {
  for (const Stop::Kind kind : kKinds) {
    bool stopped = true;
    for (std::uint64_t at = 1; stopped; ++at) {
      const LedgerFolder folder(LedgerFolder::Place::kMemory);
      stopped = on_failing_disk({.kind = kind, .at = at}, [&](const Report&) {
                  new_ledger(folder.file(), budget());
                }).stopped;
      if (!std::filesystem::exists(folder.file())) continue;
      EXPECT_EQ(complaint(folder.file(), 0), "") << at;
    }
  }
}

}  // namespace
}  // namespace gauze
