#include "stream_release.h"

#include <cmath>
#include <cstdio>
#include <memory>

#include "column_release.h"
#include "gauze/base/error.h"
#include "gauze/engine/meaning.h"
#include "gauze/engine/release.h"
#include "gauze/random/system_bits.h"
#include "text.h"

namespace gauze::cli {
namespace {

/// The numbers of a file or of standard input, line by line; blank lines are none.
class Lines {
 public:
  explicit Lines(const std::string& path)
      : file_(path == "-" ? stdin : std::fopen(path.c_str(), "rb"), close) {
    if (file_ == nullptr)
      throw Error(ErrorCode::kIo, "the file '" + path + "' cannot be read; check its name");
  }

  std::optional<std::vector<double>> next() {
    while (true) {
      std::string line;
      int c = std::getc(file_.get());
      for (; c != EOF && c != '\n'; c = std::getc(file_.get())) line += static_cast<char>(c);
      if (std::ferror(file_.get()) != 0)
        throw Error(ErrorCode::kIo, "the input cannot be read to its end");
      if (line.find_first_not_of(" \t\r") != std::string::npos) return numbers(line);
      if (c == EOF) return std::nullopt;
    }
  }

 private:
  /// The numbers between commas, semicolons or tabs.
  static std::vector<double> numbers(std::string line) {
    for (char& c : line)
      if (c == ';' || c == ',' || c == '\t') c = '\n';
    return Rows::parse(line, {}).vector();
  }
  static void close(std::FILE* file) {
    if (file != nullptr && file != stdin) std::fclose(file);
  }
  std::unique_ptr<std::FILE, void (*)(std::FILE*)> file_;
};

std::string line_of(const nlohmann::json& said, const std::string& before_numbers) {
  if (said.is_string()) return said.get<std::string>();
  return before_numbers + nearest(said.get<double>(), 10);
}

}  // namespace

void release_stream(const Algorithm& algorithm, const StreamRequest& request) {
  const DialogueJob job = algorithm.dialogue(OptionValues(algorithm.options, request.options));
  const Guarantee cost = price_of(job.event(), request.quote_delta);
  refuse_weak(cost.epsilon, cost.delta, request.accept_weak);
  Lines lines(request.file);
  nlohmann::json all = nlohmann::json::array();
  Dialogue dialogue{[&] { return lines.next(); },
                    [&](const nlohmann::json& said) {
                      if (request.json) {
                        all.push_back(said);
                        return;
                      }
                      print_line(line_of(said, algorithm.before_numbers));
                      std::fflush(stdout);  // whoever asks waits for it
                    }};
  SystemBits bits;
  const auto answered = release(job, dialogue, bits);
  const Accuracy accuracy = job.accuracy(answered.value, request.confidence);
  hand_over(false, [&] {
    print_release({request.json ? all : nlohmann::json(), accuracy, answered.spent}, cost,
                  request.json);
  });
}

}  // namespace gauze::cli
