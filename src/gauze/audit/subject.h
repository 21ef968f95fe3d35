#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <ranges>
#include <string>
#include <utility>
#include <vector>

#include "gauze/audit/claim.h"
#include "gauze/audit/outputs.h"
#include "gauze/random/bit_source.h"

namespace gauze::audit {

enum class Side : std::uint8_t { kFirst, kSecond };

Side random_side(BitSource& bits);
inline Side other(Side side) {
  return side == Side::kFirst ? Side::kSecond : Side::kFirst;
}

/// As many outputs of the one input of a pair as of the other.
struct BothOutputs {
  Outputs first;
  Outputs second;

  const Outputs& of(Side side) const { return side == Side::kFirst ? first : second; }
  Outputs& of(Side side) { return side == Side::kFirst ? first : second; }
};

/// Two inputs that the claim is about.
template <class Input>
struct Neighbours {
  std::string name;  ///< "nobody and one person at the upper bound"
  Input first;
  Input second;
  /// They hold the same rows, perhaps in another order: nothing at all may tell them apart.
  bool same = false;
};

/// How a pair of inputs is spoken of.
struct PairText {
  std::string name;
  std::string first;
  std::string second;
  bool same = false;
};

/// What is audited: a claim, pairs of neighbours, and a way to run the mechanism on them.
struct Subject {
  std::string name;
  Claim claim;
  std::vector<PairText> pairs;
  /// `runs` independent outputs on one input of a pair. Called from several threads at once.
  std::function<Outputs(std::size_t pair, Side side, std::uint64_t runs, BitSource& bits)> draw;
  /// Instead of `draw`, where the inputs of a pair have to take turns: `runs` outputs of each.
  std::function<BothOutputs(std::size_t pair, std::uint64_t runs, BitSource& bits)> draw_in_turns =
      {};
  /// Instead of `draw`, where they are known: the probabilities of all outputs, in one order for
  /// both sides. Divergences are then computed, not estimated.
  std::function<std::vector<double>(std::size_t pair, Side side)> probabilities = {};
  std::uint64_t runs_at_once = 1 << 14;  ///< what is asked for at most
};

/// The same subject with one run of each input after the other, in random order: for outputs that
/// change with time, such as the numbers of processes.
Subject in_turns(Subject subject);

namespace internal {

std::string brief(const std::string& text);

template <class Input>
std::string text_of(const Input& input) {
  Outputs all;
  if constexpr (std::convertible_to<Input, double>) {
    all.add(static_cast<double>(input));
  } else if constexpr (std::convertible_to<Input, std::string>) {
    all.add(std::string(input));
  } else {
    std::string text;
    for (const auto& each : input) {
      text += (text.empty() ? "" : ", ") + text_of(each);
      if (text.size() > 200) break;
    }
    return brief(text.empty() ? "nothing" : text);
  }
  return brief(all.text(0));
}

template <class Value>
void add_output(Outputs& outputs, Value&& value) {
  using Plain = std::remove_cvref_t<Value>;
  if constexpr (std::is_arithmetic_v<Plain>) {
    outputs.add(static_cast<double>(value));
  } else if constexpr (std::same_as<Plain, std::string>) {
    outputs.add(std::forward<Value>(value));
  } else {
    std::vector<double> numbers;
    for (const auto each : value) numbers.push_back(static_cast<double>(each));
    outputs.add(std::span<const double>(numbers));
  }
}

}  // namespace internal

/// A subject from a function of an input and bits that gives a number, a range of numbers or a text.
template <class Input, class Run>
Subject subject_of(std::string name, Claim claim, std::vector<Neighbours<Input>> pairs, Run run) {
  Subject subject{.name = std::move(name), .claim = std::move(claim), .pairs = {}, .draw = {}};
  for (const auto& pair : pairs) {
    subject.pairs.push_back(
        {pair.name, internal::text_of(pair.first), internal::text_of(pair.second), pair.same});
  }
  const auto inputs = std::make_shared<const std::vector<Neighbours<Input>>>(std::move(pairs));
  subject.draw = [inputs, run = std::move(run)](std::size_t pair, Side side, std::uint64_t runs,
                                                BitSource& bits) {
    const Neighbours<Input>& both = (*inputs)[pair];
    const Input& input = side == Side::kFirst ? both.first : both.second;
    Outputs outputs;
    for (std::uint64_t i = 0; i < runs; ++i) internal::add_output(outputs, run(input, bits));
    return outputs;
  };
  return subject;
}

}  // namespace gauze::audit
