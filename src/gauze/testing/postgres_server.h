#pragma once

#include <atomic>
#include <string>

namespace gauze::testing {

/// A PostgreSQL server for a test: new, empty, in a temporary folder, reached through a socket there and
/// nowhere else. It stops and its folder goes away with the object, also when the test is killed. As
/// root it runs as another user, for PostgreSQL refuses root. Throws std::runtime_error, saying what is
/// missing, when there is no server to start.
class PostgresServer {
 public:
  PostgresServer();
  PostgresServer(const PostgresServer&) = delete;
  PostgresServer& operator=(const PostgresServer&) = delete;
  ~PostgresServer();

  /// For libpq; its user may do everything.
  std::string uri() const;

  /// Runs statements as that user, from any thread; throws when one fails.
  void run(const std::string& sql) const;

  /// Takes the server away at once, as a crash would, and brings it back.
  void kill();
  void start();

 private:
  std::string folder_;
  std::string programs_;
  int process_ = 0;
  mutable std::atomic<int> scripts_ = 0;  ///< so far
};

}  // namespace gauze::testing
