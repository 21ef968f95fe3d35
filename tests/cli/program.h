#pragma once

#include <sys/wait.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>

/// Runs the built program as a user's shell would.
struct Ran {
  int exit = -1;
  std::string out;
  std::string err;

  nlohmann::json json() const { return nlohmann::json::parse(out); }
};

inline std::string slurp(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// A folder of the test's own, removed at the end.
class Folder {
 public:
  Folder() {
    char name[] = "/tmp/gauze-cli-XXXXXX";
    path_ = mkdtemp(name);
  }
  ~Folder() { std::system(("rm -rf " + path_).c_str()); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::string path(const std::string& name) const { return path_ + "/" + name; }
  std::string write(const std::string& name, const std::string& contents) const {
    std::ofstream(path(name), std::ios::binary) << contents;
    return path(name);
  }
  std::string read(const std::string& name) const {
    std::ifstream file(path(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

 private:
  std::string path_;
};

/// `gauze ARGUMENTS` (shell syntax) with `input` on standard input; `environment` like "LC_ALL=C".
inline Ran gauze_program(const std::string& arguments, const std::string& input = "",
                         const std::string& environment = "") {
  const Folder folder;
  folder.write("in", input);
  const std::string command = environment + " " GAUZE_PROGRAM " " + arguments + " <" +
                              folder.path("in") + " >" + folder.path("out") + " 2>" +
                              folder.path("err");
  const int status = std::system(command.c_str());
  Ran ran;
  ran.exit = WIFEXITED(status) ? WEXITSTATUS(status) : 128;
  ran.out = slurp(folder.path("out"));
  ran.err = slurp(folder.path("err"));
  return ran;
}
