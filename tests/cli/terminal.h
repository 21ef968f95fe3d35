#pragma once

#include <gtest/gtest.h>
#include <pty.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <vector>

#include "program.h"

/// The program on a terminal of its own. Nothing here has a deadline: a busy machine takes as long
/// as it does, and ctest ends what never ends.
class Terminal {
 public:
  explicit Terminal(const std::string& arguments) {
    winsize size{.ws_row = 40, .ws_col = 100, .ws_xpixel = 0, .ws_ypixel = 0};
    child_ = forkpty(&file_, nullptr, nullptr, &size);
    if (child_ == 0) {
      setenv("TERM", "xterm", 1);
      setenv("LC_ALL", "C", 1);
      execl("/bin/sh", "sh", "-c", (std::string("exec " GAUZE_PROGRAM " ") + arguments).c_str(),
            nullptr);
      _exit(127);
    }
  }
  ~Terminal() {
    close(file_);
    if (child_ > 0) waitpid(child_, nullptr, 0);
  }
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  void type(const std::string& text) const {
    ASSERT_EQ(write(file_, text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }

  void send(int signal) const { ASSERT_EQ(kill(child_, signal), 0); }

  /// Everything up to and with one of the texts, or all that the program wrote before it ended.
  std::string until_any(const std::vector<std::string>& texts) {
    std::string got;
    const auto has = [&](const std::string& text) { return got.find(text) != std::string::npos; };
    while (std::none_of(texts.begin(), texts.end(), has)) {
      char buffer[4096];
      const ssize_t count = read(file_, buffer, sizeof buffer);
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) break;
      got.append(buffer, static_cast<std::size_t>(count));
    }
    return got;
  }
  std::string until(const std::string& text) { return until_any({text}); }

  /// The exit code, once the program has ended.
  int wait() {
    until_any({});
    int status = 0;
    waitpid(child_, &status, 0);
    child_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
  }

 private:
  int file_ = -1;
  pid_t child_ = -1;
};
