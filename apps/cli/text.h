#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "gauze/service/files.h"
#include "gauze/service/values.h"

namespace gauze::cli {

using namespace service;  // NOLINT(google-build-using-namespace)

/// From here on nobody's leaving ends the program (SIGPIPE): for what is about to be paid, so that a broken pipe is an
/// error of writing like others. Whatever costs nothing ends in silence, as `gauze list | head -1` should.
void outlive_readers();

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

}  // namespace gauze::cli
