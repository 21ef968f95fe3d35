#include "gauze/ledger/ledger.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "gauze/accounting/accountant.h"
#include "gauze/ledger/ledger_test_internal.h"
#include "gauze/ledger/log_internal.h"
#include "gauze/ledger/verify_internal.h"
#include "gauze/testing/matchers.h"

namespace gauze {
namespace {

using testing::approximate;
using testing::ask;
using testing::gaussian;
using namespace std::string_literals;
using testing::laplace;
using testing::LedgerFolder;
using testing::new_ledger;
using testing::pure;
using testing::tamper;
using testing::zcdp;

Event pure_of(const Ratio& epsilon) {
  return testing::event(events::Pure{epsilon});
}

// ---- spending ----

TEST(Ledger, GrantsWhatTheBudgetCoversAndNotOneMore) {
  const LedgerFolder folder;
  Ledger ledger = new_ledger(folder.file(), Budget::pure(1));
  for (int i = 0; i < 10; ++i) ledger.settle(ledger.reserve(ask(), pure("0.1")));
  EXPECT_EQ(ledger.left("people"), Budget::pure(0));
  EXPECT_ERROR(ledger.reserve(ask(), pure("1e-30")), ErrorCode::kBudgetExceeded);
  EXPECT_EQ(ledger.history().size(), 10u);
  ledger.verify();
}

TEST(Ledger, AcceptsAllPartsOfASplitBudgetAndNothingMore) {
  // Thirds, sevenths and 16 d-ths as exact fractions, and the decimals that Budget::split makes.
  for (const int parts : {3, 7, 48, 112}) {
    const LedgerFolder folder;
    Ledger ledger = new_ledger(folder.file(), Budget::approximate(1, parse_ratio("1e-6")));
    for (int i = 0; i < parts; ++i) {
      ledger.reserve(
          ask(), testing::event(events::Approximate{Ratio(1, parts), parse_ratio("1e-6") / parts}));
    }
    EXPECT_EQ(ledger.left("people"), Budget::approximate(0, 0)) << parts;
    EXPECT_ERROR(ledger.reserve(ask(), pure("1e-20")), ErrorCode::kBudgetExceeded);
  }
  const LedgerFolder folder;
  const Budget whole = Budget::approximate(1, parse_ratio("1e-6"));
  Ledger ledger = new_ledger(folder.file(), whole);
  for (const Budget& part : whole.split(48)) {
    ledger.reserve(ask(), testing::event(events::Approximate{part.amount, part.delta}));
  }
}

TEST(Ledger, RoundsLongFractionsUpAndKeepsTotalsShort) {
  const LedgerFolder folder;
  Ledger ledger = new_ledger(folder.file(), Budget::pure(10));
  // 1/(2^89-1)/(2^61-1): a denominator of 150 bits.
  const Ratio long_price = Ratio(1) / (power_of_two(89) - Ratio(1)) / (power_of_two(61) - Ratio(1));
  ledger.reserve(ask(), pure_of(long_price));
  const Ratio charged = ledger.history()[0].cost.amount;
  EXPECT_GE(charged, long_price);
  EXPECT_EQ(charged, parse_ratio("1e-30"));
  // Many short prices without a common denominator.
  Ratio sum = charged;
  for (int i = 1; i <= 200; ++i) {
    const Ratio price(1, 1000 + 7 * i);
    ledger.reserve(ask(), pure_of(price));
    sum += price;
  }
  const Ratio spent = Ratio(10) - ledger.left("people").amount;
  EXPECT_GE(spent, sum);
  EXPECT_LE(spent, sum + 200 * parse_ratio("1e-30"));
  EXPECT_LT(spent.str().size(), 250u);
  ledger.verify();
}

TEST(Ledger, KeepsRhoWithADelta) {
  const LedgerFolder folder;
  Ledger ledger = new_ledger(folder.file(), Budget::zcdp(1, parse_ratio("1e-6")));
  ledger.reserve(ask(), gaussian("1"));  // rho 1/2
  EXPECT_EQ(ledger.left("people"), Budget::zcdp(Ratio(1, 2), parse_ratio("1e-6")));
  // rho epsilon^2/2 with the delta.
  ledger.reserve(ask(), approximate("1/2", "1e-6"));
  EXPECT_EQ(ledger.left("people"), Budget::zcdp(Ratio(3, 8), 0));
  EXPECT_ERROR(ledger.reserve(ask(), approximate("1/2", "1e-9")), ErrorCode::kBudgetExceeded);
}

TEST(Ledger, ChargesGaussianNoiseAtTheEpsilonAndDeltaItWasAskedAt) {
  const LedgerFolder folder;
  Ledger ledger = new_ledger(folder.file(), Budget::approximate(3, parse_ratio("1e-5")));
  const Event noise = gaussian("20");
  EXPECT_ERROR(ledger.reserve(ask(), noise), ErrorCode::kCannotCompose);

  // Asked at more than it needs: the round number. Asked at less: what it needs.
  const double needed = epsilon_at({noise}, 1e-6).epsilon;
  ASSERT_LT(needed, 0.5);
  ASSERT_GT(needed, 0.1);
  Request request = ask();
  request.asked = Budget::approximate(parse_ratio("0.5"), parse_ratio("1e-6"));
  ledger.reserve(request, noise);
  EXPECT_EQ(ledger.history().back().cost, *request.asked);
  request.asked = Budget::approximate(parse_ratio("0.1"), parse_ratio("1e-6"));
  ledger.reserve(request, noise);
  EXPECT_GE(ledger.history().back().cost.amount, ratio_of_bits(needed));
  EXPECT_LE(round_up(ledger.history().back().cost.amount), needed * 1.0001);
  // Pure noise spends no delta, whatever was asked.
  request.asked = Budget::approximate(1, parse_ratio("1e-6"));
  ledger.reserve(request, laplace("2"));
  EXPECT_EQ(ledger.history().back().cost, Budget::approximate(Ratio(1, 2), 0));
}

TEST(Ledger, RefusesWhatItCannotAddUp) {
  const LedgerFolder folder;
  Ledger ledger = new_ledger(folder.file(), Budget::pure(1));
  EXPECT_ERROR(ledger.reserve(ask(), gaussian("1")), ErrorCode::kCannotCompose);
  EXPECT_ERROR(ledger.reserve(ask(), testing::event(events::Pure{1}, 1, Relation::kReplace)),
               ErrorCode::kCannotCompose);
  Request stranger = ask();
  stranger.dataset = "nobody";
  EXPECT_ERROR(ledger.reserve(stranger, pure("1")), ErrorCode::kUnknownName);
  EXPECT_ERROR(ledger.reserve(ask(), pure("-1")), ErrorCode::kInvalidOption);
  EXPECT_EQ(ledger.left("people"), Budget::pure(1));
}

TEST(Ledger, RefusesTextThatNoDatabaseStores) {
  const LedgerFolder folder;
  Ledger ledger = new_ledger(folder.file(), Budget::pure(1));
  for (const std::string& text : {std::string("a\0b", 3), std::string("\xff"),
                                  std::string("\xed\xa0\x80"), std::string("\xc3")}) {
    EXPECT_ERROR(ledger.reserve(ask(text), pure("0.1")), ErrorCode::kInvalidInput);
  }
  EXPECT_ERROR(ledger.reserve(ask(std::string(1'000'001, 'a')), pure("0.1")),
               ErrorCode::kInvalidOption);
  ledger.reserve(ask("SELECT 'Zoë', \"\U0001F600\", '%s', $1 -- \n\t"), pure("0.1"));
  EXPECT_EQ(ledger.history()[0].text, "SELECT 'Zoë', \"\U0001F600\", '%s', $1 -- \n\t");
}

TEST(Ledger, RefusesBudgetsThatAreNone) {
  const LedgerFolder folder;
  Ledger ledger = new_ledger(folder.file(), Budget::pure(1));
  EXPECT_ERROR(ledger.add_dataset({"people", Budget::pure(2)}), ErrorCode::kInvalidOption);
  EXPECT_ERROR(ledger.add_dataset({"", Budget::pure(2)}), ErrorCode::kInvalidOption);
  EXPECT_ERROR(ledger.add_dataset({"a", Budget::pure(0)}), ErrorCode::kInvalidOption);
  EXPECT_ERROR(ledger.add_dataset({"a", {Budget::Currency::kPure, -1, 0}}),
               ErrorCode::kInvalidOption);
  EXPECT_ERROR(ledger.add_dataset({"a", {Budget::Currency::kApproximate, 1, 1}}),
               ErrorCode::kInvalidOption);
  EXPECT_ERROR(ledger.add_dataset({"a", Budget::pure(parse_ratio("1e-31"))}),
               ErrorCode::kInvalidOption);
  EXPECT_ERROR(ledger.add_dataset({"a", Budget::pure(parse_ratio("1e30"))}),
               ErrorCode::kInvalidOption);
  EXPECT_EQ(ledger.datasets().size(), 1u);
  ledger.add_dataset({"a", Budget::pure(parse_ratio("1e30") - parse_ratio("1e-30"))});
  EXPECT_EQ(ledger.datasets().size(), 2u);
}

// ---- schemas ----

TEST(Ledger, RemembersByWhichSchemaADataSetIsCounted) {
  const LedgerFolder folder;
  const CountedSchema one{std::string(64, 'a'), "people.schema.json"},
      other{std::string(64, 'b'), "", "123/base"};
  Ledger ledger = Ledger::create(
      folder.file(),
      {{"people", Budget::pure(1), Relation::kAddRemove, one}, {"b", Budget::pure(1)}});
  EXPECT_EQ(ledger.schema("people"), one);
  EXPECT_EQ(ledger.schema("b"), std::nullopt);
  EXPECT_EQ(ledger.datasets().at(0).schema, one);
  Request request = ask("a");
  ledger.reserve(request, pure("0.1"));  // by no schema
  request.schema = one.digest;
  ledger.reserve(request, pure("0.1"));
  ledger.set_schema("people", other, "steward");
  EXPECT_EQ(ledger.schema("people"), other);
  EXPECT_EQ(Ledger::open(folder.file()).schema("people"), other);
  EXPECT_ERROR(ledger.reserve(request, pure("0.1")), ErrorCode::kInvalidOption);
  EXPECT_EQ(ledger.left("people"), Budget::pure(parse_ratio("0.8")));
  request.schema = other.digest;
  ledger.reserve(request, pure("0.1"));
  EXPECT_ERROR(ledger.set_schema("cats", other), ErrorCode::kUnknownName);
  EXPECT_ERROR(ledger.set_schema("people", {"no digest"}), ErrorCode::kInvalidOption);
  EXPECT_ERROR(ledger.add_dataset({"c", Budget::pure(1), Relation::kAddRemove, CountedSchema{"x"}}),
               ErrorCode::kInvalidOption);
  EXPECT_EQ(ledger.datasets().size(), 2u) << "complete or not at all";
  ledger.verify();
}

// ---- shares ----

TEST(Ledger, HoldsAnalystsToTheirShareAndToTheWhole) {
  const LedgerFolder folder;
  Ledger ledger = new_ledger(folder.file(), Budget::pure(1));
  ledger.set_share("people", "ada", Budget::pure(parse_ratio("0.7")));
  ledger.set_share("people", "bob", Budget::pure(parse_ratio("0.7")));
  ledger.reserve(ask("a", "ada"), pure("0.6"));
  EXPECT_EQ(ledger.left("people", "ada"), Budget::pure(parse_ratio("0.1")));
  EXPECT_EQ(ledger.left("people", "bob"), Budget::pure(parse_ratio("0.4")));
  EXPECT_ERROR(ledger.reserve(ask("b", "ada"), pure("0.2")), ErrorCode::kBudgetExceeded);
  EXPECT_ERROR(ledger.reserve(ask("b", "bob"), pure("0.5")), ErrorCode::kBudgetExceeded);
  ledger.reserve(ask("b", "bob"), pure("0.4"));
  ledger.verify();
}

TEST(Ledger, LetsOnlyAnalystsWithAShareAskOnceThereAreShares) {
  const LedgerFolder folder;
  Ledger ledger = new_ledger(folder.file(), Budget::pure(1));
  ledger.reserve(ask("a", "ada"), pure("0.25"));
  ledger.reserve(ask("a"), pure("0.25"));
  ledger.set_share("people", "ada", Budget::pure(parse_ratio("0.3")));
  EXPECT_ERROR(ledger.reserve(ask("b"), pure("0.01")), ErrorCode::kUnknownName);
  EXPECT_ERROR(ledger.reserve(ask("b", "eve"), pure("0.01")), ErrorCode::kUnknownName);
  // What she spent before she had a share counts.
  EXPECT_EQ(ledger.left("people", "ada"), Budget::pure(parse_ratio("0.05")));
  EXPECT_ERROR(ledger.reserve(ask("b", "ada"), pure("0.06")), ErrorCode::kBudgetExceeded);
  ledger.reserve(ask("b", "ada"), pure("0.05"));
  ledger.verify();
}

TEST(Ledger, ReplacesAShareAndNeverShowsLessThanNothing) {
  const LedgerFolder folder;
  Ledger ledger = new_ledger(folder.file(), Budget::pure(1));
  ledger.set_share("people", "ada", Budget::pure(1));
  ledger.reserve(ask("a", "ada"), pure("0.5"));
  ledger.set_share("people", "ada", Budget::pure(parse_ratio("0.1")));
  EXPECT_EQ(ledger.left("people", "ada"), Budget::pure(0));
  EXPECT_ERROR(ledger.reserve(ask("b", "ada"), pure("0.01")), ErrorCode::kBudgetExceeded);
  ledger.set_share("people", "ada", Budget::pure(parse_ratio("0.6")));
  EXPECT_EQ(ledger.left("people", "ada"), Budget::pure(parse_ratio("0.1")));
  EXPECT_ERROR(ledger.set_share("people", "ada", Budget::zcdp(1)), ErrorCode::kInvalidOption);
  EXPECT_ERROR(ledger.set_share("cats", "ada", Budget::pure(1)), ErrorCode::kUnknownName);
  ASSERT_EQ(ledger.accounts().size(), 2u);
  EXPECT_EQ(ledger.accounts()[1].analyst, "ada");
  ledger.verify();
}

// ---- states ----

TEST(Ledger, LetsAnInterruptedQuestionBeAskedAgainAtNoCost) {
  const LedgerFolder folder;
  Ledger ledger = new_ledger(folder.file(), Budget::pure(1));
  Grant first = ledger.reserve(ask(), pure("1"));
  const std::uint64_t id = first.id();
  ledger.interrupt(std::move(first));
  EXPECT_EQ(ledger.left("people"), Budget::pure(0));
  EXPECT_EQ(ledger.history()[0].state, Entry::State::kInterrupted);
  Grant again = ledger.reserve(ask(), pure("1"));
  EXPECT_EQ(again.id(), id);
  EXPECT_EQ(ledger.history()[0].state, Entry::State::kReserved);
  // Once only.
  EXPECT_ERROR(ledger.reserve(ask(), pure("1")), ErrorCode::kBudgetExceeded);
  ledger.settle(std::move(again));
  EXPECT_EQ(ledger.history()[0].state, Entry::State::kSettled);
  EXPECT_ERROR(ledger.reserve(ask(), pure("1")), ErrorCode::kBudgetExceeded);
  EXPECT_EQ(ledger.history().size(), 1u);
  ledger.verify();
}

TEST(Ledger, LetsOnlyTheSameQuestionTakeOver) {
  const LedgerFolder folder;
  Ledger ledger = new_ledger(folder.file(), Budget::pure(1));
  ledger.add_dataset({"cats", Budget::pure(parse_ratio("0.5"))});
  ledger.interrupt(ledger.reserve(ask("a", "ada"), pure("1")));
  EXPECT_ERROR(ledger.reserve(ask("b", "ada"), pure("1")), ErrorCode::kBudgetExceeded);
  EXPECT_ERROR(ledger.reserve(ask("a", "bob"), pure("1")), ErrorCode::kBudgetExceeded);
  EXPECT_ERROR(ledger.reserve(ask("a", "ada"), pure("0.5")), ErrorCode::kBudgetExceeded);
  Request elsewhere = ask("a", "ada");
  elsewhere.dataset = "cats";
  EXPECT_ERROR(ledger.reserve(elsewhere, pure("1")), ErrorCode::kBudgetExceeded);
  ledger.reserve(ask("a", "ada"), pure("1"));
}

/// Asks `count` questions that nobody asked before, and none of them gets an answer.
void fail_questions(Ledger& ledger, std::size_t count, const std::string& name) {
  for (std::size_t i = 0; i < count; ++i) {
    ledger.interrupt(ledger.reserve(ask(name + std::to_string(i)), pure("0.001")));
  }
}

TEST(Ledger, TakesNoNewQuestionAfterTenThatFailedUntilTheStewardDismissesThem) {
  const LedgerFolder folder;
  Ledger ledger = new_ledger(folder.file(), Budget::pure(1));
  ledger.add_dataset({"cats", Budget::pure(1)});
  fail_questions(ledger, 10, "a");
  EXPECT_EQ(ledger.unanswered("people"), 10u);
  EXPECT_ERROR(ledger.reserve(ask("new"), pure("0.001")), ErrorCode::kBudgetExceeded);
  // Another data set is not concerned.
  Request elsewhere = ask("new");
  elsewhere.dataset = "cats";
  ledger.settle(ledger.reserve(elsewhere, pure("0.001")));

  EXPECT_EQ(ledger.dismiss("people", "steward"), 10u);
  EXPECT_EQ(ledger.unanswered("people"), 0u);
  EXPECT_EQ(ledger.dismiss("people", "steward"), 0u);
  // What was paid for can be asked again at no further cost, and end as any other.
  EXPECT_EQ(ledger.history("people")[0].state, Entry::State::kInterrupted);
  ledger.settle(ledger.reserve(ask("a0"), pure("0.001")));
  EXPECT_EQ(ledger.history("people")[0].state, Entry::State::kSettled);
  EXPECT_EQ(ledger.left("people"), Budget::pure(parse_ratio("0.99")));
  EXPECT_ERROR(ledger.dismiss("dogs", "steward"), ErrorCode::kUnknownName);
  ledger.verify();
}

// Whoever can make a question fail or not, by memory or temporary room, learns a bit each time, also where it is answered in between.
TEST(Ledger, CountsEveryFailureAlsoOfOneQuestionThatIsAskedAgain) {
  const LedgerFolder folder;
  Ledger ledger = new_ledger(folder.file(), Budget::pure(1));
  for (int i = 0; i < 9; ++i) {
    ledger.interrupt(ledger.reserve(ask("a"), pure("0.001")));
    if (i % 3 == 2) ledger.settle(ledger.reserve(ask("a"), pure("0.001")));
  }
  Grant running = ledger.reserve(ask("a"), pure("0.001"));
  ledger.interrupt(ledger.reserve(ask("b"), pure("0.001")));
  EXPECT_EQ(ledger.unanswered("people"), 10u);
  EXPECT_ERROR(ledger.reserve(ask("b"), pure("0.001")), ErrorCode::kBudgetExceeded);
  EXPECT_ERROR(ledger.reserve(ask("new"), pure("0.001")), ErrorCode::kBudgetExceeded);
  EXPECT_EQ(ledger.dismiss("people", "steward"), 10u);
  // What was under way is not concerned.
  ledger.settle(std::move(running));
  ledger.settle(ledger.reserve(ask("b"), pure("0.001")));
  fail_questions(ledger, 1, "c");
  EXPECT_EQ(ledger.unanswered("people"), 1u);
  EXPECT_EQ(ledger.left("people"), Budget::pure(parse_ratio("0.994")));
  ledger.verify();
}

TEST(Ledger, DoesNotRefundAGrantThatWasDropped) {
  const LedgerFolder folder;
  Ledger ledger = new_ledger(folder.file(), Budget::pure(1));
  { const Grant dropped = ledger.reserve(ask(), pure("1")); }
  EXPECT_EQ(ledger.history()[0].state, Entry::State::kReserved);
  EXPECT_ERROR(ledger.reserve(ask(), pure("1")), ErrorCode::kBudgetExceeded);
}

TEST(Ledger, EndsAGrantOnceAndInItsOwnLedgerOnly) {
  const LedgerFolder folder;
  Ledger one = new_ledger(folder.file("one"), Budget::pure(1));
  Ledger other = new_ledger(folder.file("other"), Budget::pure(1));
  Grant mine = one.reserve(ask(), pure("0.1"));
  Grant stranger = other.reserve(ask("another question"), pure("0.1"));
  ASSERT_EQ(mine.id(), stranger.id());
  EXPECT_ERROR(one.settle(std::move(stranger)), ErrorCode::kInvalidOption);
  one.settle(std::move(mine));
}

TEST(Ledger, RemembersEverythingAfterItWasClosed) {
  const LedgerFolder folder;
  {
    Ledger ledger = new_ledger(folder.file(), Budget::pure(3));
    ledger.settle(ledger.reserve(ask("a", "ada"), laplace("2")));
    ledger.interrupt(ledger.reserve(ask("b"), pure("0.1")));
  }
  Ledger ledger = Ledger::open(folder.file());
  ledger.verify();
  const auto history = ledger.history("people");
  ASSERT_EQ(history.size(), 2u);
  EXPECT_EQ(history[0].analyst, "ada");
  EXPECT_EQ(history[0].caller, "test");
  EXPECT_EQ(history[0].event, laplace("2"));
  EXPECT_EQ(history[0].cost, Budget::pure(Ratio(1, 2)));
  EXPECT_EQ(history[0].state, Entry::State::kSettled);
  EXPECT_THAT(history[0].time,
              ::testing::MatchesRegex("[0-9]+-[0-9]+-[0-9]+T[0-9]+:[0-9]+:[0-9]+\\.[0-9]+Z"));
  EXPECT_EQ(history[1].state, Entry::State::kInterrupted);
  EXPECT_EQ(ledger.left("people"), Budget::pure(parse_ratio("2.4")));
  EXPECT_ERROR(ledger.history("cats"), ErrorCode::kUnknownName);
}

// ---- the chain ----

TEST(Ledger, HashesNetstringsOfAllFieldsInOrder) {
  // Computed with: printf '1:a,0:,2:bc,' | sha256sum
  const std::array<std::string_view, 3> parts = {"a", "", "bc"};
  EXPECT_EQ(ledger::digest(parts),
            "43d0fbdf830cb070804a54721af49ef765053a75a6dcf5ae1443ff9bc9997e56");
}

TEST(Ledger, ExportsAChainThatAnybodyCanRecompute) {
  const LedgerFolder folder;
  Ledger ledger = new_ledger(folder.file(), Budget::pure(1));
  ledger.settle(ledger.reserve(ask("\"quoted\"\n"), pure("0.1")));
  std::string previous(64, '0');
  std::uint64_t count = 0;
  ledger.export_lines([&](const std::string& text) {
    EXPECT_EQ(text.find('\n'), std::string::npos);
    const auto line = nlohmann::ordered_json::parse(text);
    std::vector<std::string> fields;
    for (const auto& [key, value] : line.items()) fields.push_back(value);
    EXPECT_EQ(line["previous"], previous);
    EXPECT_EQ(line["id"], std::to_string(++count));
    const std::vector<std::string_view> parts(fields.begin(), fields.end() - 1);
    EXPECT_EQ(line["hash"], ledger::digest(parts));
    previous = line["hash"];
  });
  EXPECT_EQ(count, 4u);  // init, dataset, reserve, settle
  EXPECT_EQ(ledger.head().hash, previous);
  EXPECT_EQ(ledger.head().records, count);
}

TEST(Ledger, NoticesEveryChangeOfEveryField) {
  for (const auto& [column, member] : ledger::kFields) {
    if (std::string_view(column) == "id") continue;  // next test
    const LedgerFolder folder;
    {
      Ledger ledger = new_ledger(folder.file(), Budget::pure(1));
      ledger.settle(ledger.reserve(ask(), pure("0.1")));
      ledger.settle(ledger.reserve(ask(), pure("0.2")));
    }
    tamper(folder.file(), std::string("UPDATE gauze_ledger SET ") + column + " = '7' WHERE id = 3");
    SCOPED_TRACE(column);
    EXPECT_ERROR(Ledger::open(folder.file()).verify(), ErrorCode::kLedgerDamaged);
  }
}

TEST(Ledger, NoticesRecordsThatAreMissingRepeatedOrSwapped) {
  for (const char* sql :
       {"DELETE FROM gauze_ledger WHERE id = 3", "DELETE FROM gauze_ledger WHERE id = 1",
        "UPDATE gauze_ledger SET id = 99 WHERE id = 3",
        "UPDATE gauze_ledger SET id = -id; UPDATE gauze_ledger SET id = 9 + id",
        "INSERT INTO gauze_ledger SELECT id + 10, time, kind, subject, dataset, analyst, caller, "
        "query, event, request, relation, currency, amount, delta, spent_amount, spent_delta, "
        "analyst_amount, analyst_delta, previous, hash FROM gauze_ledger"}) {
    const LedgerFolder folder;
    {
      Ledger ledger = new_ledger(folder.file(), Budget::pure(1));
      ledger.settle(ledger.reserve(ask(), pure("0.1")));
      ledger.settle(ledger.reserve(ask(), pure("0.2")));
    }
    tamper(folder.file(), sql);
    SCOPED_TRACE(sql);
    EXPECT_ERROR(Ledger::open(folder.file()).verify(), ErrorCode::kLedgerDamaged);
  }
}

TEST(Ledger, ShowsThatItsEndWasCutOffToWhoeverNotedTheHead) {
  const LedgerFolder folder;
  std::string noted;
  {
    Ledger ledger = new_ledger(folder.file(), Budget::pure(1));
    ledger.settle(ledger.reserve(ask(), pure("0.1")));
    noted = ledger.head().hash;
    ledger.settle(ledger.reserve(ask(), pure("0.1")));
    EXPECT_TRUE(ledger.contains(noted));
  }
  tamper(folder.file(), "DELETE FROM gauze_ledger WHERE id >= 4");
  const Ledger ledger = Ledger::open(folder.file());
  EXPECT_NO_THROW(ledger.verify());  // a chain cannot show what is no longer there
  EXPECT_FALSE(ledger.contains(noted));
}

TEST(Ledger, GrantsNothingOnTopOfARecordThatWasAltered) {
  const LedgerFolder folder;
  {
    Ledger ledger = new_ledger(folder.file(), Budget::pure(1));
    ledger.settle(ledger.reserve(ask(), pure("1")));
  }
  tamper(folder.file(), "UPDATE gauze_ledger SET spent_amount = '0' WHERE kind = 'reserve'");
  EXPECT_ERROR(Ledger::open(folder.file()).reserve(ask(), pure("1")), ErrorCode::kLedgerDamaged);
}

/// A ledger whose every hash fits, as somebody with write access could make it.
std::vector<ledger::Record> forged(void (*forge)(std::vector<ledger::Record>&)) {
  using ledger::Record;
  std::vector<Record> records(4);
  records[0].kind = ledger::kind::kInit;
  records[0].query = ledger::kFormat;
  records[1].kind = ledger::kind::kDataset;
  records[1].dataset = "people"s;
  records[1].relation = "add_remove"s;
  records[1].currency = "epsilon"s;
  records[1].amount = "1"s;
  records[1].delta = "0"s;
  records[2] = records[1];
  records[2].kind = ledger::kind::kReserve;
  records[2].subject = "3"s;
  records[2].event = to_json(pure("1")).dump();
  records[2].spent_amount = records[2].analyst_amount = "1"s;
  records[2].spent_delta = records[2].analyst_delta = "0"s;
  records[2].request = ledger::request_of("people", "", "", records[2].event);
  records[3].kind = ledger::kind::kSettle;
  records[3].subject = "3"s;
  records[3].dataset = "people"s;
  records[3].request = records[2].request;
  forge(records);
  std::string previous = ledger::kNothing;
  for (std::size_t i = 0; i < records.size(); ++i) {
    records[i].id = std::to_string(i + 1);
    records[i].previous = previous;
    previous = records[i].hash = ledger::hash_of(records[i]);
  }
  return records;
}

void replay(void (*forge)(std::vector<ledger::Record>&)) {
  ledger::Replay replay;
  for (const ledger::Record& record : forged(forge)) replay.next(record);
}

TEST(Ledger, RecomputesSumsAndStatesAndNotOnlyHashes) {
  using Records = std::vector<ledger::Record>;
  EXPECT_NO_THROW(replay([](Records&) {}));
  EXPECT_ERROR(replay([](Records& r) { r[2].spent_amount = "0"s; }), ErrorCode::kLedgerDamaged);
  EXPECT_ERROR(replay([](Records& r) { r[2].analyst_amount = "0"s; }), ErrorCode::kLedgerDamaged);
  EXPECT_ERROR(
      replay([](Records& r) { r[2].amount = r[2].spent_amount = r[2].analyst_amount = "2"s; }),
      ErrorCode::kLedgerDamaged);
  EXPECT_ERROR(replay([](Records& r) { r[2].amount = "-1"s; }), ErrorCode::kLedgerDamaged);
  EXPECT_ERROR(replay([](Records& r) { r[2].event = "{"s; }), ErrorCode::kLedgerDamaged);
  EXPECT_ERROR(replay([](Records& r) { r[2].currency = "rho"s; }), ErrorCode::kLedgerDamaged);
  EXPECT_ERROR(replay([](Records& r) { r[3].kind = "resume"s; }), ErrorCode::kLedgerDamaged);
  EXPECT_ERROR(replay([](Records& r) { r[3].kind = "refund"s; }), ErrorCode::kLedgerDamaged);
  EXPECT_ERROR(replay([](Records& r) { r.push_back(r[3]); }), ErrorCode::kLedgerDamaged);
  const auto with_schema = [](Records& r) {
    r.push_back(r[1]);
    r.back().kind = "schema"s;
    r.back().subject = "2"s;
    r.back().query = R"({"digest":")" + std::string(64, 'a') + R"(","file":"","database":""})";
  };
  EXPECT_NO_THROW(replay(with_schema));
  EXPECT_ERROR(replay([](Records& r) {
                 r.push_back(r[1]);
                 r.back().kind = "schema"s;
                 r.back().subject = "2"s;
                 r.back().query = R"({"digest":"a","file":"","database":""})";
               }),
               ErrorCode::kLedgerDamaged);
  EXPECT_ERROR(replay([](Records& r) {
                 r.push_back(r[1]);
                 r.back().kind = "schema"s;
                 r.back().query =
                     R"({"digest":")" + std::string(64, 'a') + R"(","file":"","database":""})";
               }),
               ErrorCode::kLedgerDamaged);
  EXPECT_ERROR(replay([](Records& r) { r.push_back(r[1]); }), ErrorCode::kLedgerDamaged);
  EXPECT_ERROR(replay([](Records& r) { r.push_back(r[0]); }), ErrorCode::kLedgerDamaged);
  EXPECT_ERROR(replay([](Records& r) { r.erase(r.begin()); }), ErrorCode::kLedgerDamaged);
  EXPECT_ERROR(replay([](Records& r) { r.erase(r.begin() + 1); }), ErrorCode::kLedgerDamaged);
  EXPECT_ERROR(replay([](Records& r) {
                 r.insert(r.begin() + 2, r[1]);
                 r[2].kind = "share"s;
                 r[2].analyst = "ada"s;
                 r[3].subject = r[4].subject = "4"s;
               }),
               ErrorCode::kLedgerDamaged);
}

TEST(Ledger, NoticesARecordThatWasAlteredAndHashedAnew) {
  auto records = forged([](std::vector<ledger::Record>&) {});
  records[1].caller = "somebody else";
  records[1].hash = ledger::hash_of(records[1]);
  ledger::Replay replay;
  replay.next(records[0]);
  replay.next(records[1]);
  EXPECT_ERROR(replay.next(records[2]), ErrorCode::kLedgerDamaged);
}

}  // namespace
}  // namespace gauze
