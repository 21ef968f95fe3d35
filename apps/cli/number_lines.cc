#include "number_lines.h"

#include <cstdio>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "gauze/base/error.h"
#include "gauze/registry/input.h"

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

}  // namespace

void converse_in_lines(const std::string& file, Quote quote, const Delivery& delivery) {
  Lines lines(file);
  Dialogue dialogue{[&] { return lines.next(); },
                    [&](const Said& said) {
                      if (delivery.json) return;
                      print_line(shown(said.text));
                      std::fflush(stdout);  // whoever asks waits for it
                    }};
  answer(std::ref(dialogue), std::move(quote), delivery);
}

}  // namespace gauze::cli
