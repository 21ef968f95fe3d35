#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gauze/accounting/release.h"
#include "gauze/base/words.h"
#include "gauze/registry/options.h"
#include "gauze/registry/rows.h"
#include "gauze/histogram/range_histogram.h"

namespace gauze {

/// An algorithm with its options, ready to run: the shape every mechanism has, with rows in and
/// JSON out, so that `release` takes it like any other.
class Job {
 public:
  /// Runs on rows that were read before, and may do so again.
  using Draw = std::function<Release<nlohmann::json>(Context& context)>;
  /// Does once what needs no noise.
  using Read = std::function<Draw(const Rows& rows)>;
  /// `size` is the length of an input whose length is public; algorithms on people's rows ignore
  /// it.
  using Promise = std::function<std::optional<Accuracy>(std::uint64_t size, double confidence)>;

  Job(Event event, Promise accuracy, Read read)
      : event_(std::move(event)), accuracy_(std::move(accuracy)), read_(std::move(read)) {}

  Event event() const { return event_; }
  /// Nothing when the accuracy depends on how many rows there are and that is not public: then the
  /// release states its own.
  std::optional<Accuracy> accuracy(std::uint64_t size, double confidence) const {
    return accuracy_(size, confidence);
  }
  Draw read(const Rows& rows) const { return read_(rows); }
  Release<nlohmann::json> run(const Rows& rows, Context& context) const {
    return read(rows)(context);
  }

 private:
  Event event_;
  Promise accuracy_;
  Read read_;
};

/// What an algorithm says to one line of numbers, and whether it says nothing more.
struct DialogueAnswer {
  nlohmann::json said;
  bool last = false;
};

/// Where lines of numbers come from and where what is said of them goes.
struct Dialogue {
  std::function<std::optional<std::vector<double>>()> next;  ///< nothing at the end
  std::function<void(const nlohmann::json& said)> tell;
};

/// An algorithm that answers each line before it sees the next. Its release is how many it
/// answered; `release` takes it like any other, with a `Dialogue` as input.
class DialogueJob {
 public:
  using Ask = std::function<DialogueAnswer(std::span<const double> line)>;
  /// Pays for everything there will be.
  using Start = std::function<Ask(Context& context)>;
  using Promise = std::function<Accuracy(std::uint64_t size, double confidence)>;

  /// `width` is how many numbers a line has.
  DialogueJob(Event event, Promise accuracy, Start start, std::size_t width = 1)
      : event_(std::move(event)),
        accuracy_(std::move(accuracy)),
        start_(std::move(start)),
        width_(width) {}

  Event event() const { return event_; }
  Accuracy accuracy(std::uint64_t size, double confidence) const {
    return accuracy_(size, confidence);
  }
  std::size_t width() const { return width_; }
  /// Reads no further once the last answer was given. Throws `kInvalidInput` for a line of another
  /// width.
  Release<std::uint64_t> run(Dialogue& dialogue, Context& context) const;

 private:
  Event event_;
  Promise accuracy_;
  Start start_;
  std::size_t width_;
};

/// A histogram method with its options on a shape, ready to run.
struct HistogramMethod {
  Event event;
  std::function<Accuracy(double confidence)> accuracy;
  std::function<Release<RangeHistogram>(const Points& points, Context& context)> run;
};

/// Everything there is to say about an algorithm: it feeds `gauze list`, `describe` and `release`.
struct Algorithm {
  std::string name;
  std::string summary;     ///< one line
  std::string input = {};  ///< what a row of the input is
  std::string guarantee;   ///< what is promised, of whom
  std::string accuracy;    ///< how far the answer may be off
  std::string cost;        ///< time and memory
  std::string source;      ///< who found it
  std::string document;    ///< the page beside the code
  std::vector<OptionSpec> options;
  std::function<Job(const OptionValues& values)> make = {};
  bool per_person = false;  ///< a row of the input is a person, so tables can be the input
  /// Of histogram methods: the method on a shape, for columns of a table.
  std::function<HistogramMethod(const OptionValues& values, const Shape& shape)> histogram = {};
  /// Of algorithms that answer line by line: the same without the whole input.
  std::function<DialogueJob(const OptionValues& values)> dialogue = {};
  std::string when = {};  ///< when to take it rather than its relatives, where that is a question
  std::string before_numbers = {};  ///< of what is said there: "above " in "above 103.2"
  bool points =
      false;  ///< a histogram method for points in space, whose cells are only a fine grid
};

/// All algorithms, in the order in which they are listed.
const std::vector<Algorithm>& algorithms();

/// The one with this name. Throws `kUnknownName`, naming the nearest.
const Algorithm& find_algorithm(std::string_view name);

/// The algorithm with these options, checked; throws what the algorithm's constructor throws, and
/// what `OptionValues` throws.
Job make_job(std::string_view name, const nlohmann::json& options);

}  // namespace gauze
