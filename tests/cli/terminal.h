#pragma once

#include <gtest/gtest.h>
#include <poll.h>
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

  /// Everything up to and with `text`; what there was when nothing came for 20 seconds.
  std::string until(const std::string& text) {
    std::string got;
    while (got.find(text) == std::string::npos) {
      pollfd ready{file_, POLLIN, 0};
      char buffer[4096];
      if (poll(&ready, 1, 20'000) <= 0) break;
      const ssize_t count = read(file_, buffer, sizeof buffer);
      if (count <= 0) break;
      got.append(buffer, static_cast<std::size_t>(count));
    }
    return got;
  }

  /// The exit code; a program that has not ended after 20 seconds is ended.
  int wait() {
    int status = 0;
    for (int i = 0; i < 200 && waitpid(child_, &status, WNOHANG) == 0; ++i) usleep(100'000);
    if (kill(child_, SIGKILL) == 0) waitpid(child_, &status, 0);
    child_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
  }

 private:
  int file_ = -1;
  pid_t child_ = -1;
};
