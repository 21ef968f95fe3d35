#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstring>

#include "gauze/audit/process_internal.h"
#include "gauze/base/error.h"

extern char** environ;

namespace gauze::audit {
namespace {

class Descriptor {
 public:
  explicit Descriptor(int value) : value_(value) {}
  ~Descriptor() { close(); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  int get() const { return value_; }
  void close() {
    if (value_ >= 0) ::close(value_);
    value_ = -1;
  }

 private:
  int value_;
};

struct Pipe {
  Pipe() : Pipe(made()) {}
  Descriptor read;
  Descriptor write;

 private:
  explicit Pipe(const std::array<int, 2>& ends) : read(ends[0]), write(ends[1]) {}
  static std::array<int, 2> made() {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0)
      throw Error(ErrorCode::kIo, "no pipe to a program could be made");
    return ends;
  }
};

/// The child in a process group of its own, so that a script ends with everything it started.
class Child {
 public:
  Child(const std::string& command, const std::vector<std::string>& arguments, int out, int err) {
    const std::string script = command + " \"$@\"";
    std::vector<const char*> argv = {"sh", "-c", script.c_str(), "sh"};
    for (const std::string& each : arguments) argv.push_back(each.c_str());
    argv.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, err, STDERR_FILENO);
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
    const int failed = posix_spawn(&id_, "/bin/sh", &actions, &attributes,
                                   const_cast<char* const*>(argv.data()), environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    if (failed != 0) throw Error(ErrorCode::kIo, "the shell could not be started");
  }
  ~Child() {
    if (id_ <= 0) return;
    kill(-id_, SIGKILL);
    waitpid(id_, nullptr, 0);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  int wait() {
    int status = 0;
    while (waitpid(id_, &status, 0) < 0 && errno == EINTR) {
    }
    id_ = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

 private:
  pid_t id_ = 0;
};

/// Reads what is there; false at the end.
bool read_some(int descriptor, std::string& text) {
  char buffer[1 << 16];
  const ssize_t count = ::read(descriptor, buffer, sizeof buffer);
  if (count > 0) text.append(buffer, static_cast<std::size_t>(count));
  return count > 0 || (count < 0 && errno == EINTR);
}

}  // namespace

Ended run_process(const std::string& command, const std::vector<std::string>& arguments,
                  double seconds) {
  using Clock = std::chrono::steady_clock;
  const auto deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                           std::chrono::duration<double>(seconds));
  Pipe out;
  Pipe err;
  Child child(command, arguments, out.write.get(), err.write.get());
  out.write.close();
  err.write.close();
  Ended ended;
  std::array<pollfd, 2> open = {pollfd{out.read.get(), POLLIN, 0},
                                pollfd{err.read.get(), POLLIN, 0}};
  while (open[0].fd >= 0 || open[1].fd >= 0) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0) {
      throw Error(ErrorCode::kInvalidInput,
                  "the program did not end in time; raise --timeout or lower --runs");
    }
    if (poll(open.data(), open.size(), static_cast<int>(std::min<long long>(left, 1000))) <= 0)
      continue;
    if (open[0].revents != 0 && !read_some(open[0].fd, ended.out)) open[0].fd = -1;
    if (open[1].revents != 0 && !read_some(open[1].fd, ended.err)) open[1].fd = -1;
  }
  ended.exit = child.wait();
  return ended;
}

}  // namespace gauze::audit
