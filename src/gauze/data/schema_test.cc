#include "gauze/data/schema.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "gauze/testing/matchers.h"

namespace gauze {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kHospital = R"({
  "version": 1, "dataset": "hospital",
  "tables": {
    "visits": {
      "unit": "patient_id", "rows_per_unit": 20, "groups_per_unit": 5, "rows_per_group": 4,
      "keys": [["visit_id"]],
      "columns": {
        "visit_id": {"type": "integer"},
        "patient_id": {"type": "text"},
        "age": {"type": "integer", "lower": 0, "upper": 120, "nulls": false, "bins": [0, 18, 65, 120]},
        "ward": {"type": "text", "categories": ["B", "A"], "default": "A"},
        "cost": {"type": "decimal", "lower": 0.1, "upper": "1000/3"},
        "score": {"type": "double", "lower": -0.1, "upper": 1e3},
        "day": {"type": "date", "lower": "2024-01-01", "upper": "2024-12-31"}
      }
    },
    "tests": {
      "unit": {"column": "visit", "of": "visits", "key": "visit_id"}, "rows_per_unit": 50,
      "columns": {"visit": {"type": "integer"}, "positive": {"type": "boolean"}}
    },
    "survey": {"unit": "row", "columns": {"row": {"type": "integer"}}},
    "wards": {"public": true, "keys": [["ward"]], "columns": {"ward": {"type": "text"}}}
  }
})";

/// The hospital with one piece of its text replaced.
std::string with(const std::string& old_text, const std::string& new_text) {
  std::string text = kHospital;
  const auto at = text.find(old_text);
  EXPECT_NE(at, std::string::npos) << old_text;
  return text.replace(at, old_text.size(), new_text);
}

std::string message_of(const std::string& text) {
  try {
    parse_schema(text);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(Schema, ReadsEveryField) {
  const Schema schema = parse_schema(kHospital);
  EXPECT_EQ(schema.dataset, "hospital");
  ASSERT_EQ(schema.tables.size(), 4u);
  const TableSchema& visits = schema.table("VISITS");
  EXPECT_EQ(visits.unit.kind, UnitSchema::Kind::kColumn);
  EXPECT_EQ(visits.unit.column, "patient_id");
  EXPECT_EQ(visits.rows_per_unit, 20u);
  EXPECT_EQ(visits.groups_per_unit, 5u);
  EXPECT_EQ(visits.rows_per_group, 4u);
  EXPECT_EQ(visits.keys, (std::vector<std::vector<std::string>>{{"visit_id"}}));
  const Domain& age = visits.find("Age")->domain;
  EXPECT_EQ(age.lower, Value(std::int64_t{0}));
  EXPECT_EQ(age.upper, Value(std::int64_t{120}));
  EXPECT_FALSE(age.nullable);
  EXPECT_EQ(age.bins.size(), 4u);
  const Domain& ward = visits.find("ward")->domain;
  EXPECT_EQ(*ward.categories, (std::vector<Value>{std::string("B"), std::string("A")}));
  EXPECT_EQ(ward.fallback, Value(std::string("A")));
  EXPECT_TRUE(ward.nullable);
  EXPECT_EQ(visits.find("cost")->domain.lower, Value(Ratio(1, 10)));
  EXPECT_EQ(visits.find("cost")->domain.upper, Value(Ratio(1000, 3)));
  EXPECT_EQ(visits.find("score")->domain.lower, Value(-0.1));
  EXPECT_EQ(visits.find("day")->domain.upper, Value(parse_date("2024-12-31")));
  EXPECT_EQ(visits.find("nothing"), nullptr);
  EXPECT_EQ(schema.table("tests").unit,
            (UnitSchema{UnitSchema::Kind::kThrough, "visit", "visits", "visit_id"}));
  EXPECT_EQ(schema.table("survey").unit.kind, UnitSchema::Kind::kRow);
  EXPECT_TRUE(schema.table("wards").is_public());
  EXPECT_ERROR(schema.table("visit"), ErrorCode::kUnknownName);
}

TEST(Schema, KeepsTheOrderOfColumnsAndSurvivesARoundTrip) {
  const Schema schema = parse_schema(kHospital);
  std::vector<std::string> names;
  for (const ColumnSchema& each : schema.table("visits").columns) names.push_back(each.name);
  EXPECT_EQ(names, (std::vector<std::string>{"visit_id", "patient_id", "age", "ward", "cost",
                                             "score", "day"}));
  EXPECT_EQ(schema_from_json(to_json(schema)), schema);
  EXPECT_EQ(parse_schema(to_json(schema).dump()), schema);
}

TEST(Schema, SaysWhichFilesOrWhichRelationHoldATable) {
  const Schema plain = parse_schema(kHospital);
  EXPECT_TRUE(plain.table("visits").files.empty());
  EXPECT_FALSE(to_json(plain).at("tables").at("visits").contains("files"));
  const Schema schema = parse_schema(
      with(R"("visits": {)", R"("visits": {"files": ["visits/*.parquet", "old.parquet"], )"));
  EXPECT_EQ(schema.table("visits").files,
            (std::vector<std::string>{"visits/*.parquet", "old.parquet"}));
  EXPECT_NE(schema, plain);
  EXPECT_EQ(schema_from_json(to_json(schema)), schema);
  const Schema base =
      parse_schema(with(R"("visits": {)", R"("visits": {"relation": "public.visits", )"));
  EXPECT_EQ(base.table("visits").relation, "public.visits");
  EXPECT_EQ(schema_from_json(to_json(base)), base);
}

TEST(Schema, AColumnCalledRowCanBeTheUnit) {
  const Schema schema =
      parse_schema(with(R"("survey": {"unit": "row",)",
                        R"("survey": {"unit": {"column": "row"}, "rows_per_unit": 3,)"));
  EXPECT_EQ(schema.table("survey").unit.kind, UnitSchema::Kind::kColumn);
  EXPECT_EQ(schema_from_json(to_json(schema)), schema);
}

TEST(Schema, MissingKnowledgeShowsTheLineToAdd) {
  const struct {
    std::string text, line;
  } cases[] = {
      {with(R"("rows_per_unit": 20,)", ""), R"("rows_per_unit": 10)"},
      {with(
           R"("unit": "patient_id", "rows_per_unit": 20, "groups_per_unit": 5, "rows_per_group": 4,)",
           ""),
       R"("unit": "row")"},
      {with(R"("version": 1,)", ""), R"("version": 1)"},
      {with(R"("dataset": "hospital",)", ""), R"("dataset": ")"},
      {with(R"("keys": [["visit_id"]],)", ""), R"("keys": [["visit_id"]])"},
      {with(R"({"type": "boolean"})", "{}"), R"("type": ")"},
      {with(R"("lower": 0, )", ""), R"("lower")"},
      {with(R"("lower": 0, )", R"("lower": null, )"), R"("lower")"},
      {with(R"("unit": "row",)", R"("unit": "row", "todo": "say who",)"), "todo"},
  };
  for (const auto& each : cases) {
    EXPECT_ERROR(parse_schema(each.text), ErrorCode::kMissingKnowledge);
    EXPECT_THAT(message_of(each.text), HasSubstr(each.line));
  }
}

TEST(Schema, RefusesWhatMakesNoSense) {
  const std::string cases[] = {
      "",
      "[]",
      "{",
      with(R"("version": 1)", R"("version": 2)"),
      with(R"("visits": {)", R"("visits": {"files": [], )"),
      with(R"("visits": {)", R"("visits": {"files": "visits.csv", )"),
      with(R"("visits": {)", R"("visits": {"files": ["visits.csv", 1], )"),
      with(R"("visits": {)", R"("visits": {"files": [""], )"),
      with(R"("visits": {)", R"("visits": {"relation": 1, )"),
      with(R"("lower": 0, "upper": 120)", R"("lower": 120, "upper": 0)"),
      with(R"("lower": 0, "upper": 120)", R"("lower": 0.5, "upper": 120)"),
      with(R"("lower": 0, "upper": 120)", R"("lower": 0, "upper": 99999999999999999999)"),
      with(R"("lower": 0, "upper": 120)", R"("lower": "0", "upper": 120)"),
      with(R"("2024-12-31")", R"("2024-12-32")"),
      with(R"("2024-12-31")", "20241231"),
      with(R"("categories": ["B", "A"])", R"("categories": ["A", "A"])"),
      with(R"("categories": ["B", "A"])", R"("categories": [1, "A"])"),
      with(R"("categories": ["B", "A"])", R"("categories": [null, "A"])"),
      with(R"("categories": ["B", "A"])", R"("categories": [])"),
      with(R"("categories": ["B", "A"])", R"("lower": "A", "upper": "B")"),
      with(R"("default": "A")", R"("default": "C")"),
      with(R"("bins": [0, 18, 65, 120])", R"("bins": [0, 18, 18])"),
      with(R"("bins": [0, 18, 65, 120])", R"("bins": [0])"),
      with(R"("nulls": false)", R"("nulls": 0)"),
      with(R"("nulls": false)", R"("default": 3)"),
      with(R"("rows_per_unit": 20)", R"("rows_per_unit": 0)"),
      with(R"("rows_per_unit": 20)", R"("rows_per_unit": -1)"),
      with(R"("rows_per_unit": 20)", R"("rows_per_unit": 2.5)"),
      with(R"("rows_per_unit": 20)", R"("rows_per_unit": "20")"),
      with(R"("unit": "row",)", R"("unit": "row", "rows_per_unit": 2,)"),
      with(R"("public": true)", R"("public": true, "rows_per_unit": 2)"),
      with(R"("unit": "patient_id")", R"("unit": "patient")"),
      with(R"("unit": "patient_id")", R"("unit": "age")"),
      with(R"("unit": "patient_id")", R"("unit": "ward")"),
      with(R"("unit": "patient_id")", R"("unit": 7)"),
      with(R"("of": "visits")", R"("of": "visit")"),
      with(R"("of": "visits")", R"("of": "wards")"),
      with(R"("of": "visits", "key": "visit_id")", R"("of": "visits", "key": "id")"),
      with(R"("visit": {"type": "integer"})", R"("visit": {"type": "text"})"),
      with(R"([["visit_id"]])", R"([["id"]])"),
      with(R"([["visit_id"]])", R"(["visit_id"])"),
      with(R"("score":)", R"("AGE":)"),
      with(R"("survey":)", R"("Visits":)"),
  };
  for (const std::string& each : cases) EXPECT_ERROR(parse_schema(each), ErrorCode::kInvalidInput);
  EXPECT_ERROR(parse_schema(with(R"({"type": "boolean"})", R"({"type": "bool"})")),
               ErrorCode::kUnknownName);
}

// A range of one value has sensitivity 0, so its sum would be released without noise.
TEST(Schema, RefusesARangeOfOneValue) {
  EXPECT_ERROR(parse_schema(with(R"("lower": 0, "upper": 120)", R"("lower": 7, "upper": 7)")),
               ErrorCode::kInvalidInput);
  EXPECT_ERROR(parse_schema(with(R"("lower": 0.1, "upper": "1000/3")",
                                 R"("lower": "0.1", "upper": "0.1000000000000000000001")")),
               ErrorCode::kInvalidInput);
}

TEST(Schema, RefusesANameTwiceInOneObject) {
  EXPECT_ERROR(parse_schema(with(R"("lower": 0,)", R"("lower": 0, "lower": 1,)")),
               ErrorCode::kInvalidInput);
  EXPECT_ERROR(parse_schema(with(R"("wards":)", R"("survey":)")), ErrorCode::kInvalidInput);
}

TEST(Schema, SaysWhereATextIsNoJson) {
  EXPECT_THAT(message_of("{\"version\": 1,\n \"dataset\" \"a\"}"),
              AllOf(HasSubstr("line 2, column 14"), Not(HasSubstr("exception"))));
  EXPECT_THAT(message_of("{"), HasSubstr("line 1, column 2"));
  EXPECT_THAT(message_of(""), HasSubstr("line 1, column 1"));
}

TEST(Schema, WhatIsNeededIsNotToBeDeleted) {
  EXPECT_THAT(message_of(R"({"version": 1, "dataset": null, "tables": {}})"),
              AllOf(HasSubstr("write a value"), Not(HasSubstr("delete"))));
  EXPECT_THAT(message_of(with(R"("lower": 0,)", R"("lower": null,)")), HasSubstr("delete"));
}

TEST(Schema, AnUnknownFieldNamesTheNearest) {
  const std::string text = with(R"("categories")", R"("catagories")");
  EXPECT_ERROR(parse_schema(text), ErrorCode::kInvalidInput);
  EXPECT_THAT(message_of(text), HasSubstr("'categories'"));
  EXPECT_THAT(message_of(text), HasSubstr("'ward'"));
}

TEST(Schema, TablesThatOwnOneAnotherAreRefused) {
  EXPECT_ERROR(parse_schema(
                   R"({"version": 1, "dataset": "d", "tables": {
            "a": {"unit": {"column": "x", "of": "b", "key": "x"}, "rows_per_unit": 1, "keys": [["x"]],
                  "columns": {"x": {"type": "integer"}}},
            "b": {"unit": {"column": "x", "of": "a", "key": "x"}, "rows_per_unit": 1, "keys": [["x"]],
                  "columns": {"x": {"type": "integer"}}}}})"),
               ErrorCode::kInvalidInput);
}

TEST(Schema, AFileThatIsNotThereIsAnInputOutputError) {
  EXPECT_ERROR(read_schema("/nowhere/people.schema.json"), ErrorCode::kIo);
  EXPECT_ERROR(read_schema(::testing::TempDir()), ErrorCode::kIo);
}

TEST(Schema, IsReadFromAFile) {
  const std::string path = ::testing::TempDir() + "gauze_hospital.schema.json";
  std::ofstream(path) << kHospital;
  EXPECT_EQ(read_schema(path), parse_schema(kHospital));
  std::ofstream(path) << "{";
  EXPECT_ERROR(read_schema(path), ErrorCode::kInvalidInput);
  std::remove(path.c_str());
}

}  // namespace
}  // namespace gauze
