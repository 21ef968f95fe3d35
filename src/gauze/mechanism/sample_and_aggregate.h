#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "gauze/accounting/release.h"
#include "gauze/base/required.h"
#include "gauze/numeric/ratio.h"

namespace gauze {

namespace internal {
class LatticeNoise;
class QuantileDomain;
class RealRange;
}  // namespace internal

/// How `SampleAndAggregate` makes one answer of those of the blocks.
enum class BlockAggregate : std::uint8_t {
  kMean,    ///< their average plus Laplace noise
  kMedian,  ///< their median by the exponential mechanism: ignores blocks that are far off
};

/// A program that is run on blocks of the records. It is given the positions of some of them, in
/// order, and returns `dimension` numbers; NaN, too few numbers and exceptions count as the middle
/// of the range.
struct BlockProgram {
  std::uint64_t records = 0;
  std::function<std::vector<double>(std::span<const std::uint64_t> positions)> answer;
};

/// The answer of any program, from its answers on blocks of the records. Nothing need be known of the
/// program; only the range of its answers is.
///
/// Privacy    pure DP, epsilon; under add_remove too, since every record goes to a block of its own
///            chance and the number of blocks is public.
/// Accuracy   mean: within dimension * width * ln(1/beta) / (blocks epsilon) of the average of the
///            blocks' answers. That these are near the program's answer on all records is up to it.
/// Numerics   answers are clamped and averaged exactly; noise on a public lattice.
/// Time       O(records), and the program on every block.
/// Argument   sample_and_aggregate.md
class SampleAndAggregate {
 public:
  struct Options {
    Required<Ratio> lower;           ///< smallest answer that counts
    Required<Ratio> upper;           ///< largest answer that counts, > lower
    Required<std::uint64_t> blocks;  ///< public; not computed from the number of records; >= 1
    Required<Ratio> epsilon;         ///< > 0
    Required<Relation> relation;     ///< add_remove or replace
    std::uint64_t dimension = 1;     ///< numbers in an answer, >= 1
    BlockAggregate aggregate = BlockAggregate::kMean;
  };

  explicit SampleAndAggregate(Options options);

  Event event() const;
  /// Of each coordinate: distance from the blocks' average, or of its rank from that of the median.
  Accuracy accuracy(double confidence = 0.95) const;

  /// Charges the meter, then releases one number per coordinate.
  Release<std::vector<double>> run(const BlockProgram& program, Context& context) const;

 private:
  std::vector<std::vector<double>> answers(const BlockProgram& program, BitSource& bits) const;
  Ratio median_rate() const;

  Options options_;
  std::shared_ptr<const internal::RealRange> range_;
  std::shared_ptr<const internal::LatticeNoise> noise_;
  std::shared_ptr<const internal::QuantileDomain> domain_;
};

/// Centres of k groups of points in a cube: k-means on blocks, averaged (GUPT). A baseline: simpler
/// methods are far more accurate.
///
/// Privacy    pure DP, epsilon.
/// Accuracy   every coordinate within k dimension width ln(1/beta) / (blocks epsilon) of the average
///            of the blocks' centres.
/// Numerics, argument: as `SampleAndAggregate`.
/// Time       O(points k iterations).
class BlockKMeans {
 public:
  struct Options {
    Required<std::uint64_t> k;          ///< centres, >= 1
    Required<std::uint64_t> dimension;  ///< coordinates of a point, >= 1
    Required<Ratio> lower;              ///< smallest coordinate
    Required<Ratio> upper;              ///< largest coordinate, > lower
    Required<std::uint64_t> blocks;     ///< public, >= 1
    Required<Ratio> epsilon;            ///< > 0
    Required<Relation> relation;        ///< add_remove or replace
  };

  explicit BlockKMeans(Options options);

  Event event() const { return aggregate_.event(); }
  Accuracy accuracy(double confidence = 0.95) const { return aggregate_.accuracy(confidence); }

  /// Charges the meter, then releases k centres one after the other, in lexicographic order of the
  /// averages. `points` has `dimension` numbers per point; what is left over is ignored.
  Release<std::vector<double>> run(std::span<const double> points, Context& context) const;

 private:
  Options options_;
  SampleAndAggregate aggregate_;
};

}  // namespace gauze
