#include "gauze/query/register.h"

#include <gmock/gmock.h>

#include "gauze/data/source.h"
#include "gauze/data/table.h"
#include "gauze/testing/matchers.h"
#include "gauze/testing/seeded_bits.h"

namespace gauze {
namespace {

using ::testing::HasSubstr;
using testing::SeededBits;

const Schema& visits() {
  static const Schema schema =
      parse_schema(R"({"version": 1, "dataset": "hospital", "tables": {"visits": {
    "unit": "patient", "rows_per_unit": 3, "columns": {
      "patient": {"type": "integer", "nulls": false},
      "ward": {"type": "text", "categories": ["a", "b"], "nulls": false, "default": "b"},
      "code": {"type": "text"},
      "cost": {"type": "double", "lower": 0, "upper": 100}}}}})");
  return schema;
}

std::unique_ptr<Source> rows() {
  return open_tables(
      {{"visits", Table({"patient", "ward", "code", "cost"},
                        {Column::of_integers(Type::kInteger, {1, 1, 2}),
                         Column::of_texts({"a", "a", "b"}), Column::of_texts({"x", "y", "x"}),
                         Column::of_reals(Type::kDouble, {10, 20, 30})})}});
}

/// Says what its columns are and nothing of its rows.
class Unreadable final : public Source {
 public:
  const Dialect& dialect() const override { return source_->dialect(); }
  std::vector<ColumnInfo> columns(const std::string& table) override {
    return source_->columns(table);
  }
  std::string table_sql(const std::string& table) override { return source_->table_sql(table); }
  std::unique_ptr<Stream> execute(const std::string&) override {
    throw Error(ErrorCode::kInternal, "rows were read");
  }

 private:
  std::unique_ptr<Source> source_ = rows();
};

Algorithm sql() {
  return query_families().at(0).algorithms.at(0);
}

Asked asked(const std::string& question, const char* epsilon = "1") {
  return {.options = {{"epsilon", epsilon}}, .asks = {{"sql", question}}, .schema = &visits()};
}

std::string note(const std::vector<Note>& notes, std::string_view label) {
  for (const Note& each : notes)
    if (each.label == label) return each.text;
  return "";
}

TEST(SqlEntry, ItsWordsAreTheQuestion) {
  const std::string question = "SELECT ward, COUNT(*) FROM visits GROUP BY ward";
  const Task task = sql().make(asked(question));
  EXPECT_EQ(task.words, question);
  EXPECT_EQ(task.unit, "patient");
  EXPECT_EQ(note(task.notes, "counted"), "at most 3 rows of each patient, in at most 2 groups");
  EXPECT_TRUE(task.tells_drawing);
  EXPECT_FALSE(task.explain_only);
  EXPECT_TRUE(sql().make(asked("EXPLAIN " + question)).explain_only);
}

TEST(SqlEntry, AnAnswerHasItsColumnsRowsAndBounds) {
  const auto source = rows();
  const Task task =
      sql().make(asked("SELECT ward, SUM(cost) AS cost FROM visits GROUP BY ward", "1000000"));
  SeededBits bits(1);
  Meter meter(task.event);
  Context context{meter, bits};
  const Release<Result> release = task.run(std::ref(*source), context);
  EXPECT_EQ(release.spent, task.event);
  const auto& json = release.value.json;
  std::vector<std::string> keys;
  for (const auto& [key, value] : json.items()) keys.push_back(key);
  EXPECT_EQ(keys,
            (std::vector<std::string>{"columns", "rows", "dataset", "unit", "bounds", "notes"}));
  EXPECT_EQ(json["columns"][0].dump(), R"({"name":"ward","type":"text","key":true})");
  EXPECT_NEAR(json["rows"][0]["cost"].get<double>(), 30, 0.1);
  EXPECT_TRUE(json["rows"][0].contains("cost_half_width"));
  EXPECT_EQ(json["dataset"], "hospital");
  EXPECT_EQ(json["unit"], "patient of visits");
  EXPECT_EQ(json["bounds"]["rows_per_unit"], 3);
  EXPECT_EQ(release.value.table->rows.size(), 2u);
  EXPECT_EQ(release.value.figures.size(), 1u);
  EXPECT_TRUE(release.value.notes.empty());
}

TEST(SqlEntry, GroupsThatNobodyDeclaredAreSpokenOf) {
  const auto source = rows();
  Asked question = asked("SELECT code, COUNT(*) FROM visits GROUP BY code");
  question.options["delta"] = "1e-6";
  const Task task = sql().make(question);
  SeededBits bits(1);
  Meter meter(task.event);
  Context context{meter, bits};
  EXPECT_THAT(note(task.run(std::ref(*source), context).value.notes, "groups"),
              HasSubstr("enough privacy units"));
}

TEST(SqlEntry, ExplainingReadsNothing) {
  const Task task = sql().make(asked("SELECT ward, AVG(cost) FROM visits GROUP BY ward"));
  Unreadable source;
  EXPECT_TRUE(task.check(source).empty());
  const Explanation explanation = task.explain();
  EXPECT_THAT(std::get<std::string>(explanation.parts.at(0)), HasSubstr("visits"));
  const auto& moves = std::get<Explanation::Table>(explanation.parts.at(1));
  EXPECT_EQ(moves.rows.at(0).at(1), "how far one privacy unit moves it");
  const auto& noise = std::get<Explanation::Table>(explanation.parts.at(2));
  EXPECT_EQ(noise.rows.size(), moves.rows.size());
  EXPECT_EQ(std::get<Explanation::Table>(explanation.parts.at(3)).rows.at(0).size(), 4u);
  EXPECT_THAT(std::get<std::string>(explanation.parts.at(4)), HasSubstr("It is supposed"));
  EXPECT_EQ(explanation.json["sql"], task.words);
  EXPECT_FALSE(explanation.json["measurements"].empty());
  EXPECT_FALSE(explanation.json["expected"].empty());
}

TEST(SqlEntry, SaysWhichTextsAreReadAsSomethingElse) {
  const auto source = open_tables(
      {{"visits", Table({"patient", "ward", "code", "cost"},
                        {Column::of_integers(Type::kInteger, {1}), Column::of_texts({"a"}),
                         Column::of_texts({"x"}), Column::of_texts({"10"})})}});
  const Task task = sql().make(asked("SELECT SUM(cost) FROM visits"));
  const std::vector<Note> notes = task.check(*source);
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_EQ(notes[0].label, "read");
  EXPECT_THAT(notes[0].text, HasSubstr("cost"));
}

TEST(SqlEntry, WhatDoesNotFitIsRefusedWhenItIsMade) {
  const auto made = [](const Asked& question) { return sql().make(question); };
  EXPECT_ERROR(made(asked("SELECT * FROM visits")), ErrorCode::kNotPrivate);
  EXPECT_ERROR(made(asked("SELECT COUNT(*) FROM visits", "0")), ErrorCode::kInvalidOption);
  EXPECT_ERROR(made(asked("SELECT COUNT(*) AS n, SUM(cost) AS n_half_width FROM visits")),
               ErrorCode::kInvalidOption);
  EXPECT_ERROR(made({.options = {{"epsilon", 1}}, .schema = &visits()}), ErrorCode::kInvalidOption);
  EXPECT_ERROR(made({.options = {{"epsilon", 1}}, .asks = {{"sql", "SELECT 1"}}}),
               ErrorCode::kInvalidOption);
  Asked question = asked("SELECT COUNT(*) FROM visits");
  question.options["memory"] = "1k";
  EXPECT_ERROR(made(question), ErrorCode::kInvalidOption);
  question = asked("SELECT COUNT(*) FROM visits");
  question.confidence = 0.9;
  EXPECT_ERROR(made(question), ErrorCode::kInvalidOption);
}

}  // namespace
}  // namespace gauze
