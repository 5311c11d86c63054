// A schema of its own on the test's PostgreSQL server, for one store. SHEPHERD_TEST_POSTGRES names the file with the
// server's URL (tools/test-postgres).
#pragma once

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>

#include "postgres/connection.h"
#include "store/postgres/postgres_store.h"

namespace shepherd::testing {

// Threads: caller.
class PostgresSchema {
 public:
  PostgresSchema() : server_(server_url()) {
    static std::atomic<int> made{0};
    auto now = std::chrono::steady_clock::now().time_since_epoch().count();
    name_ = "s" + std::to_string(getpid()) + "_" + std::to_string(now) + "_" + std::to_string(++made);
    run("CREATE SCHEMA " + name_);
  }
  ~PostgresSchema() {
    try {
      run("DROP SCHEMA " + name_ + " CASCADE");
    } catch (const std::exception&) {  // the server ends with the tests
    }
  }
  PostgresSchema(const PostgresSchema&) = delete;
  PostgresSchema& operator=(const PostgresSchema&) = delete;

  std::unique_ptr<PostgresStore> open() const {
    auto store = PostgresStore::open(url());
    if (!store) throw std::runtime_error(store.error().message);
    return std::move(*store);
  }
  std::string url() const { return server_ + "&options=-csearch_path%3D" + name_ + "&application_name=" + name_; }
  // Runs SQL outside the store, as a person or an administrator would.
  void run(const std::string& sql) const {
    auto connection = PostgresConnection::open(server_);
    if (!connection) throw std::runtime_error(connection.error().message);
    if (auto done = (*connection)->execute(sql); !done) throw std::runtime_error(done.error().message);
  }
  const std::string& name() const { return name_; }

 private:
  static std::string server_url() {
    const char* file = std::getenv("SHEPHERD_TEST_POSTGRES");
    std::ifstream in(file == nullptr ? "" : file);
    std::string url;
    if (!std::getline(in, url)) {
      throw std::runtime_error(
          "no PostgreSQL server for the tests: run them with ctest, or start one with `tools/test-postgres start DIR`"
          " and set SHEPHERD_TEST_POSTGRES=DIR/url");
    }
    return url;
  }

  std::string server_, name_;
};

}  // namespace shepherd::testing
