#pragma once

#include "program.h"

/// A small table of visits with its schema: 1,000 patients, each twice in the ward `day` and once
/// in `night`; ages 20 to 69; cost 100 by day, 300 by night; one rare diagnosis of one patient.
class Clinic : public Folder {
 public:
  static constexpr int kPatients = 1000;

  Clinic() {
    std::string rows = "patient_id,ward,age,cost,diagnosis,day\n";
    for (int i = 0; i < kPatients; ++i) {
      const std::string who = std::to_string(i) + ",";
      const std::string age = std::to_string(20 + i % 50);
      const std::string what = i == 7 ? "kuru" : i % 2 == 0 ? "flu" : "cold";
      rows += who + "day," + age + ",100," + what + ",2024-01-10\n";
      rows += who + "day," + age + ",100," + what + ",2024-02-10\n";
      rows += who + "night," + age + ",300," + what + ",2024-03-10\n";
    }
    write("visits.csv", rows);
    write("wards.csv", "ward,floor\nday,1\nnight,2\n");
    write("clinic.schema.json", R"({"version": 1, "dataset": "clinic", "tables": {
      "visits": {"unit": "patient_id", "rows_per_unit": 3, "groups_per_unit": 3, "rows_per_group": 2,
        "columns": {
          "patient_id": {"type": "integer"},
          "ward": {"type": "text", "categories": ["day", "night"], "default": "day", "nulls": false},
          "age": {"type": "integer", "lower": 0, "upper": 120, "nulls": false},
          "cost": {"type": "double", "lower": 0, "upper": 1000, "nulls": false},
          "diagnosis": {"type": "text"},
          "day": {"type": "date", "lower": "2024-01-01", "upper": "2024-03-31", "nulls": false}}},
      "wards": {"public": true, "keys": [["ward"]],
        "columns": {"ward": {"type": "text"}, "floor": {"type": "integer", "lower": 1, "upper": 2}}}}})");
  }

  std::string data() const { return " --data " + path("") + " "; }

  /// A ledger beside the schema, where it is found.
  void set_budget(const std::string& budget) const {
    const Ran ran =
        gauze_program("ledger init " + path("clinic.ledger") + " --dataset clinic " + budget);
    if (ran.exit != 0) throw std::runtime_error(ran.err);
  }
};

inline Ran ask(const Clinic& clinic, const std::string& sql,
               const std::string& more = "--epsilon 5", const std::string& environment = "") {
  return gauze_program("sql \"" + sql + "\"" + clinic.data() + more, "", environment);
}
