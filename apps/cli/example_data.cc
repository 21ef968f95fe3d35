#include "example_data.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string_view>

#include "gauze/base/error.h"
#include "text.h"

namespace gauze::cli {
namespace {

constexpr std::uint32_t kPatients = 60'000;
constexpr std::uint32_t kDays = 366;

/// Numbers scattered without a pattern that anybody would notice, from a place in the data: no
/// randomness, and none is wanted, for the example must be the same everywhere.
class Scatter {
 public:
  explicit Scatter(std::uint64_t place) : state_(mixed(place)) {}

  std::uint32_t below(std::uint32_t n) {
    return static_cast<std::uint32_t>((next() >> 32) * n >> 32);
  }
  bool once_in(std::uint32_t n) { return below(n) == 0; }
  /// From 0, mostly small, the mean about `mean`.
  std::uint32_t skewed(std::uint32_t mean) {
    std::uint32_t sum = 0;
    for (std::uint32_t reach = 2 * mean + 1; reach > 0; reach /= 3) sum += below(reach + 1);
    return sum * below(256) / 192;
  }

 private:
  static std::uint64_t mixed(std::uint64_t z) {
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }
  std::uint64_t next() { return mixed(state_ += 0x9E3779B97F4A7C15u); }

  std::uint64_t state_;
};

struct Ward {
  const char* name;
  const char* building;
  std::uint32_t beds;
  std::uint32_t stay;   ///< nights, usually
  std::uint32_t price;  ///< euros a night
};

enum WardIndex : std::uint8_t {
  kCardiology,
  kEmergency,
  kGeriatrics,
  kMaternity,
  kNeurology,
  kOncology,
  kOrthopaedics,
  kPaediatrics,
};

constexpr std::array<Ward, 8> kWards = {{{"cardiology", "north", 48, 4, 720},
                                         {"emergency", "gate", 30, 1, 540},
                                         {"geriatrics", "garden", 64, 9, 310},
                                         {"maternity", "garden", 36, 3, 430},
                                         {"neurology", "north", 40, 5, 690},
                                         {"oncology", "tower", 52, 6, 980},
                                         {"orthopaedics", "tower", 56, 4, 610},
                                         {"paediatrics", "garden", 32, 2, 470}}};

/// What each ward sees most; behind them comes a long tail of codes that few patients have.
constexpr std::array<std::array<const char*, 6>, 8> kDiagnoses = {
    {{"atrial fibrillation", "heart failure", "angina", "heart attack", "hypertension", "syncope"},
     {"fracture", "chest pain", "influenza", "concussion", "burn", "allergic reaction"},
     {"hip fracture", "pneumonia", "dementia", "dehydration", "delirium", "influenza"},
     {"birth", "caesarean birth", "pre-eclampsia", "miscarriage", "anaemia", "diabetes"},
     {"stroke", "migraine", "epilepsy", "multiple sclerosis", "neuropathy", "concussion"},
     {"breast cancer", "lung cancer", "lymphoma", "colon cancer", "leukaemia", "anaemia"},
     {"knee replacement", "hip fracture", "back pain", "fracture", "torn ligament", "arthritis"},
     {"asthma", "influenza", "appendicitis", "fracture", "tonsillitis", "allergic reaction"}}};
constexpr std::uint16_t kCommon = 6;
constexpr std::uint16_t kTail = 400;

/// Winter is busier than summer: the share of January's visits that a day has, in percent.
constexpr std::array<std::uint32_t, 12> kSeason = {100, 96, 88, 78, 72, 68, 64, 66, 72, 80, 88, 97};
constexpr std::array<std::uint32_t, 13> kMonthStart = {0,   31,  60,  91,  121, 152, 182,
                                                       213, 244, 274, 305, 335, 366};

std::uint32_t month_of(std::uint32_t day) {
  std::uint32_t month = 0;
  while (kMonthStart[month + 1] <= day) ++month;
  return month;
}

std::uint16_t pick_day(Scatter& scatter) {
  for (;;) {
    const std::uint32_t day = scatter.below(kDays);
    const bool weekend = day % 7 == 5 || day % 7 == 6;  // 2024 began on a Monday
    if (scatter.below(100) < kSeason[month_of(day)] * (weekend ? 3 : 4) / 4)
      return static_cast<std::uint16_t>(day);
  }
}

WardIndex pick_ward(std::uint32_t age, bool female, Scatter& scatter) {
  if (age < 16) return scatter.once_in(4) ? kEmergency : kPaediatrics;
  if (female && age >= 20 && age < 42 && scatter.once_in(3)) return kMaternity;
  if (age >= 72 && scatter.once_in(2)) return kGeriatrics;
  constexpr std::array<WardIndex, 9> kOthers = {kEmergency,    kEmergency,    kEmergency,
                                                kCardiology,   kNeurology,    kOncology,
                                                kOrthopaedics, kOrthopaedics, kCardiology};
  return kOthers[scatter.below(kOthers.size())];
}

std::uint16_t pick_diagnosis(WardIndex ward, std::uint32_t day, Scatter& scatter) {
  const bool cold = day < 75 || day > 320;
  if (cold && ward == kEmergency && scatter.once_in(3))
    return kEmergency * kCommon + 2;  // influenza
  if (scatter.once_in(12)) {
    const std::uint32_t reach = scatter.below(kTail) + 1;  // twice: the front is more common
    return static_cast<std::uint16_t>(kWards.size() * kCommon + scatter.below(reach));
  }
  const std::uint32_t rank = std::min(scatter.below(kCommon), scatter.below(kCommon));
  return static_cast<std::uint16_t>(ward * kCommon + rank);
}

/// How often a patient comes: most once or twice, one in two hundred every other week.
std::uint32_t visits_of(std::uint32_t age, Scatter& scatter) {
  if (scatter.once_in(200)) return 20 + scatter.below(30);
  return 1 + scatter.skewed(age > 65 ? 6 : 3);
}

Visit invent(std::uint32_t patient, std::uint32_t age, bool female, Scatter& scatter) {
  Visit visit;
  visit.patient = patient;
  visit.day = pick_day(scatter);
  const WardIndex ward = pick_ward(age, female, scatter);
  visit.ward = ward;
  visit.age = static_cast<std::uint8_t>(age);
  visit.female = female;
  visit.diagnosis = pick_diagnosis(ward, visit.day, scatter);
  const std::uint32_t winter = kSeason[month_of(visit.day)] > 90 ? 1 : 0;
  const std::uint32_t stay = scatter.skewed(kWards[ward].stay + winter + (age > 70 ? 1 : 0));
  visit.length_of_stay = static_cast<std::uint8_t>(std::min(stay, 90u));
  const std::uint32_t euros = 180 + kWards[ward].price * stay + scatter.skewed(700);
  // One in ten needs something that costs several times more.
  const std::uint32_t factor = scatter.once_in(10) ? 2 + 8 / (1 + scatter.below(8)) : 1;
  visit.cost = 100 * euros * factor + scatter.below(100);
  visit.readmitted = scatter.below(100) < 6 + stay / 2 + age / 12;
  return visit;
}

std::string diagnosis_name(std::uint16_t diagnosis) {
  constexpr auto kNamed = static_cast<std::uint16_t>(kWards.size() * kCommon);
  if (diagnosis < kNamed) return kDiagnoses[diagnosis / kCommon][diagnosis % kCommon];
  const std::uint32_t code = diagnosis - kNamed;
  char text[16];
  std::snprintf(text, sizeof text, "%c%02u.%u", static_cast<char>('A' + code % 26),
                code / 26 * 7 % 100, code % 10);
  return text;
}

std::string date(std::uint32_t day) {
  const std::uint32_t month = month_of(day);
  char text[16];
  std::snprintf(text, sizeof text, "2024-%02u-%02u", month + 1, day - kMonthStart[month] + 1);
  return text;
}

void append(std::string& text, std::uint64_t number) {
  char digits[24];
  const auto end = std::to_chars(digits, digits + sizeof digits, number).ptr;
  text.append(digits, end);
}

std::string as_csv(const std::vector<Visit>& visits) {
  std::string text =
      "visit_id,patient_id,day,ward,age,sex,diagnosis,length_of_stay,cost,readmitted\n";
  text.reserve(visits.size() * 80);
  std::uint64_t id = 0;
  for (const Visit& visit : visits) {
    append(text, ++id);
    text += ',';
    append(text, 100'000 + visit.patient);
    text.append(",")
        .append(date(visit.day))
        .append(",")
        .append(kWards[visit.ward].name)
        .append(",");
    append(text, visit.age);
    text += visit.female ? ",female," : ",male,";
    text += diagnosis_name(visit.diagnosis) + ',';
    append(text, visit.length_of_stay);
    text += ',';
    append(text, visit.cost / 100);
    text += {'.', static_cast<char>('0' + visit.cost / 10 % 10),
             static_cast<char>('0' + visit.cost % 10)};
    text += visit.readmitted ? ",true\n" : ",false\n";
  }
  return text;
}

std::string wards_csv() {
  std::string text = "ward,beds,building\n";
  for (const Ward& ward : kWards)
    text += std::string(ward.name) + ',' + std::to_string(ward.beds) + ',' + ward.building + '\n';
  return text;
}

/// What the steward of the invented hospital declares. Diagnoses have no list, so their names are
/// private until enough patients share one.
constexpr std::string_view kSchema = R"({
  "version": 1,
  "dataset": "hospital",
  "tables": {
    "visits": {
      "unit": "patient_id",
      "rows_per_unit": 12,
      "groups_per_unit": 6,
      "keys": [["visit_id"]],
      "columns": {
        "visit_id": {"type": "integer"},
        "patient_id": {"type": "integer"},
        "day": {"type": "date", "lower": "2024-01-01", "upper": "2024-12-31", "nulls": false},
        "ward": {
          "type": "text",
          "categories": ["cardiology", "emergency", "geriatrics", "maternity", "neurology", "oncology", "orthopaedics", "paediatrics"],
          "default": "emergency",
          "nulls": false
        },
        "age": {"type": "integer", "lower": 0, "upper": 110, "nulls": false, "bins": [0, 16, 40, 65, 80, 110]},
        "sex": {"type": "text", "categories": ["female", "male"], "default": "female", "nulls": false},
        "diagnosis": {"type": "text"},
        "length_of_stay": {"type": "integer", "lower": 0, "upper": 60, "nulls": false},
        "cost": {"type": "decimal", "lower": 0, "upper": 20000, "nulls": false},
        "readmitted": {"type": "boolean", "nulls": false}
      }
    },
    "wards": {
      "public": true,
      "keys": [["ward"]],
      "columns": {
        "ward": {
          "type": "text",
          "categories": ["cardiology", "emergency", "geriatrics", "maternity", "neurology", "oncology", "orthopaedics", "paediatrics"]
        },
        "beds": {"type": "integer", "lower": 1, "upper": 500, "nulls": false},
        "building": {"type": "text", "categories": ["garden", "gate", "north", "tower"], "nulls": false}
      }
    }
  }
}
)";

/// A file that begins as ours is an example, perhaps of another version; any other is somebody's.
void expect_ours(const std::string& path, std::string_view contents) {
  constexpr std::size_t kBeginning = 40;
  std::ifstream there(path, std::ios::binary);
  std::string beginning(kBeginning, '\0');
  if (there.is_open() &&
      (!there.read(beginning.data(), kBeginning) || beginning != contents.substr(0, kBeginning))) {
    throw Error(ErrorCode::kInvalidOption,
                "there is a file '" + path +
                    "' already that is not from the example; choose another folder");
  }
}

}  // namespace

std::vector<Visit> invented_visits() {
  std::vector<Visit> visits;
  for (std::uint32_t patient = 0; patient < kPatients; ++patient) {
    Scatter scatter(patient + 1);
    const std::uint32_t age =
        scatter.once_in(7) ? scatter.below(18) : 18 + scatter.below(46) + scatter.below(38);
    const bool female = scatter.below(100) < 53;
    for (std::uint32_t left = visits_of(age, scatter); left > 0; --left)
      visits.push_back(invent(patient, age, female, scatter));
  }
  std::stable_sort(visits.begin(), visits.end(),
                   [](const Visit& a, const Visit& b) { return a.day < b.day; });
  return visits;
}

ExampleFiles write_example(const std::string& folder, const std::vector<Visit>& visits) {
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  const auto path = [&](const char* name) {
    return (std::filesystem::path(folder) / name).string();
  };
  ExampleFiles files{folder, path("visits.csv"), path("wards.csv"), path("hospital.schema.json")};
  const std::array<std::pair<std::string, std::string>, 3> contents = {
      {{files.visits, as_csv(visits)},
       {files.wards, wards_csv()},
       {files.schema, std::string(kSchema)}}};
  for (const auto& [name, text] : contents) expect_ours(name, text);
  for (const auto& [name, text] : contents) write_all(name, text);
  return files;
}

ExampleFiles write_example(const std::string& folder) {
  return write_example(folder, invented_visits());
}

}  // namespace gauze::cli
