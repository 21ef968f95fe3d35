#pragma once

#include <string>
#include <string_view>

// Files that are read and written whole.
namespace gauze::service {

/// A file's contents, or standard input for "-". Throws `kIo`.
std::string read_all(const std::string& path);

/// Puts `contents` at `path`: all of it or, when that throws `kIo`, nothing.
void write_all(const std::string& path, std::string_view contents);
/// Throws `kIo` when a file could not be put at `path`, which is tried with a file beside it.
void check_writable(const std::string& path);
/// Whether both are one file, or would be if it were there.
bool same_file(const std::string& path, const std::string& other);
/// Throws `kInvalidOption`: what `option` says would be written over an input.
[[noreturn]] void refuse_to_replace(const std::string& path, const char* option);

}  // namespace gauze::service
