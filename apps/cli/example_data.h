#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace gauze::cli {

/// One stay in an invented hospital. Nobody in it exists: ages, costs and illnesses are made by
/// arithmetic, the same in every run, so that the truth may be shown beside a private answer.
struct Visit {
  std::uint32_t patient = 0;
  std::uint16_t day = 0;  ///< of 2024, from 0
  std::uint8_t ward = 0;
  std::uint8_t age = 0;
  bool female = false;
  std::uint16_t diagnosis = 0;
  std::uint8_t length_of_stay = 0;  ///< nights
  std::uint32_t cost = 0;           ///< cents
  bool readmitted = false;          ///< within thirty days
};

/// All visits of 2024 in the order of their days: about 300,000 by 60,000 patients, a few of whom
/// come very often.
std::vector<Visit> invented_visits();

/// The files of the example, by path.
struct ExampleFiles {
  std::string folder;
  std::string visits;  ///< visits.csv
  std::string wards;   ///< wards.csv, public
  std::string schema;  ///< hospital.schema.json
};

/// Writes the example into `folder`, which is made if it is not there. An earlier example is replaced;
/// files of these names that are not from one are refused with `kInvalidOption`. Throws `kIo`.
ExampleFiles write_example(const std::string& folder);
ExampleFiles write_example(const std::string& folder, const std::vector<Visit>& visits);

}  // namespace gauze::cli
