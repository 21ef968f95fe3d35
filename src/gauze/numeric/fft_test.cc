#include "gauze/numeric/fft.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace gauze {
namespace {

std::vector<double> sample(std::size_t size) {
  std::vector<double> values(size);
  for (std::size_t i = 0; i < size; ++i) values[i] = std::sin(static_cast<double>(i * i)) + 0.1;
  return values;
}

TEST(RealFft, MatchesTheDefinition) {
  for (const std::size_t size : {4u, 12u, 20u, 64u, 96u}) {
    const std::vector<double> values = sample(size);
    RealFft fft(size);
    const auto half = fft.forward(values);
    ASSERT_EQ(half.size(), size / 2 + 1);
    for (std::size_t k = 0; k < half.size(); ++k) {
      std::complex<double> truth = 0;
      for (std::size_t i = 0; i < size; ++i) {
        const double angle =
            -2 * std::numbers::pi * static_cast<double>(i * k % size) / static_cast<double>(size);
        truth += values[i] * std::polar(1.0, angle);
      }
      EXPECT_LT(std::abs(half[k] - truth), 1e-12);
    }
  }
}

TEST(RealFft, InverseGivesBackTheSequenceWithinTheStatedRounding) {
  for (const std::size_t size : {4u, 40u, 1u << 12, 3u << 12, 5u << 12}) {
    const std::vector<double> values = sample(size);
    RealFft fft(size);
    const auto half = fft.forward(values);
    double sum = 0;
    for (const double value : values) sum += std::abs(value);
    const std::vector<double> back = fft.inverse(half);
    for (std::size_t i = 0; i < size; ++i) {
      EXPECT_NEAR(back[i], values[i], 2 * fft.rounding() * sum);
    }
  }
}

TEST(RealFft, SizesHaveSmallFactorsOnly) {
  EXPECT_EQ(fft_size(1), 4u);
  EXPECT_EQ(fft_size(5), 8u);
  EXPECT_EQ(fft_size(9), 12u);
  EXPECT_EQ(fft_size(17), 20u);
  EXPECT_EQ(fft_size(65), 80u);
  EXPECT_EQ(fft_size(1000), 1024u);
}

}  // namespace
}  // namespace gauze
