// The fleet's store: one PostgreSQL database for any number of processes. A row is a batch of events, as in SQLite
// (schema.cpp). Every process may write to every task: a transaction locks the rows of its tasks, and takes the counter
// of positions last, so that positions have no hole and grow in the order of the commits (postgres_txn.h).
//
// A transaction that met another one's (a lock that took too long, a deadlock, a row added first) is rolled back and
// its operations run again. A broken connection is opened again by the next write or read.
//
// Failures: as EventStore, with unavailable/database_unreachable while the server cannot be reached (after a commit it
// is not known whether it happened) and unavailable/conflicting_write after kPostgresAttempts.
#pragma once

#include <memory>
#include <string>

#include "base/mutex.h"
#include "base/random.h"
#include "postgres/connection.h"
#include "store/detail_codec.h"
#include "store/event_store.h"
#include "store/postgres/head_cache.h"
#include "store/postgres/pool.h"

namespace shepherd {

// Threads: as EventStore, but write() may be called from several threads and serialises them.
class PostgresStore final : public EventStore {
 public:
  // Connects, and creates or migrates the tables. `url` as for PostgresConnection.
  static Result<std::unique_ptr<PostgresStore>> open(const std::string& url);

  Result<Commit> write(const std::function<void(WriteTxn&)>& operations) override EXCLUDES(writing_);

  Result<Page> read(const std::string& task, std::uint64_t after, ReadLimit limit) const override;
  Result<Page> read_before(const std::string& task, std::uint64_t before, ReadLimit limit) const override;
  Result<Page> read_all(std::uint64_t after, ReadLimit limit) const override;
  Result<std::map<std::string, std::uint64_t>> heads(const std::vector<std::string>& tasks) const override;
  Result<ChangePage> changes(Place after, ReadLimit limit) const override;
  Result<Place> newest_place() const override;
  Result<Task> task(const std::string& id) const override;
  Result<TaskRow> row(const std::string& id) const override;
  Result<std::vector<TaskRow>> rows(const TaskFilter& filter) const override;
  Result<std::string> detail(const std::string& task, std::uint64_t sequence) const override;
  Result<std::optional<Checkpoint>> checkpoint(const std::string& task, std::uint64_t at) const override;
  Result<std::map<std::string, std::string>> records(const std::string& kind) const override;
  Result<std::string> record(const std::string& kind, const std::string& key) const override;
  Result<std::vector<Lease>> leases(LeaseKind kind) const override;
  Result<std::vector<Lease>> leases(LeaseKind kind, const std::string& name) const override;
  Result<std::vector<BatchInfo>> oldest_batches(std::size_t limit) const override;
  Result<StoreStats> stats() const override;

 private:
  explicit PostgresStore(std::string url);
  Result<Place> begin() REQUIRES(writing_);
  Result<Commit> attempt(const std::function<void(WriteTxn&)>& operations) REQUIRES(writing_);

  const std::string url_;
  // Held through a whole transaction, including the caller's operations, so that transactions are serialised.
  mutable Mutex writing_;
  std::unique_ptr<PostgresConnection> writer_ GUARDED_BY(writing_);  // nullptr: to be opened
  HeadCache heads_ GUARDED_BY(writing_);
  SystemRandom random_ GUARDED_BY(writing_);
  DetailCodec details_;
  mutable PostgresPool readers_;
};

}  // namespace shepherd
