#include <array>
#include <charconv>
#include <vector>

#include "command.h"
#include "gauze/base/error.h"
#include "gauze/noise/additive.h"
#include "gauze/random/system_bits.h"
#include "text.h"

namespace gauze::cli {
namespace {

struct NoiseRequest {
  std::string kind;
  std::string scale;
  std::string count = "1";
  bool uniform_time = false;
  bool json = false;
};

AdditiveNoise sampler(const NoiseRequest& request) {
  const Ratio scale = exact(request.scale, "--scale");
  require(scale > 0, "--scale: must be above 0, like 7/3, 0.5 or 1e6");
  const Timing timing = request.uniform_time ? Timing::kUniform : Timing::kFast;
  if (request.kind == "discrete_laplace") return AdditiveNoise::discrete_laplace(scale, timing);
  if (request.kind == "discrete_gaussian")
    return AdditiveNoise::discrete_gaussian(scale * scale, timing);
  if (request.kind == "geometric") return AdditiveNoise::geometric(scale, timing);
  throw Error(ErrorCode::kUnknownName,
              "noise '" + request.kind.substr(0, 40) +
                  "' is unknown; choose discrete_laplace, discrete_gaussian or geometric");
}

/// Draws and prints in batches: the cost of a line is that of its digits.
void print_draws(const AdditiveNoise& noise, std::uint64_t count, char separator) {
  constexpr std::size_t kBatch = 8192;
  constexpr std::size_t kLongest = 21;  // a sign, 19 digits, a separator
  SystemBits bits;
  std::vector<std::int64_t> draws(kBatch);
  std::vector<char> text(kBatch * kLongest);
  while (count > 0) {
    draws.resize(static_cast<std::size_t>(std::min<std::uint64_t>(count, kBatch)));
    noise.fill(draws, bits);
    count -= draws.size();
    char* end = text.data();
    for (std::size_t i = 0; i < draws.size(); ++i) {
      end = std::to_chars(end, text.data() + text.size(), draws[i]).ptr;
      if (separator == '\n' || count > 0 || i + 1 < draws.size()) *end++ = separator;
    }
    print({text.data(), static_cast<std::size_t>(end - text.data())});
    if (std::ferror(stdout) != 0) throw Error(ErrorCode::kIo, "the draws could not be written");
  }
}

void draw(const NoiseRequest& request) {
  const AdditiveNoise noise = sampler(request);
  const std::uint64_t count = whole(request.count, "--count", 1);
  if (!request.json) return print_draws(noise, count, '\n');
  print("{\"draws\":[");
  print_draws(noise, count, ',');
  print_line("]}");
}

}  // namespace

void add_noise(CLI::App& app) {
  CLI::App* command = app.add_subcommand("noise", "Draw exact noise, one integer per line");
  auto request = std::make_shared<NoiseRequest>();
  command->add_option("kind", request->kind, "discrete_laplace, discrete_gaussian or geometric")
      ->required();
  command
      ->add_option("--scale", request->scale,
                   "Scale of the noise, above 0: a fraction or decimal, taken exactly; sigma for "
                   "discrete_gaussian")
      ->required();
  command->add_option("--count", request->count, "How many draws (1)");
  command->add_flag("--uniform-time", request->uniform_time,
                    "Every draw does the same work, whatever its value");
  command->add_flag("--json", request->json, "Print {\"draws\": [...]}");
  command->footer(
      "For those who want to test it. The distribution is the stated one, not an approximation:\n"
      "  discrete_laplace    P(x) proportional to e^(-|x|/scale)\n"
      "  discrete_gaussian   P(x) proportional to e^(-x^2 / (2 scale^2))\n"
      "  geometric           P(x) proportional to e^(-x/scale), x = 0, 1, 2, ...\n"
      "Example: gauze noise discrete_laplace --scale 7/3 --count 10");
  command->callback([request] { draw(*request); });
}

}  // namespace gauze::cli
