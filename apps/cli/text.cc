#include "text.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>

#include "gauze/base/error.h"

namespace gauze::cli {
namespace {

std::string printed(double value, int digits) {
  if (digits >= 17)
    return nlohmann::json(value == std::floor(value) && std::abs(value) < 1e15
                              ? nlohmann::json(static_cast<std::int64_t>(value))
                              : nlohmann::json(value))
        .dump();
  char buffer[64];
  std::snprintf(buffer, sizeof buffer, "%.*g", digits, value);
  return buffer;
}

[[noreturn]] void cannot_write(const std::string& path) {
  throw Error(ErrorCode::kIo, "the file '" + path +
                                  "' cannot be written; check its name, that it is no folder, its "
                                  "folder, its permissions and that the disk is not full");
}

}  // namespace

Ratio exact(const std::string& text, const char* option) {
  return parse_ratio(text, option);
}

double number(const std::string& text, const char* option, double (*round)(const Ratio&)) {
  return decimal(exact(text, option), round);
}

double decimal(const Ratio& value, double (*round)(const Ratio&)) {
  const auto near = value.convert_to<double>();
  for (const double each : {near, std::nextafter(near, INFINITY)}) {
    if (std::isfinite(each) && ratio_of_decimal(each) == value) return each;
  }
  return round(value);
}

std::uint64_t whole(const std::string& text, const char* option, std::uint64_t least) {
  const Ratio value = exact(text, option);
  if (denominator(value) != 1 || value < least || value > INT64_MAX) {
    throw Error(ErrorCode::kInvalidOption, std::string(option) + ": must be a whole number from " +
                                               std::to_string(least) + " to 2^63 - 1");
  }
  return numerator(value).convert_to<std::uint64_t>();
}

std::vector<std::string> list_of(const std::string& text) {
  std::vector<std::string> words;
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t to = std::min(text.find(',', from), text.size());
    words.push_back(text.substr(from, to - from));
    from = to + 1;
  }
  return words;
}

std::string read_all(const std::string& path) {
  const bool standard = path == "-";
  const auto close = [](std::FILE* file) { return file == stdin ? 0 : std::fclose(file); };
  const std::unique_ptr<std::FILE, decltype(close)> file(
      standard ? stdin : std::fopen(path.c_str(), "rb"), close);
  std::string contents;
  char block[1 << 16];
  while (file != nullptr) {
    const std::size_t got = std::fread(block, 1, sizeof block, file.get());
    if (got == 0) break;
    contents.append(block, got);
  }
  // Opening a folder works; reading it does not.
  if (file == nullptr || std::ferror(file.get()) != 0) {
    throw Error(ErrorCode::kIo,
                (standard ? "standard input" : "the file '" + path + "'") +
                    " cannot be read; check its name and permissions, and that it is no folder" +
                    (standard ? "" : ", or give - to read standard input"));
  }
  return contents;
}

void outlive_readers() {
  std::signal(SIGPIPE, SIG_IGN);
}

void write_all(const std::string& path, std::string_view contents) {
  const std::string unfinished = path + ".part";
  std::FILE* file = std::fopen(unfinished.c_str(), "wb");
  bool good = file != nullptr;
  good = good && std::fwrite(contents.data(), 1, contents.size(), file) == contents.size();
  good = (file == nullptr || std::fclose(file) == 0) && good;
  good = good && std::rename(unfinished.c_str(), path.c_str()) == 0;
  if (good) return;
  if (file != nullptr) std::remove(unfinished.c_str());
  cannot_write(path);
}

void check_writable(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code failed;
  if (fs::is_directory(fs::symlink_status(path, failed))) cannot_write(path);
  // Files are written under a longer name first, and moved when they are whole; none is longer than this.
  const std::string draft = path + ".part" + std::to_string(getpid()) + "-trial";
  const int file = open(draft.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (file < 0) cannot_write(path);
  close(file);
  unlink(draft.c_str());
}

bool same_file(const std::string& path, const std::string& other) {
  namespace fs = std::filesystem;
  std::error_code failed;
  if (fs::equivalent(path, other, failed)) return true;
  const auto canonical = [&](const std::string& name) {
    return fs::weakly_canonical(fs::absolute(name, failed), failed);
  };
  return canonical(path) == canonical(other);
}

void refuse_to_replace(const std::string& path, const char* option) {
  throw Error(ErrorCode::kInvalidOption, std::string(option) + ": '" + path +
                                             "' is what the question reads (data, schema or "
                                             "ledger), or would be next time; choose another name");
}

std::string nearest(double value, int digits) {
  return printed(value, digits);
}

std::string upward(double value, int digits) {
  if (!std::isfinite(value)) return printed(value, digits);
  for (; digits < 17; ++digits) {
    // The next decimal up is at most one unit of the last digit away.
    const double unit = std::pow(10.0, std::floor(std::log10(std::abs(value))) - digits + 1);
    for (const double candidate : {value, value + unit / 2, value + unit}) {
      std::string text = printed(candidate, digits);
      if (std::strtod(text.c_str(), nullptr) >= value) return text;
    }
  }
  return printed(value, 17);
}

std::string grouped(std::uint64_t number) {
  std::string digits = std::to_string(number);
  for (std::size_t at = digits.size(); at > 3;) digits.insert(at -= 3, ",");
  return digits;
}

Json finite(double value) {
  if (std::isfinite(value)) return value;
  return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
}

void print(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
}

void print_line(std::string_view text) {
  print(text);
  print("\n");
}

void print_json(const Json& json) {
  print_line(json.dump());
}

void expect_printed() {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return;
  throw Error(
      ErrorCode::kIo,
      "the output could not be written, perhaps because the disk is full or nobody reads it");
}

bool utf8() {
  for (const char* variable : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* value = std::getenv(variable);
    if (value == nullptr || *value == '\0') continue;
    std::string lower(value);
    std::transform(lower.begin(), lower.end(), lower.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return lower.find("utf-8") != std::string::npos || lower.find("utf8") != std::string::npos;
  }
  return false;
}

std::string glyph(const char* fancy, const char* plain) {
  return utf8() ? fancy : plain;
}

std::string shown(std::string text) {
  if (utf8()) return text;
  constexpr std::array<std::pair<std::string_view, std::string_view>, 14> kSpelled = {
      {{"ε", "epsilon"},
       {"δ", "delta"},
       {"ρ", "rho"},
       {"σ", "sigma"},
       {"±", "+-"},
       {"∞", "inf"},
       {"∅", "null"},
       {"…", "..."},
       {"–", "-"},
       {"×", "x"},
       {"·", "."},
       {"≤", "<="},
       {"√", "sqrt "},
       {"∈", "in"}}};
  for (const auto& [fancy, plain] : kSpelled) {
    for (std::size_t at = 0; (at = text.find(fancy, at)) != std::string::npos; at += plain.size())
      text.replace(at, fancy.size(), plain);
  }
  return text;
}

std::string heading(std::string_view text) {
  const bool terminal = isatty(STDOUT_FILENO) != 0;
  return (terminal ? "\033[1m" : "") + std::string(text) + (terminal ? "\033[0m" : "");
}

std::size_t columns(std::string_view text) {
  // Bytes that continue a character take none.
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

std::size_t terminal_width() {
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return 100;
}

std::size_t terminal_rows() {
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 0)
    return std::max<std::size_t>(size.ws_row, 30) - 10;
  return SIZE_MAX;
}

std::string table(const std::vector<std::vector<std::string>>& rows, std::string_view indent,
                  std::string_view sides) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], columns(row[i]));
  }
  std::string result;
  for (const auto& row : rows) {
    std::string line(indent);
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string padding(widths[i] - columns(row[i]), ' ');
      if (i > 0) line += "  ";
      line += sides[std::min(i, sides.size() - 1)] == 'l' ? row[i] + padding : padding + row[i];
    }
    line.erase(line.find_last_not_of(' ') + 1);
    result += line + '\n';
  }
  return result;
}

std::string wrap(std::string_view text, std::string_view indent, std::size_t width) {
  std::string result;
  std::string line(indent);
  bool empty = true;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(text.size(), word.size() + 1));
    if (word.empty()) continue;
    if (!empty && columns(line) + 1 + columns(word) > width) {
      result += line + '\n';
      line = indent;
      empty = true;
    }
    if (!empty) line += ' ';
    line += word;
    empty = false;
  }
  return result + line + '\n';
}

std::string describe(const Event& event) {
  const nlohmann::json json = to_json(event);
  std::string inside;
  const auto add = [&](const std::string& part) { inside += (inside.empty() ? "" : ", ") + part; };
  for (const auto& [key, value] : json.items()) {
    if (key == "type" || key == "relation" || key == "count" || key == "event" || key == "events")
      continue;
    add(key + " " +
        (value.is_string()   ? nearest(round_up(parse_ratio(value.get<std::string>())), 6)
         : value.is_number() ? nearest(value.get<double>(), 17)
                             : value.dump()));
  }
  const auto parts = [&](const std::vector<Event>& events) {
    for (const Event& part : events) add(describe(part));
  };
  if (const auto* e = std::get_if<events::PoissonSampled>(&event.kind)) parts(e->events);
  if (const auto* e = std::get_if<events::SampledWithoutReplacement>(&event.kind)) parts(e->events);
  if (const auto* e = std::get_if<events::Composed>(&event.kind)) parts(e->events);
  const std::string times =
      event.count == 1 ? "" : std::to_string(event.count) + glyph(" × ", " x ");
  return times + std::string(type_name(event)) + "(" + inside + ")";
}

}  // namespace gauze::cli
