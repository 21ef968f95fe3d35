#include "gauze/engine/release.h"

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <stdexcept>

#include "gauze/ledger/ledger_test_internal.h"
#include "gauze/testing/matchers.h"
#include "gauze/testing/seeded_bits.h"

namespace gauze {
namespace {

using gauze::testing::SeededBits;

Event pure(const Ratio& epsilon) {
  return {events::Pure{epsilon}, Relation::kAddRemove};
}

/// Says that it costs `price`, spends `charge`, then draws.
struct Stub {
  Ratio price;
  Ratio charge;

  Event event() const { return pure(price); }
  Release<std::uint64_t> run(int /*input*/, Context& context) const {
    context.meter.charge(pure(charge));
    return {context.bits.next(), {}, pure(charge)};
  }
};

TEST(TheDoor, LetsARunSpendExactlyItsPrice) {
  SeededBits bits(1);
  EXPECT_EQ(release(Stub{Ratio(1, 3), Ratio(1, 3)}, 0, bits).spent, pure(Ratio(1, 3)));
}

TEST(TheDoor, StopsARunThatSpendsMoreThanItSaidBeforeItDraws) {
  SeededBits bits(1);
  EXPECT_ERROR(release(Stub{Ratio(1, 3), Ratio(33334, 100000)}, 0, bits),
               ErrorCode::kBudgetExceeded);
  EXPECT_EQ(bits.refills(), 0u);
}

// ---- with a ledger ----

using testing::ask;
using testing::LedgerFolder;
using testing::new_ledger;

/// A source that counts its readers and may not be constant.
struct Well {
  int readers = 0;
  int read() { return ++readers; }
};

/// Reads, charges and draws, and fails where it is told to.
struct Careful {
  enum class Fails { kNever, kBeforePaying, kAfterPaying, kWithoutMemory, kByABug };
  Fails fails = Fails::kNever;

  Event event() const { return pure(Ratio(1, 3)); }
  Release<int> run(Well& well, Context& context) const {
    const int value = well.read();
    if (fails == Fails::kBeforePaying) throw Error(ErrorCode::kUnavailable, "the source is gone");
    if (fails == Fails::kWithoutMemory) throw std::bad_alloc();
    if (fails == Fails::kByABug) throw std::out_of_range("at");
    context.meter.charge(event());
    if (fails == Fails::kAfterPaying) throw Error(ErrorCode::kEntropy, "no bits");
    context.bits.next();
    return {value, {}, event()};
  }
};

TEST(TheDoor, GivesARunASourceToReadFrom) {
  SeededBits bits(1);
  Well well;
  EXPECT_EQ(release(Careful{}, well, bits).value, 1);
  EXPECT_EQ(well.readers, 1);
}

TEST(TheDoorWithALedger, SettlesWhatItHandsOut) {
  const LedgerFolder folder;
  Ledger ledger = new_ledger(folder.file(), Budget::pure(1));
  SeededBits bits(1);
  Well well;
  for (int i = 1; i <= 3; ++i) {
    EXPECT_EQ(release(ask(), Careful{}, well, ledger, bits).value, i);
    EXPECT_EQ(ledger.history().back().state, Entry::State::kSettled);
  }
  EXPECT_EQ(ledger.left("people"), Budget::pure(0));
}

TEST(TheDoorWithALedger, ReadsNothingThatIsNotPaidFor) {
  const LedgerFolder folder;
  Ledger ledger = new_ledger(folder.file(), Budget::pure(Ratio(1, 4)));
  SeededBits bits(1);
  Well well;
  EXPECT_ERROR(release(ask(), Careful{}, well, ledger, bits), ErrorCode::kBudgetExceeded);
  const auto open = [&]() -> Well& {
    ++well.readers;
    return well;
  };
  EXPECT_ERROR(release(ask(), Careful{}, open, ledger, bits), ErrorCode::kBudgetExceeded);
  EXPECT_EQ(well.readers, 0);
  EXPECT_EQ(bits.refills(), 0u);
}

TEST(TheDoorWithALedger, HasTheReservationOnDiskBeforeItReads) {
  const LedgerFolder folder;
  Ledger ledger = new_ledger(folder.file(), Budget::pure(1));
  SeededBits bits(1);
  Well well;
  const auto open = [&]() -> Well& {
    Ledger other = Ledger::open(folder.file());
    EXPECT_EQ(other.left("people"), Budget::pure(Ratio(2, 3)));
    EXPECT_EQ(other.history().back().state, Entry::State::kReserved);
    return well;
  };
  release(ask(), Careful{}, open, ledger, bits);
  EXPECT_EQ(well.readers, 1);
}

TEST(TheDoorWithALedger, LetsAQuestionThatDrewNoNoiseBeAskedAgain) {
  const LedgerFolder folder;
  Ledger ledger = new_ledger(folder.file(), Budget::pure(Ratio(1, 3)));
  SeededBits bits(1);
  Well well;
  for (int i = 0; i < 3; ++i) {
    EXPECT_ERROR(release(ask(), Careful{Careful::Fails::kBeforePaying}, well, ledger, bits),
                 ErrorCode::kUnavailable);
    EXPECT_EQ(ledger.history().back().state, Entry::State::kInterrupted);
  }
  const auto missing = []() -> Well& { throw Error(ErrorCode::kIo, "no such file"); };
  EXPECT_ERROR(release(ask(), Careful{}, missing, ledger, bits), ErrorCode::kIo);
  release(ask(), Careful{}, well, ledger, bits);
  EXPECT_EQ(ledger.history().size(), 1u);
  EXPECT_ERROR(release(ask(), Careful{}, well, ledger, bits), ErrorCode::kBudgetExceeded);
  ledger.verify();
}

TEST(TheDoorWithALedger, RefundsNothingOnceNoiseMayHaveBeenSeen) {
  const LedgerFolder folder;
  Ledger ledger = new_ledger(folder.file(), Budget::pure(Ratio(1, 3)));
  SeededBits bits(1);
  Well well;
  EXPECT_ERROR(release(ask(), Careful{Careful::Fails::kAfterPaying}, well, ledger, bits),
               ErrorCode::kEntropy);
  EXPECT_EQ(ledger.history().back().state, Entry::State::kReserved);
  EXPECT_ERROR(release(ask(), Careful{}, well, ledger, bits), ErrorCode::kBudgetExceeded);
}

/// What a run that fails like this tells whoever asked.
std::string failure(Careful::Fails fails, Ledger& ledger) {
  SeededBits bits(1);
  Well well;
  try {
    release(ask(), Careful{fails}, well, ledger, bits);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(TheDoorWithALedger, SaysWhatAFailureCostAndHowToAskAgain) {
  const LedgerFolder folder;
  Ledger ledger = new_ledger(folder.file(), Budget::pure(1));
  EXPECT_EQ(failure(Careful::Fails::kBeforePaying, ledger),
            std::string("the source is gone") + door::kPaysAgain);
  EXPECT_EQ(failure(Careful::Fails::kWithoutMemory, ledger),
            std::string(door::kNoMemory) + door::kPaysAgain);
  EXPECT_EQ(failure(Careful::Fails::kByABug, ledger),
            std::string(door::kBug) + "at" + door::kPaysAgain);
  EXPECT_EQ(failure(Careful::Fails::kAfterPaying, ledger),
            std::string("no bits") + door::kStaysSpent);
}

TEST(TheDoorWithALedger, SaysThatNoNoiseWasDrawnWhereTheLedgerCouldNotBeTold) {
  const LedgerFolder folder;
  { new_ledger(folder.file(), Budget::pure(1)); }
  Ledger ledger = Ledger::open(folder.file(), std::chrono::milliseconds(50));
  SeededBits bits(1);
  sqlite3* other = nullptr;
  const auto lock = [&]() -> Well& {
    sqlite3_open(folder.file().c_str(), &other);
    EXPECT_EQ(sqlite3_exec(other, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr), SQLITE_OK);
    throw Error(ErrorCode::kIo, "no such file");
  };
  try {
    release(ask(), Careful{}, lock, ledger, bits);
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.what(), std::string("no such file") + door::kStaysReserved);
    EXPECT_EQ(error.code(), ErrorCode::kIo);
  }
  sqlite3_close(other);
  EXPECT_EQ(bits.refills(), 0u);
  EXPECT_EQ(ledger.history().back().state, Entry::State::kReserved);
}

// Somebody removes the record meanwhile: the ledger is damaged, and the answer is paid for all the same.
TEST(TheDoorWithALedger, SaysThatTheAnswerIsPaidForWhereTheLedgerIsDamagedMeanwhile) {
  const LedgerFolder folder;
  Ledger ledger = new_ledger(folder.file(), Budget::pure(1));
  SeededBits bits(1);
  Well well;
  const auto damage = [&]() -> Well& {
    sqlite3* other = nullptr;
    sqlite3_open(folder.file().c_str(), &other);
    EXPECT_EQ(sqlite3_exec(other, "UPDATE gauze_ledger SET hash = 'x' WHERE kind = 'reserve'",
                           nullptr, nullptr, nullptr),
              SQLITE_OK);
    sqlite3_close(other);
    return well;
  };
  try {
    release(ask(), Careful{}, damage, ledger, bits);
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kLedgerDamaged);
    EXPECT_TRUE(std::string_view(error.what()).ends_with(door::kStaysSpent)) << error.what();
  }
}

TEST(TheDoorWithALedger, HandsOutWhatIsPaidForThoughTheLedgerGoesAwayMeanwhile) {
  const LedgerFolder folder;
  { new_ledger(folder.file(), Budget::pure(1)); }
  Ledger ledger = Ledger::open(folder.file(), std::chrono::milliseconds(50));
  SeededBits bits(1);
  Well well;
  sqlite3* other = nullptr;
  const auto lock = [&]() -> Well& {
    sqlite3_open(folder.file().c_str(), &other);
    EXPECT_EQ(sqlite3_exec(other, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr), SQLITE_OK);
    return well;
  };
  EXPECT_EQ(release(ask(), Careful{}, lock, ledger, bits).value, 1);
  sqlite3_close(other);
  EXPECT_EQ(ledger.history().back().state, Entry::State::kReserved);
  EXPECT_EQ(ledger.left("people"), Budget::pure(Ratio(2, 3)));
}

}  // namespace
}  // namespace gauze
