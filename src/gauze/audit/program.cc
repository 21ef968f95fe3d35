#include "gauze/audit/program.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

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

  // Names of one length that say nothing about which input is which.
  std::string path(std::size_t pair, Side side) const {
    std::string number = std::to_string(1000 + 2 * pair + (side == Side::kFirst ? 0 : 1));
    return (folder_ / ("data" + number)).string();
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
    return run_process(program_.command, {files_.path(pair, side), std::to_string(runs)},
                       program_.timeout);
  }
  Ended one(std::size_t pair, Side side) const {
    return run_process(program_.command, {files_.path(pair, side)}, program_.timeout);
  }

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

  Outputs draw_one_by_one(std::size_t pair, Side side, std::uint64_t runs, bool only_aside) const {
    Outputs outputs;
    for (std::uint64_t i = 0; i < runs; ++i) {
      const Ended ended = only_aside ? many(pair, side, 1) : one(pair, side);
      std::string text = only_aside ? "" : ended.out;
      while (text.ends_with('\n')) text.pop_back();
      const std::string more = aside(ended);
      if (more.empty() && !only_aside)
        add_line(outputs, text);
      else
        outputs.add(text + " (" + complaint(ended) + ")");
    }
    return outputs;
  }

 private:
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

/// Pairs on which it ends or complains in different ways.
std::vector<std::size_t> telling_asides(const Runner& runner, std::size_t pairs) {
  std::vector<std::size_t> found;
  for (std::size_t pair = 0; pair < pairs; ++pair) {
    if (aside(runner.many(pair, Side::kFirst, 1)) != aside(runner.many(pair, Side::kSecond, 1)))
      found.push_back(pair);
  }
  return found;
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
  ProgramSubject result{
      .subject = {.name = program.command, .claim = claim, .pairs = {}, .draw = {}}};
  result.mode = program.mode ? *program.mode : mode_of(*runner, pairs.size());
  std::vector<std::size_t> chosen;
  if (result.mode == ProgramMode::kMany) {
    chosen = telling_asides(*runner, pairs.size());
    result.side_channel = !chosen.empty();
    if (!result.side_channel) refuse_repeated_noise(*runner, pairs.size());
  }
  for (std::size_t i = 0; i < pairs.size() && !result.side_channel; ++i) chosen.push_back(i);
  for (const std::size_t i : chosen) {
    result.subject.pairs.push_back({pairs[i].name, internal::text_of(pairs[i].first),
                                    internal::text_of(pairs[i].second), pairs[i].same});
  }
  const bool batches = result.mode == ProgramMode::kMany && !result.side_channel;
  result.subject.runs_at_once = batches ? 1 << 17 : 16;
  const bool only_aside = result.side_channel;
  result.subject.draw = [runner, chosen, batches, only_aside](std::size_t pair, Side side,
                                                              std::uint64_t runs, BitSource&) {
    return batches ? runner->draw_many(chosen[pair], side, runs)
                   : runner->draw_one_by_one(chosen[pair], side, runs, only_aside);
  };
  return result;
}

}  // namespace gauze::audit
