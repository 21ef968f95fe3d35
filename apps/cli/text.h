#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "gauze/accounting/event.h"
#include "gauze/numeric/ratio.h"

namespace gauze::cli {

using Json = nlohmann::ordered_json;

/// A number given on the command line, exactly; `option` names it in the error.
Ratio exact(const std::string& text, const char* option);

/// The same as a double. A number that is no short decimal is rounded down, so that a target given
/// as a fraction is never exceeded; a loss to be judged is rounded up instead.
double number(const std::string& text, const char* option,
              double (*round)(const Ratio&) = round_down);

/// The double whose shortest decimal is exactly the value, as it would be written down; where there is none, rounded.
double decimal(const Ratio& value, double (*round)(const Ratio&));

/// A whole number from `least` to 2^63 - 1; 1e6 counts as whole.
std::uint64_t whole(const std::string& text, const char* option, std::uint64_t least);

/// The words between commas.
std::vector<std::string> list_of(const std::string& text);

/// A file's contents, or standard input for "-". Throws `kIo`.
std::string read_all(const std::string& path);

/// From here on nobody's leaving ends the program (SIGPIPE): for what is about to be paid, so that a broken pipe is an
/// error of writing like others. Whatever costs nothing ends in silence, as `gauze list | head -1` should.
void outlive_readers();

/// Puts `contents` at `path`: all of it or, when that throws `kIo`, nothing.
void write_all(const std::string& path, std::string_view contents);
/// Throws `kIo` when a file could not be put at `path`, which is tried with a file beside it.
void check_writable(const std::string& path);
/// Whether both are one file, or would be if it were there.
bool same_file(const std::string& path, const std::string& other);
/// Throws `kInvalidOption`: what `option` says would be written over an input.
[[noreturn]] void refuse_to_replace(const std::string& path, const char* option);

/// `digits` significant digits, to nearest and, for losses, rounded up.
std::string nearest(double value, int digits = 4);
std::string upward(double value, int digits = 4);

/// A whole number with its thousands apart: 301,447.
std::string grouped(std::uint64_t number);

/// A double as JSON, with infinity as the string "inf", which JSON numbers lack.
Json finite(double value);

void print(std::string_view text);
void print_line(std::string_view text = "");
void print_json(const Json& json);
/// Throws `kIo` when not all that was printed could be written.
void expect_printed();

/// True when the terminal reads UTF-8, by LC_ALL, LC_CTYPE and LANG as in every other program.
bool utf8();
/// `fancy` where UTF-8 is understood, `plain` elsewhere.
std::string glyph(const char* fancy, const char* plain);
/// UTF-8 text with its Greek letters and signs spelled out where the terminal reads no UTF-8.
std::string shown(std::string text);
/// A heading: bold on a terminal.
std::string heading(std::string_view text);

/// Columns padded to their widest cell. `sides` has one letter per column, l or r, and its last
/// letter stands for the columns behind it.
std::string table(const std::vector<std::vector<std::string>>& rows, std::string_view indent = "  ",
                  std::string_view sides = "lr");
/// How many columns of a terminal the text takes.
std::size_t columns(std::string_view text);
/// How wide the terminal is; 100 where there is none.
std::size_t terminal_width();
/// How many rows of a table fit on the terminal; no limit where there is none.
std::size_t terminal_rows();
/// Text broken at spaces into lines of at most `width` characters.
std::string wrap(std::string_view text, std::string_view indent = "  ", std::size_t width = 96);

/// What an event is, in a few words: "14063 x poisson_sampled(rate 0.0043, gaussian(sigma 1.1))".
std::string describe(const Event& event);

}  // namespace gauze::cli
