#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "gauze/accounting/release.h"
#include "gauze/data/schema.h"
#include "gauze/registry/input.h"
#include "gauze/registry/result.h"

namespace gauze {

/// Everything public that a task is made from.
struct Asked {
  /// Which pieces of a result somebody will look at; where there are many rows, the others may be left
  /// out to save time.
  enum class Wanted : std::uint8_t {
    kAll,
    kText,   ///< what people read: no rows in JSON, no table where there is a summary or a heat map
    kValue,  ///< what was released, under "value" in JSON, and nothing else: for auditors
  };
  nlohmann::json options = nlohmann::json::object();  ///< the algorithm's, as they were given
  nlohmann::json asks = nlohmann::json::object();     ///< its input kind's, as they were given
  const Schema* schema = nullptr;                     ///< of tables; null for plain values
  std::string table = {};                             ///< "": the only private one
  double confidence = 0.95;                           ///< of error bars
  Wanted wanted = Wanted::kAll;
};

/// An algorithm with its options on an input that is described but not read.
struct Task {
  /// Draws noise; may be called again, each time for its price.
  using Draw = std::function<Release<Result>(Context& context)>;
  /// Reads and does once what needs no noise.
  using Read = std::function<Draw(const Input& input, Context& context)>;
  /// `size` is the length of an input whose length is public; algorithms on people's rows ignore it.
  using Promise = std::function<std::optional<Accuracy>(std::uint64_t size, double confidence)>;

  Event event;
  /// Nothing when the accuracy depends on how many rows there are and that is private: then the
  /// release states its own.
  Promise accuracy;
  Read read;
  /// The question as a ledger records it: the same words for the same question. "" for plain values.
  std::string words = {};
  /// What the catalogue alone can refuse, before anything is paid; returns what to say of the data.
  std::function<std::vector<Note>(Source& source)> check = {};
  /// Plan, noise and expected error, where there is more to say than the price.
  std::function<Explanation()> explain = {};
  std::string unit = "person";   ///< whose loss is bounded: "patient_id"
  std::vector<Note> notes = {};  ///< known before the run: "counted"
  bool explain_only = false;     ///< asked for the plan alone, as EXPLAIN in SQL does
  /// The run reads after it draws, and tells the watch itself when it begins to draw.
  bool tells_drawing = false;

  /// Reads, tells the watch, draws.
  Release<Result> run(const Input& input, Context& context) const;
};

}  // namespace gauze
