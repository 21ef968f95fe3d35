#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "gauze/marginal/coded_rows.h"
#include "gauze/marginal/graphical_model.h"
#include "gauze/marginal/table_measurer.h"
#include "gauze/random/bit_source.h"

namespace gauze {

/// Values whose noisy count does not stand out from the noise, merged into one for each column, so that
/// larger tables spend no cells on them; and drawn back at the end. All from what was released.
///
/// Argument   mst.md
class RareValues {
 public:
  /// `singles`: a table of each column, in order. A value is rare below three standard deviations.
  RareValues(const Shape& domain, std::span<const MeasuredTable> singles);

  /// With the merged values.
  const Shape& domain() const { return merged_; }
  CodedRows merged(const CodedRows& rows) const { return rows.mapped(to_, merged_); }
  std::vector<NoisyTable> merged_measurements() const;
  /// With values for merged ones, in shares of what was measured of each; of what is not above 0 none,
  /// unless nothing is.
  CodedRows parted(const CodedRows& rows, BitSource& bits) const;
  /// "3 rare values of 2 columns are merged", or nothing.
  std::string note() const;

 private:
  struct Rare {
    std::vector<std::uint32_t> codes;  // fewer than two: nothing is merged
    std::vector<double> weights;
  };

  Shape whole_, merged_;
  std::vector<std::vector<std::uint32_t>> to_;
  std::vector<std::vector<std::uint32_t>> from_;  // the first code for each merged one
  std::vector<Rare> rare_;
  std::vector<NoisyTable> singles_;
};

}  // namespace gauze
