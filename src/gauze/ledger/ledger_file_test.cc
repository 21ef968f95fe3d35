#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>

#include "gauze/ledger/ledger.h"
#include "gauze/ledger/ledger_test_internal.h"
#include "gauze/testing/matchers.h"

// Ledgers as files: under which names they lie, and what happens where they are not what they should be.

namespace gauze {
namespace {

using testing::ask;
using testing::LedgerFolder;
using testing::new_ledger;
using testing::pure;
using testing::tamper;

constexpr std::chrono::milliseconds kSoon{100};

TEST(Ledger, IsNotMadeWhereTheLogOfAnotherLies) {
  const LedgerFolder folder;
  for (const char* part : {"-wal", "-shm", "-journal"}) {
    std::ofstream(folder.file() + part) << "left behind";
    EXPECT_ERROR(new_ledger(folder.file(), Budget::pure(1)), ErrorCode::kInvalidOption);
    EXPECT_FALSE(std::filesystem::exists(folder.file()));
    std::filesystem::remove(folder.file() + part);
  }
  new_ledger(folder.file(), Budget::pure(1)).verify();
}

/// Nobody can make the index of a log here, as on a full disk or in a folder that is mounted to read; of this even the
/// superuser is kept.
void forbid_logs(const LedgerFolder& folder) {
  std::filesystem::create_symlink("/nowhere/at/all", folder.file() + "-shm");
}

TEST(Ledger, IsReadWhereNothingCanBeWritten) {
  const LedgerFolder folder;
  Head head;
  {
    Ledger ledger = new_ledger(folder.file(), Budget::pure(1));
    ledger.settle(ledger.reserve(ask(), pure("0.25")));
    head = ledger.head();
  }
  forbid_logs(folder);
  Ledger ledger = Ledger::open(folder.file());
  ledger.verify();
  EXPECT_EQ(ledger.head().hash, head.hash);
  EXPECT_EQ(ledger.history().size(), 1u);
  EXPECT_EQ(ledger.left("people"), Budget::pure(parse_ratio("0.75")));
  EXPECT_EQ(ledger.price(ask(), pure("0.25")), Budget::pure(parse_ratio("0.25")));
}

// A price in memory would be forgotten.
TEST(Ledger, TakesNoPriceWhereNothingCanBeWritten) {
  const LedgerFolder folder;
  new_ledger(folder.file(), Budget::pure(1));
  const auto size = std::filesystem::file_size(folder.file());
  forbid_logs(folder);
  Ledger ledger = Ledger::open(folder.file());
  EXPECT_ERROR(ledger.reserve(ask(), pure("0.25")), ErrorCode::kIo);
  EXPECT_ERROR(ledger.add_dataset({"others", Budget::pure(1)}), ErrorCode::kIo);
  EXPECT_ERROR(ledger.set_share("people", "ada", Budget::pure(1)), ErrorCode::kIo);
  EXPECT_EQ(ledger.left("people"), Budget::pure(1));
  EXPECT_EQ(std::filesystem::file_size(folder.file()), size);
}

// What waits in the log was spent: reading past it would show more than is left.
TEST(Ledger, IsNotReadPastALogThatCannotBeOpened) {
  const LedgerFolder running, folder;
  Ledger ledger = new_ledger(running.file(), Budget::pure(1));
  ledger.settle(ledger.reserve(ask(), pure("0.25")));
  // As a crash leaves them.
  for (const char* part : {"", "-wal"})
    std::filesystem::copy_file(running.file() + part, folder.file() + part);
  const auto logged = std::filesystem::file_size(folder.file() + "-wal");
  ASSERT_GT(logged, 0u);
  forbid_logs(folder);
  EXPECT_ERROR(Ledger::open(folder.file()), ErrorCode::kIo);
  ASSERT_EQ(std::filesystem::file_size(folder.file() + "-wal"), logged);
  std::filesystem::remove(folder.file() + "-shm");
  EXPECT_EQ(Ledger::open(folder.file()).left("people"), Budget::pure(parse_ratio("0.75")));
}

TEST(Ledger, IsNotSpentUnderTwoNames) {
  const LedgerFolder folder;
  Ledger ledger = new_ledger(folder.file("a"), Budget::pure(1));
  std::filesystem::create_hard_link(folder.file("a"), folder.file("b"));
  EXPECT_ERROR(Ledger::open(folder.file("a")), ErrorCode::kIo);
  EXPECT_ERROR(Ledger::open(folder.file("b")), ErrorCode::kIo);
  std::filesystem::remove(folder.file("b"));
  Ledger::open(folder.file("a")).verify();
  // A link that says where it leads is no second ledger.
  std::filesystem::create_symlink(folder.file("a"), folder.file("b"));
  Ledger::open(folder.file("b")).settle(ledger.reserve(ask(), pure("0.5")));
  // Moved away while somebody uses it.
  std::filesystem::rename(folder.file("a"), folder.file("c"));
  EXPECT_ERROR(ledger.reserve(ask("new"), pure("0.1")), ErrorCode::kIo);
}

TEST(LedgerFile, IsNeverOverwritten) {
  const LedgerFolder folder;
  std::ofstream(folder.file()) << "my thesis";
  EXPECT_ERROR(Ledger::create(folder.file()), ErrorCode::kInvalidOption);
  std::string contents;
  std::getline(std::ifstream(folder.file()), contents);
  EXPECT_EQ(contents, "my thesis");
  new_ledger(folder.file("other"), Budget::pure(1));
  EXPECT_ERROR(Ledger::create(folder.file("other")), ErrorCode::kInvalidOption);
  EXPECT_EQ(Ledger::open(folder.file("other")).datasets().size(), 1u);
  EXPECT_ERROR(Ledger::create(folder.file("bad"), {{"people", Budget::pure(0)}}),
               ErrorCode::kInvalidOption);
  // Nothing else is left lying around.
  std::size_t files = 0;
  for (const auto& each : std::filesystem::directory_iterator(folder.path())) {
    (void)each;
    ++files;
  }
  EXPECT_EQ(files, 2u);
}

TEST(LedgerFile, ThatIsMissingOrAFolderIsAnIoError) {
  const LedgerFolder folder;
  EXPECT_ERROR(Ledger::open(folder.file()), ErrorCode::kIo);
  EXPECT_FALSE(std::filesystem::exists(folder.file()));
  EXPECT_ERROR(Ledger::open(folder.path()), ErrorCode::kIo);
  EXPECT_ERROR(Ledger::create(folder.file("no/such/folder")), ErrorCode::kIo);
}

TEST(LedgerFile, ThatIsNoLedgerIsLeftAsItIs) {
  const LedgerFolder folder;
  std::ofstream(folder.file("text")) << "my thesis, which is longer than the header of a database, "
                                        "so that it is taken for one whose pages are garbled";
  EXPECT_ERROR(Ledger::open(folder.file("text")), ErrorCode::kLedgerDamaged);
  std::ofstream(folder.file("empty")) << "";
  EXPECT_ERROR(Ledger::open(folder.file("empty")), ErrorCode::kLedgerDamaged);
  tamper(folder.file("foreign"), "CREATE TABLE mine (x); INSERT INTO mine VALUES (1)");
  EXPECT_ERROR(Ledger::open(folder.file("foreign")), ErrorCode::kLedgerDamaged);
  EXPECT_FALSE(std::filesystem::exists(folder.file("foreign-wal")));
}

TEST(LedgerFile, WithOtherTablesOrTriggersIsRefused) {
  for (const char* sql :
       {"DROP INDEX gauze_ledger_subject",
        "CREATE TRIGGER t AFTER INSERT ON gauze_ledger BEGIN DELETE FROM gauze_ledger; END",
        "CREATE TABLE more (x)",
        "ALTER TABLE gauze_ledger RENAME TO hidden; CREATE VIEW gauze_ledger AS SELECT * FROM "
        "hidden WHERE kind <> 'reserve'"}) {
    const LedgerFolder folder;
    { new_ledger(folder.file(), Budget::pure(1)).reserve(ask(), pure("1")); }
    tamper(folder.file(), sql);
    SCOPED_TRACE(sql);
    EXPECT_ERROR(Ledger::open(folder.file()), ErrorCode::kLedgerDamaged);
  }
  const LedgerFolder folder;
  { new_ledger(folder.file(), Budget::pure(1)); }
  tamper(folder.file(), "PRAGMA user_version = 2");
  EXPECT_ERROR(Ledger::open(folder.file()), ErrorCode::kUnsupported);
}

TEST(LedgerFile, ThatIsTruncatedIsDamaged) {
  const LedgerFolder folder;
  {
    Ledger ledger = new_ledger(folder.file(), Budget::pure(1));
    for (int i = 0; i < 100; ++i) ledger.settle(ledger.reserve(ask(), pure("0.01")));
  }
  std::filesystem::resize_file(folder.file(), std::filesystem::file_size(folder.file()) / 2);
  EXPECT_ERROR(Ledger::open(folder.file()).verify(), ErrorCode::kLedgerDamaged);
}

TEST(LedgerFile, HeldBySomebodyElseIsBusyAndNothingIsCharged) {
  const LedgerFolder folder;
  Ledger ledger = new_ledger(folder.file(), Budget::pure(1));
  sqlite3* other = nullptr;
  ASSERT_EQ(sqlite3_open(folder.file().c_str(), &other), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(other, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr), SQLITE_OK);
  {
    Ledger impatient = Ledger::open(folder.file(), kSoon);
    EXPECT_ERROR(impatient.reserve(ask(), pure("0.1")), ErrorCode::kBusy);
    EXPECT_EQ(impatient.left("people"), Budget::pure(1));  // reading needs no lock
  }
  sqlite3_close(other);
  ledger.settle(ledger.reserve(ask(), pure("0.1")));
}

/// Runs `body` in a process of its own, which can then take limits upon itself.
template <class Body>
void in_a_child(Body body) {
  const pid_t child = fork();
  if (child == 0) {
    body();
    std::fflush(nullptr);
    _exit(::testing::Test::HasFailure() ? 1 : 0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

TEST(LedgerFile, ThatCannotGrowIsAnIoErrorAndStaysSound) {
  const LedgerFolder folder;
  { new_ledger(folder.file(), Budget::pure(100)); }
  in_a_child([&] {
    Ledger ledger = Ledger::open(folder.file());
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{100'000, 100'000};
    setrlimit(RLIMIT_FSIZE, &limit);
    const auto fill = [&] {
      for (int i = 0; i < 1000; ++i) ledger.reserve(ask(), pure("0.01"));
    };
    EXPECT_ERROR(fill(), ErrorCode::kIo);
  });
  Ledger ledger = Ledger::open(folder.file());
  ledger.verify();
  EXPECT_GT(ledger.history().size(), 0u);
  EXPECT_LT(ledger.history().size(), 1000u);
  ledger.reserve(ask(), pure("0.01"));
}

TEST(LedgerFile, ThatMayOnlyBeReadIsAnIoErrorWhenWritten) {
  if (geteuid() == 0 && !std::filesystem::exists("/proc/self/setgroups")) GTEST_SKIP();
  const LedgerFolder folder;
  { new_ledger(folder.file(), Budget::pure(1)); }
  std::filesystem::permissions(folder.file(), std::filesystem::perms(0444));
  std::filesystem::permissions(folder.path(), std::filesystem::perms(0555));
  in_a_child([&] {
    if (geteuid() == 0 && setuid(65534) != 0) return;  // root may write everywhere
    EXPECT_ERROR(Ledger::open(folder.file()).reserve(ask(), pure("0.1")), ErrorCode::kIo);
    EXPECT_ERROR(Ledger::create(folder.file("new")), ErrorCode::kIo);
  });
  std::filesystem::permissions(folder.path(), std::filesystem::perms(0755));
}

}  // namespace
}  // namespace gauze
