// Many clients at once, and the ledger on a PostgreSQL server.
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <functional>
#include <thread>

#include "gauze/ledger/ledger_test_internal.h"
#include "gauze/testing/matchers.h"
#include "gauze/testing/postgres_server.h"

namespace gauze {
namespace {

using testing::ask;
using testing::gaussian;
using testing::LedgerFolder;
using testing::new_ledger;
using testing::PostgresServer;
using testing::pure;

constexpr std::chrono::minutes kAsLongAsItTakes{10};
constexpr std::chrono::milliseconds kSoon{200};

/// Each client has the ledger opened for itself, asks once, and settles what it is granted.
char ask_once(const std::string& where, const Event& event) {
  try {
    Ledger ledger = Ledger::open(where, kAsLongAsItTakes);
    ledger.settle(ledger.reserve(ask(), event));
    return 'g';
  } catch (const Error& error) {
    return error.code() == ErrorCode::kBudgetExceeded ? 'r' : 'e';
  }
}

/// What became of `processes` x `threads` clients that all ask at once: g for granted, r for refused.
std::string race(const std::string& where, const Event& event, int processes, int threads) {
  std::array<int, 2> pipe_ends{};
  if (pipe(pipe_ends.data()) != 0) throw std::runtime_error("no pipe");
  std::vector<pid_t> children;
  for (int process = 0; process < processes; ++process) {
    children.push_back(fork());
    if (children.back() != 0) continue;
    close(pipe_ends[0]);
    std::vector<std::thread> clients;
    for (int thread = 0; thread < threads; ++thread) {
      clients.emplace_back([&] {
        const char result = ask_once(where, event);
        if (write(pipe_ends[1], &result, 1) != 1) _exit(1);
      });
    }
    for (std::thread& client : clients) client.join();
    _exit(0);
  }
  close(pipe_ends[1]);
  std::string results;
  for (char result = 0; read(pipe_ends[0], &result, 1) == 1;) results.push_back(result);
  close(pipe_ends[0]);
  for (const pid_t child : children) waitpid(child, nullptr, 0);
  return results;
}

void expect_exact_race(const std::string& where, int processes, int threads, int room) {
  // Room for exactly `room` of them: not one more, and none is turned away before.
  const std::string results =
      race(where, testing::event(events::Pure{Ratio(1, room)}), processes, threads);
  EXPECT_EQ(results.size(), static_cast<std::size_t>(processes * threads));
  EXPECT_EQ(std::count(results.begin(), results.end(), 'g'), room);
  EXPECT_EQ(std::count(results.begin(), results.end(), 'r'), processes * threads - room);
  const Ledger ledger = Ledger::open(where);
  ledger.verify();
  EXPECT_EQ(ledger.left("people"), Budget::pure(0));
  EXPECT_EQ(ledger.history().size(), static_cast<std::size_t>(room));
}

TEST(LedgerRace, TwoThousandClientsGetExactlyWhatThereIs) {
  const LedgerFolder folder(LedgerFolder::Place::kMemory);
  { new_ledger(folder.file(), Budget::pure(1)); }
  expect_exact_race(folder.file(), 20, 100, 1237);
}

TEST(LedgerRace, OfTwoWhoMakeTheSameLedgerOneIsTold) {
  const LedgerFolder folder;
  std::array<int, 16> made{};
  std::vector<std::thread> makers;
  for (int& each : made) {
    makers.emplace_back([&] {
      try {
        new_ledger(folder.file(), Budget::pure(1));
        each = 1;
      } catch (const Error& error) {
        each = error.code() == ErrorCode::kInvalidOption ? 0 : 100;
      }
    });
  }
  for (std::thread& maker : makers) maker.join();
  EXPECT_EQ(std::count(made.begin(), made.end(), 1), 1);
  EXPECT_EQ(std::count(made.begin(), made.end(), 0), 15);
}

class LedgerOnAServer : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { server_ = std::make_unique<PostgresServer>(); }
  static void TearDownTestSuite() { server_.reset(); }
  void SetUp() override { server_->run("DROP TABLE IF EXISTS gauze_ledger"); }

  static std::string uri() { return server_->uri(); }
  static std::unique_ptr<PostgresServer> server_;
};
std::unique_ptr<PostgresServer> LedgerOnAServer::server_;

TEST_F(LedgerOnAServer, KeepsBudgetsSharesAndStatesAsAFileDoes) {
  Ledger ledger = new_ledger(uri(), Budget::zcdp(1, parse_ratio("1e-6")));
  ledger.set_share("people", "ada", Budget::zcdp(Ratio(3, 4), 0));
  ledger.settle(ledger.reserve(ask("a 'quoted' \"Zoë\" $1", "ada"), gaussian("1")));
  EXPECT_EQ(ledger.left("people", "ada"), Budget::zcdp(Ratio(1, 4), 0));
  EXPECT_ERROR(ledger.reserve(ask("b", "ada"), gaussian("1")), ErrorCode::kBudgetExceeded);
  EXPECT_ERROR(ledger.reserve(ask("b"), gaussian("10")), ErrorCode::kUnknownName);
  const Event rest = gaussian("2", "1", 2);  // rho 1/8 each
  ledger.interrupt(ledger.reserve(ask("c", "ada"), rest));
  Grant again = ledger.reserve(ask("c", "ada"), rest);
  ledger.settle(std::move(again));
  ledger.verify();

  const Ledger other = Ledger::open(uri());
  const auto history = other.history("people");
  ASSERT_EQ(history.size(), 2u);
  EXPECT_EQ(history[0].text, "a 'quoted' \"Zoë\" $1");
  EXPECT_EQ(history[0].event, gaussian("1"));
  EXPECT_EQ(history[1].state, Entry::State::kSettled);
  EXPECT_EQ(other.accounts().size(), 2u);
  EXPECT_EQ(other.head().hash, ledger.head().hash);
  EXPECT_TRUE(other.contains(ledger.head().hash));
}

TEST_F(LedgerOnAServer, IsNeverMadeTwice) {
  EXPECT_ERROR(Ledger::open(uri()), ErrorCode::kIo);
  { new_ledger(uri(), Budget::pure(1)).reserve(ask(), pure("1")); }
  EXPECT_ERROR(Ledger::create(uri()), ErrorCode::kInvalidOption);
  EXPECT_EQ(Ledger::open(uri()).left("people"), Budget::pure(0));
}

TEST_F(LedgerOnAServer, GivesAHundredClientsExactlyWhatThereIs) {
  { new_ledger(uri(), Budget::pure(1)); }
  expect_exact_race(uri(), 4, 25, 61);
}

TEST_F(LedgerOnAServer, ShowsThatItWasAltered) {
  { new_ledger(uri(), Budget::pure(1)).reserve(ask(), pure("1")); }
  server_->run("UPDATE gauze_ledger SET spent_amount = '0' WHERE kind = 'reserve'");
  Ledger ledger = Ledger::open(uri());
  EXPECT_ERROR(ledger.verify(), ErrorCode::kLedgerDamaged);
  EXPECT_ERROR(ledger.reserve(ask(), pure("1")), ErrorCode::kLedgerDamaged);
}

TEST_F(LedgerOnAServer, NeedsNoRightToChangeOrDelete) {
  new_ledger(uri(), Budget::pure(1));
  server_->run(
      "DROP ROLE IF EXISTS analyst; CREATE ROLE analyst LOGIN; GRANT SELECT, INSERT ON "
      "gauze_ledger TO analyst");
  std::string as_analyst = uri();
  as_analyst.replace(as_analyst.find("gauze@"), 5, "analyst");
  Ledger ledger = Ledger::open(as_analyst);
  ledger.settle(ledger.reserve(ask(), pure("1")));
  ledger.verify();
  server_->run("REVOKE INSERT ON gauze_ledger FROM analyst");
  EXPECT_ERROR(ledger.reserve(ask(), pure("0")), ErrorCode::kIo);
  server_->run("REVOKE ALL ON gauze_ledger FROM analyst; DROP ROLE analyst");
}

TEST_F(LedgerOnAServer, HeldBySomebodyElseIsBusy) {
  { new_ledger(uri(), Budget::pure(1)); }
  const auto runs = [](const std::string& sql) {
    try {
      server_->run(sql);
    } catch (const std::exception&) {
      return false;
    }
    return true;
  };
  // psql is the somebody: it holds the lock until it is ended.
  std::thread holder(
      [&] { runs("SELECT pg_advisory_xact_lock(5147529362114871913); SELECT pg_sleep(3600)"); });
  const std::string held = "FROM pg_locks WHERE locktype = 'advisory' AND granted";
  while (!runs("SELECT 1 / count(*) " + held))
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  Ledger ledger = Ledger::open(uri(), kSoon);
  EXPECT_ERROR(ledger.reserve(ask(), pure("1")), ErrorCode::kBusy);
  server_->run("SELECT pg_terminate_backend(pid) " + held);
  holder.join();
  ledger.settle(ledger.reserve(ask(), pure("1")));
}

TEST_F(LedgerOnAServer, ThatGoesAwayIsUnavailableAndComesBack) {
  Ledger ledger = new_ledger(uri(), Budget::pure(1));
  Grant grant = ledger.reserve(ask(), pure("0.5"));
  server_->kill();
  EXPECT_ERROR(ledger.settle(std::move(grant)), ErrorCode::kUnavailable);
  EXPECT_ERROR(ledger.reserve(ask(), pure("0.5")), ErrorCode::kUnavailable);
  EXPECT_ERROR(Ledger::open(uri()), ErrorCode::kUnavailable);
  server_->start();
  ledger.settle(ledger.reserve(ask(), pure("0.5")));
  EXPECT_EQ(ledger.left("people"), Budget::pure(0));
  EXPECT_EQ(ledger.history()[0].state, Entry::State::kReserved);
  ledger.verify();
}

/// Stands between a client and the server, and hangs up on the first client that commits while it is told to, or keeps to itself
/// that a client is done.
class Wire {
 public:
  enum class Cut { kNever, kBeforeTheCommit, kBehindTheCommit, kSilentAtTheEnd };

  Wire(const std::string& server_folder, const std::string& folder)
      : server_(server_folder), listener_(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const sockaddr_un address = address_in(folder);
    if (bind(listener_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
        listen(listener_, 8) != 0)
      throw std::runtime_error("no socket");
    thread_ = std::thread([this] {
      for (;;) {
        // A server that is started meanwhile must not hold the wire.
        const int client = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
        if (client < 0) return;
        pass(client);
        close(client);
      }
    });
  }
  ~Wire() {
    shutdown(listener_, SHUT_RDWR);
    thread_.join();
    close(listener_);
  }
  /// `meanwhile` happens before the client hears of it.
  void cut(
      Cut where, std::function<void()> meanwhile = [] {}) {
    meanwhile_ = std::move(meanwhile);
    cut_ = where;
  }

 private:
  static sockaddr_un address_in(const std::string& folder) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    (folder + "/.s.PGSQL.5432").copy(address.sun_path, sizeof address.sun_path - 1);
    return address;
  }

  static bool move(int from, int to, std::string& bytes) {
    std::array<char, 65536> buffer{};
    const ssize_t size = read(from, buffer.data(), buffer.size());
    if (size <= 0) return false;
    bytes.assign(buffer.data(), static_cast<std::size_t>(size));
    return to < 0 || write(to, buffer.data(), bytes.size()) == size;
  }

  /// One client at a time, until either side is done.
  void pass(int client) {
    const int server = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const sockaddr_un address = address_in(server_);
    connect(server, reinterpret_cast<const sockaddr*>(&address), sizeof address);
    for (bool open = true; open;) {
      std::array<pollfd, 2> ends = {pollfd{client, POLLIN, 0}, pollfd{server, POLLIN, 0}};
      poll(ends.data(), ends.size(), -1);
      std::string bytes;
      if (ends[1].revents != 0) open = move(server, client, bytes);
      if (!open || ends[0].revents == 0) continue;
      open = move(client, -1, bytes);
      const auto holds = [&](const char* word) {
        return bytes.find(std::string(word) + '\0') != std::string::npos;
      };
      if (cut_ == Cut::kSilentAtTheEnd && holds("ROLLBACK")) {
        cut_ = Cut::kNever;
        continue;
      }
      const bool commits = holds("COMMIT");
      const Cut cut = commits ? cut_.exchange(Cut::kNever) : Cut::kNever;
      if (cut == Cut::kBeforeTheCommit) {
        meanwhile_();
        break;
      }
      open =
          open && write(server, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size());
      if (cut != Cut::kBehindTheCommit) continue;
      move(server, -1, bytes);  // done, and nobody hears of it
      break;
    }
    close(server);
  }

  std::string server_;
  int listener_;
  std::atomic<Cut> cut_ = Cut::kNever;
  std::function<void()> meanwhile_;
  std::thread thread_;
};

// Whether the server has committed can be asked afterwards, so nobody pays twice for the same question.
TEST_F(LedgerOnAServer, KnowsWhetherItWasChargedWhenTheAnswerIsLost) {
  { new_ledger(uri(), Budget::pure(1)); }
  const LedgerFolder folder;
  Wire wire(uri().substr(uri().find("host=") + 5), folder.path());
  Ledger ledger = Ledger::open("postgresql://gauze@/postgres?host=" + folder.path());
  wire.cut(Wire::Cut::kBehindTheCommit);
  Grant grant = ledger.reserve(ask(), pure("0.25"));
  EXPECT_EQ(ledger.left("people"), Budget::pure(Ratio(3, 4)));
  wire.cut(Wire::Cut::kBehindTheCommit);
  ledger.settle(std::move(grant));
  EXPECT_EQ(ledger.history().back().state, Entry::State::kSettled);
  wire.cut(Wire::Cut::kBeforeTheCommit);
  EXPECT_ERROR(ledger.reserve(ask(), pure("0.25")), ErrorCode::kUnavailable);
  EXPECT_EQ(ledger.left("people"), Budget::pure(Ratio(3, 4)));
  ledger.settle(ledger.reserve(ask(), pure("0.25")));
  EXPECT_EQ(ledger.left("people"), Budget::pure(Ratio(1, 2)));
  ledger.verify();
}

// A server that no longer answers is given up, also at the end of what was only looked at.
TEST_F(LedgerOnAServer, ThatFallsSilentIsGivenUp) {
  { new_ledger(uri(), Budget::pure(1)); }
  const LedgerFolder folder;
  Wire wire(uri().substr(uri().find("host=") + 5), folder.path());
  Ledger ledger = Ledger::open("postgresql://gauze@/postgres?host=" + folder.path(), kSoon);
  wire.cut(Wire::Cut::kSilentAtTheEnd);
  EXPECT_EQ(ledger.left("people"), Budget::pure(1));
  ledger.settle(ledger.reserve(ask(), pure("0.25")));  // on a new connection
  EXPECT_EQ(ledger.left("people"), Budget::pure(Ratio(3, 4)));
}

// A server that crashed gives the numbers of lost transactions again: somebody else's commit is none of ours.
TEST_F(LedgerOnAServer, TakesNobodyElsesCommitForItsOwn) {
  { new_ledger(uri(), Budget::pure(1)); }
  const LedgerFolder folder;
  Wire wire(uri().substr(uri().find("host=") + 5), folder.path());
  Ledger ledger = Ledger::open("postgresql://gauze@/postgres?host=" + folder.path());
  wire.cut(Wire::Cut::kBeforeTheCommit, [&] {
    server_->kill();
    server_->start();
    Ledger other = Ledger::open(uri());
    other.settle(other.reserve(ask("another"), pure("0.125")));
  });
  EXPECT_ERROR(ledger.reserve(ask(), pure("0.25")), ErrorCode::kUnavailable);
  EXPECT_EQ(ledger.left("people"), Budget::pure(Ratio(7, 8)));
  ledger.verify();
}

// What a trigger keeps out was not charged, so nothing is granted.
TEST_F(LedgerOnAServer, GrantsNothingThatIsNotStored) {
  { new_ledger(uri(), Budget::pure(1)); }
  server_->run(
      "CREATE FUNCTION swallow() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'");
  server_->run(
      "CREATE TRIGGER t BEFORE INSERT ON gauze_ledger FOR EACH ROW EXECUTE FUNCTION swallow()");
  Ledger ledger = Ledger::open(uri());
  EXPECT_ERROR(ledger.reserve(ask(), pure("0.25")), ErrorCode::kLedgerDamaged);
  server_->run("DROP FUNCTION swallow CASCADE");
}

// The server is taken away in the middle of a run, five times, and set up to acknowledge before it has written: what was
// granted must be there all the same, for the ledger does not take that setting.
TEST_F(LedgerOnAServer, RemembersEveryGrantWhenTheServerCrashes) {
  server_->run("ALTER ROLE gauze SET synchronous_commit = off");
  server_->kill();
  server_->start();
  { new_ledger(uri(), Budget::pure(1'000'000)); }
  std::atomic<std::size_t> seen = 0;
  for (int crash = 0; crash < 5; ++crash) {
    std::atomic<bool> gone = false;
    std::thread client([&] {
      try {
        Ledger ledger = Ledger::open(uri(), kSoon);
        for (;;) {
          Grant grant = ledger.reserve(ask(std::to_string(seen)), pure("1"));
          ++seen;
          ledger.settle(std::move(grant));
        }
      } catch (const Error&) {
        gone = true;
      }
    });
    for (const std::size_t enough = seen + 20; seen < enough && !gone;)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    server_->kill();
    client.join();
    server_->start();
    Ledger ledger = Ledger::open(uri());
    ledger.verify();
    EXPECT_GE(ledger.history("people").size(), seen.load()) << crash;
  }
  EXPECT_GE(seen.load(), 100u);
  server_->run("ALTER ROLE gauze RESET synchronous_commit");
}

}  // namespace
}  // namespace gauze
