// A few read connections, each used by one reader at a time. Reads are short, so that they do not block checkpoints.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"
#include "sqlite/database.h"

namespace shepherd {

// Threads: any.
class ReadPool {
 public:
  // Opens all connections immediately.
  static Result<std::unique_ptr<ReadPool>> open(const std::string& path, std::size_t connections,
                                                std::chrono::milliseconds busy_wait);

  // A connection that returns to the pool at the end of its scope.
  class Lease {
   public:
    Lease(ReadPool& pool, std::unique_ptr<Database> database) : pool_(pool), database_(std::move(database)) {}
    ~Lease() { pool_.give_back(std::move(database_)); }
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    Database* operator->() { return database_.get(); }
    Database& operator*() { return *database_; }

   private:
    ReadPool& pool_;
    std::unique_ptr<Database> database_;
  };
  Lease lease() EXCLUDES(mutex_);  // waits for a free connection

 private:
  ReadPool() = default;
  void give_back(std::unique_ptr<Database> database) EXCLUDES(mutex_);

  Mutex mutex_;
  CondVar freed_;
  std::vector<std::unique_ptr<Database>> free_ GUARDED_BY(mutex_);
};

// A read transaction: all its statements see the same commit.
class Snapshot {
 public:
  explicit Snapshot(Database& database) : database_(database) {}
  Result<void> begin() { return database_.use("BEGIN").run(); }
  ~Snapshot() {
    if (database_.in_transaction()) (void)database_.use("COMMIT").run();
  }
  Snapshot(const Snapshot&) = delete;
  Snapshot& operator=(const Snapshot&) = delete;

 private:
  Database& database_;
};

}  // namespace shepherd
