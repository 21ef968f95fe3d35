#include "gauze/testing/postgres_server.h"

#include <fcntl.h>
#include <pwd.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <thread>
#include <vector>

namespace gauze::testing {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const std::string& message) {
  throw std::runtime_error("PostgreSQL server for the test: " + message);
}

/// The newest server that is installed.
std::string find_programs() {
  std::vector<fs::path> found;
  std::error_code ignored;
  for (const auto& version : fs::directory_iterator("/usr/lib/postgresql", ignored)) {
    if (fs::exists(version.path() / "bin" / "initdb")) found.push_back(version.path() / "bin");
  }
  if (found.empty()) fail("install the package postgresql (no /usr/lib/postgresql/*/bin/initdb)");
  return std::max_element(found.begin(), found.end())->string();
}

/// Whom the server runs as when we are root.
const passwd* other_user() {
  if (geteuid() != 0) return nullptr;
  for (const char* name : {"postgres", "nobody"}) {
    if (const passwd* user = getpwnam(name)) return user;
  }
  fail("running as root, and there is no user postgres or nobody to run it as");
}

/// Starts a program whose output goes to `log`; it ends when this process does.
pid_t start_process(const std::vector<std::string>& command, const std::string& log) {
  const passwd* user = other_user();
  std::vector<char*> arguments;
  for (const std::string& each : command) arguments.push_back(const_cast<char*>(each.c_str()));
  arguments.push_back(nullptr);
  const pid_t child = fork();
  if (child < 0) fail("cannot fork");
  if (child > 0) return child;
  const int file = open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0666);
  dup2(file, STDOUT_FILENO);
  dup2(file, STDERR_FILENO);
  if (user && (setgid(user->pw_gid) != 0 || setuid(user->pw_uid) != 0)) _exit(126);
  prctl(PR_SET_PDEATHSIG, SIGQUIT);
  execv(arguments[0], arguments.data());
  _exit(127);
}

std::string contents(const std::string& path) {
  std::ifstream file(path);
  return std::string((std::istreambuf_iterator<char>(file)), {});
}

void run_to_end(const std::vector<std::string>& command, const std::string& log) {
  int status = 0;
  waitpid(start_process(command, log), &status, 0);
  if (status != 0) fail(command.front() + " failed: " + contents(log));
}

}  // namespace

PostgresServer::PostgresServer() : programs_(find_programs()) {
  std::string folder = (fs::temp_directory_path() / "gauze-pg-XXXXXX").string();
  if (!mkdtemp(folder.data())) fail("cannot make a temporary folder");
  folder_ = folder;
  if (const passwd* user = other_user()) {
    if (chown(folder.c_str(), user->pw_uid, user->pw_gid) != 0) fail("cannot give the folder away");
  }
  run_to_end({programs_ + "/initdb", "--pgdata=" + folder_ + "/data", "--username=gauze",
              "--auth=trust", "--encoding=UTF8", "--no-locale", "--no-sync"},
             folder_ + "/log");
  start();
}

PostgresServer::~PostgresServer() {
  kill();
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

std::string PostgresServer::uri() const {
  return "postgresql://gauze@/postgres?host=" + folder_;
}

void PostgresServer::run(const std::string& sql) const {
  const std::string script = folder_ + "/script" + std::to_string(scripts_++) + ".sql";
  std::ofstream(script) << sql;
  run_to_end(
      {programs_ + "/psql", "-X", "-q", "-1", "-v", "ON_ERROR_STOP=1", "-d", uri(), "-f", script},
      folder_ + "/psql.log");
}

void PostgresServer::start() {
  process_ = start_process({programs_ + "/postgres", "-D", folder_ + "/data", "-k", folder_, "-c",
                            "listen_addresses=", "-c", "fsync=off", "-c", "max_connections=200"},
                           folder_ + "/log");
  while (contents(folder_ + "/data/postmaster.pid").find("ready") == std::string::npos) {
    if (waitpid(process_, nullptr, WNOHANG) != 0) {
      process_ = 0;
      fail("it stopped: " + contents(folder_ + "/log"));
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

void PostgresServer::kill() {
  if (process_ == 0) return;
  ::kill(process_, SIGQUIT);
  waitpid(process_, nullptr, 0);
  process_ = 0;
}

}  // namespace gauze::testing
