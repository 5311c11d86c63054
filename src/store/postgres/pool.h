// The connections that read. A broken one is opened again by the next reader.
//
// Failures: the connection's; unavailable/busy if none is free within kPostgresReaderWait.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"
#include "postgres/connection.h"

namespace shepherd {

// Threads: any.
class PostgresPool {
 public:
  PostgresPool(std::string url, std::size_t size) : url_(std::move(url)), free_(size) {}

  // A connection that is this reader's until the end of its scope, in one snapshot of the database. Threads: caller.
  class Reader {
   public:
    Reader(PostgresPool& pool, std::unique_ptr<PostgresConnection> connection)
        : pool_(&pool), connection_(std::move(connection)) {}
    Reader(Reader&& other) noexcept
        : pool_(std::exchange(other.pool_, nullptr)), connection_(std::move(other.connection_)) {}
    Reader& operator=(Reader&&) = delete;
    ~Reader();
    PostgresConnection* operator->() const { return connection_.get(); }

   private:
    PostgresPool* pool_;
    std::unique_ptr<PostgresConnection> connection_;
  };
  Result<Reader> reader() EXCLUDES(mutex_);

 private:
  void put_back(std::unique_ptr<PostgresConnection> connection) EXCLUDES(mutex_);

  const std::string url_;
  Mutex mutex_;
  CondVar freed_;
  std::vector<std::unique_ptr<PostgresConnection>> free_ GUARDED_BY(mutex_);  // nullptr: to be opened
};

}  // namespace shepherd
