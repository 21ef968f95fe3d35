#pragma once

#include <gtest/gtest.h>
#include <pty.h>
#include <signal.h>
#include <unistd.h>

#include "program.h"

/// The program on a terminal of its own.
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

  /// Everything up to and with `text`, however long it takes; what there was if the program ends without it.
  std::string until(const std::string& text) {
    std::string got;
    while (got.find(text) == std::string::npos && more(got)) {
    }
    return got;
  }

  /// The exit code, when the program has ended.
  int wait() {
    std::string rest;
    while (more(rest)) {
    }
    int status = 0;
    waitpid(child_, &status, 0);
    child_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
  }

 private:
  /// False when nobody writes to the terminal any more.
  bool more(std::string& got) const {
    char buffer[4096];
    const ssize_t count = read(file_, buffer, sizeof buffer);
    if (count <= 0) return false;
    got.append(buffer, static_cast<std::size_t>(count));
    return true;
  }

  int file_ = -1;
  pid_t child_ = -1;
};
