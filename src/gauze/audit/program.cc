#include "gauze/audit/program.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <set>

#include "gauze/audit/printed_internal.h"
#include "gauze/audit/process_internal.h"
#include "gauze/base/error.h"

namespace gauze::audit {
namespace {

/// The inputs as files, removed at the end.
class InputFiles {
 public:
  explicit InputFiles(const LinePairs& pairs) {
    std::string name = (std::filesystem::temp_directory_path() / "gauze-audit-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr)
      throw Error(ErrorCode::kIo, "no folder for the inputs could be made");
    folder_ = name;
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      write(path(i, Side::kFirst), pairs[i].first);
      write(path(i, Side::kSecond), pairs[i].second);
    }
  }
  ~InputFiles() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  InputFiles(const InputFiles&) = delete;
  InputFiles& operator=(const InputFiles&) = delete;

  std::string path(std::size_t pair, Side side) const {
    return (folder_ / name(pair, side)).string();
  }
  /// Of one length, and not to be seen in what a program prints: it says which input it was.
  static std::string name(std::size_t pair, Side side) {
    return "gauze-rows-" + std::to_string(1000 + 2 * pair + (side == Side::kFirst ? 0 : 1));
  }

 private:
  static void write(const std::string& path, const Lines& lines) {
    std::ofstream file(path, std::ios::binary);
    for (const std::string& line : lines) file << line << '\n';
    file.close();
    if (!file) throw Error(ErrorCode::kIo, "an input for the program could not be written");
  }

  std::filesystem::path folder_;
};

std::string without(const std::string& text, const std::string& name) {
  std::string result;
  std::size_t from = 0;
  for (std::size_t at = text.find(name); at != std::string::npos; at = text.find(name, from)) {
    result.append(text, from, at - from).append("FILE");
    from = at + name.size();
  }
  return result.append(text, from);
}

std::string complaint(const Ended& ended) {
  std::string text = "exit code " + std::to_string(ended.exit);
  if (!ended.err.empty()) text += ", errors: " + ended.err.substr(0, 200);
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

/// What a process shows besides its output.
std::string aside(const Ended& ended) {
  return ended.exit == 0 && ended.err.empty() ? "" : complaint(ended);
}

class Runner {
 public:
  Runner(const Program& program, const LinePairs& pairs) : program_(program), files_(pairs) {}

  Ended many(std::size_t pair, Side side, std::uint64_t runs) const {
    return run(pair, side, {std::to_string(runs)});
  }
  Ended one(std::size_t pair, Side side) const { return run(pair, side, {}); }

  Outputs draw_many(std::size_t pair, Side side, std::uint64_t runs) const {
    const Ended ended = many(pair, side, runs);
    const Lines lines = lines_in(ended.out);
    if (ended.exit != 0 || lines.size() != runs) {
      throw Error(ErrorCode::kInvalidInput,
                  "the program was asked for " + std::to_string(runs) + " runs and printed " +
                      std::to_string(lines.size()) + " lines (" + complaint(ended) +
                      "); it must print one line per run");
    }
    Outputs outputs;
    for (const std::string& line : lines) add_line(outputs, line);
    return outputs;
  }

  /// All it shows in processes of one run.
  Outputs draw_one_by_one(std::size_t pair, Side side, std::uint64_t runs) const {
    Outputs outputs;
    for (std::uint64_t i = 0; i < runs; ++i) {
      const Ended ended = one(pair, side);
      std::string text = ended.out;
      while (text.ends_with('\n')) text.pop_back();
      if (aside(ended).empty())
        add_line(outputs, text);
      else
        outputs.add(text + " (" + complaint(ended) + ")");
    }
    return outputs;
  }

  Outputs draw_asides(std::size_t pair, Side side, std::uint64_t runs) const {
    Outputs outputs;
    for (std::uint64_t i = 0; i < runs; ++i) outputs.add(complaint(many(pair, side, 1)));
    return outputs;
  }

 private:
  Ended run(std::size_t pair, Side side, std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), files_.path(pair, side));
    Ended ended = run_process(program_.command, arguments, program_.timeout);
    ended.out = without(ended.out, InputFiles::name(pair, side));
    ended.err = without(ended.err, InputFiles::name(pair, side));
    return ended;
  }

  Program program_;
  InputFiles files_;
};

constexpr Side kSides[] = {Side::kFirst, Side::kSecond};

/// Many runs per process if it prints as many lines as it is asked for, one if it prints one anyway.
ProgramMode mode_of(const Runner& runner, std::size_t pairs) {
  constexpr std::uint64_t kTry = 3;
  Ended last;
  for (std::size_t pair = 0; pair < pairs; ++pair) {
    for (const Side side : kSides) {
      last = runner.many(pair, side, kTry);
      if (last.exit != 0) continue;
      const std::size_t lines = lines_in(last.out).size();
      if (lines == kTry) return ProgramMode::kMany;
      if (lines == 1) return ProgramMode::kOne;
      throw Error(ErrorCode::kInvalidInput,
                  "the program was asked for 3 runs and printed " + std::to_string(lines) +
                      " lines; it must print one line per run, or take --one-run-per-process");
    }
  }
  throw Error(ErrorCode::kInvalidInput, "the program fails on every input (" + complaint(last) +
                                            "); it is called as PROGRAM FILE RUNS");
}

/// Pairs on which it does not always end and complain in the same way. Whether that tells the inputs
/// apart is another question: processes may print their number, or the time.
std::vector<std::size_t> varying_asides(const Runner& runner, std::size_t pairs) {
  constexpr int kTry = 2;
  std::vector<std::size_t> found;
  for (std::size_t pair = 0; pair < pairs; ++pair) {
    std::set<std::string> seen;
    for (const Side side : kSides)
      for (int i = 0; i < kTry; ++i) seen.insert(aside(runner.many(pair, side, 1)));
    if (seen.size() > 1) found.push_back(pair);
  }
  return found;
}

/// As many as take a small part of the time that a process has.
std::uint64_t runs_at_once(const Runner& runner, double timeout) {
  using Clock = std::chrono::steady_clock;
  constexpr std::uint64_t kMost = 1 << 17;
  std::uint64_t runs = 16;
  for (double seconds = 0; runs < kMost && seconds < std::min(1.0, timeout / 64); runs *= 4) {
    const auto start = Clock::now();
    runner.many(0, Side::kSecond, runs);
    seconds = std::chrono::duration<double>(Clock::now() - start).count();
  }
  return std::min(runs, kMost);
}

/// What is audited on some of the pairs.
Subject subject_on(const std::vector<std::size_t>& chosen, const LinePairs& pairs,
                   const std::string& name, const Claim& claim,
                   std::function<Outputs(std::size_t pair, Side side, std::uint64_t runs)> draw) {
  Subject subject{.name = name, .claim = claim, .pairs = {}, .draw = {}};
  for (const std::size_t i : chosen) {
    subject.pairs.push_back({pairs[i].name, internal::text_of(pairs[i].first),
                             internal::text_of(pairs[i].second), pairs[i].same});
  }
  subject.draw = [chosen, draw = std::move(draw)](std::size_t pair, Side side, std::uint64_t runs,
                                                  BitSource&) {
    return draw(chosen[pair], side, runs);
  };
  return subject;
}

void refuse_repeated_noise(const Runner& runner, std::size_t pairs) {
  constexpr std::uint64_t kTry = 16;
  for (std::size_t pair = 0; pair < pairs; ++pair) {
    const std::string once = runner.many(pair, Side::kSecond, kTry).out;
    const Lines lines = lines_in(once);
    const bool varies =
        std::adjacent_find(lines.begin(), lines.end(), std::not_equal_to<>()) != lines.end();
    if (!varies) continue;
    if (once != runner.many(pair, Side::kSecond, kTry).out) return;
    throw Error(ErrorCode::kInvalidInput,
                "two processes printed the same noise, so that anybody can subtract it; does the "
                "program fix a seed, or take it from the clock? Take it from the operating system");
  }
}

}  // namespace

ProgramSubject program_subject(const Program& program, const Claim& claim, const LinePairs& pairs) {
  const auto runner = std::make_shared<const Runner>(program, pairs);
  const ProgramMode mode = program.mode ? *program.mode : mode_of(*runner, pairs.size());
  const bool many = mode == ProgramMode::kMany;
  std::vector<std::size_t> all(pairs.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  Subject outputs = subject_on(all, pairs, program.command, claim,
                               [runner, many](std::size_t pair, Side side, std::uint64_t runs) {
                                 return many ? runner->draw_many(pair, side, runs)
                                             : runner->draw_one_by_one(pair, side, runs);
                               });
  constexpr std::uint64_t kProcessesAtOnce = 16;
  if (!many) {
    outputs.runs_at_once = kProcessesAtOnce;
    return {in_turns(std::move(outputs)), mode};
  }
  refuse_repeated_noise(*runner, pairs.size());
  outputs.runs_at_once = runs_at_once(*runner, program.timeout);
  ProgramSubject result{std::move(outputs), mode};
  const std::vector<std::size_t> varying = varying_asides(*runner, pairs.size());
  if (varying.empty()) return result;
  Subject asides = subject_on(varying, pairs, program.command, claim,
                              [runner](std::size_t pair, Side side, std::uint64_t runs) {
                                return runner->draw_asides(pair, side, runs);
                              });
  asides.runs_at_once = kProcessesAtOnce;
  result.asides = in_turns(std::move(asides));
  return result;
}

}  // namespace gauze::audit
