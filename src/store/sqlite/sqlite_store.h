// The embedded store: one SQLite database, write-ahead log, synchronous=FULL, one writer, a few readers.
//
// A row is a batch of events (schema.cpp). A task's projection is written when its state changes. Other progress stays
// in memory and is written every project_every events or after a second without writes; after a crash it is folded
// again from the log. The places of its batches are handled the same way (batch_rows.h). Readers look at the committed
// heads in memory first, so they see every commit. A lock file beside the database allows one process at a time.
//
// Failures: as EventStore; open() also internal/newer_schema and unavailable/database_locked.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/limits.h"
#include "base/mutex.h"
#include "sqlite/database.h"
#include "store/detail_codec.h"
#include "store/event_store.h"
#include "store/sqlite/committed_heads.h"
#include "store/sqlite/file_lock.h"
#include "store/sqlite/limits.h"
#include "store/sqlite/read_pool.h"
#include "store/sqlite/sqlite_txn.h"
#include "store/sqlite/wal_keeper.h"
#include "store/sqlite/writer_heads.h"

namespace shepherd {

struct SqliteOptions {
  std::chrono::milliseconds busy_wait = kBusyWait;
  int page_bytes = kSqlitePageBytes;  // for a new file
  std::size_t project_every = kProjectEvery;
  std::size_t head_cache_tasks = kHeadCacheTasks;
  std::size_t unplaced_batches = kMaxUnplacedBatches;
  std::size_t read_connections = kReadConnections;
  WalLimits wal{kWalSoftBytes, kWalHardBytes, kWalRestBytes};
  // Runs checkpoints, idle projections and vacuum on a separate thread. If false, only housekeep() runs them.
  bool housekeeping = true;
};

// Threads: as EventStore, but write() may be called from several threads and serialises them.
class SqliteStore final : public EventStore {
 public:
  // `path` is the database file, or a directory that has or gets shepherd.db. Missing ones are created, readable by the
  // owner only.
  static Result<std::unique_ptr<SqliteStore>> open(const std::string& path, SqliteOptions options = {});
  ~SqliteStore() override;

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

  // Writes all projections and places that are not on disk yet.
  Result<void> flush() EXCLUDES(writing_);
  // Runs one round of the housekeeping thread's work. Returns true if there is more to do immediately.
  bool housekeep() EXCLUDES(writing_);

  const std::string& path() const { return path_; }

 private:
  SqliteStore(std::string path, const SqliteOptions& options, FileLock lock, std::unique_ptr<Database> writer);

  Result<void> start() EXCLUDES(writing_);
  Result<void> load_counters() REQUIRES(writing_);
  Result<void> load_unprojected() REQUIRES(writing_);
  Result<Commit> transact(const std::function<void(WriteTxn&)>& operations, Flush flush) REQUIRES(writing_);
  bool nothing_to_flush() const REQUIRES(writing_);
  void publish(const SqliteTxn& txn, const Commit& commit) REQUIRES(writing_);
  void after_commit() REQUIRES(writing_);
  bool vacuum_step() REQUIRES(writing_);
  void keep_house() EXCLUDES(house_);

  Result<std::vector<BatchPtr>> read_batches(Database& database, std::uint64_t after, std::uint64_t through,
                                             ReadLimit limit) const;
  Result<LogBounds> stored_bounds(Database& database, const std::string& task) const;

  std::string path_;
  SqliteOptions options_;
  FileLock lock_;
  // Held through a whole transaction, including the caller's operations, so that transactions are serialised.
  mutable Mutex writing_;
  std::unique_ptr<Database> writer_ GUARDED_BY(writing_);
  CommittedHeads committed_;
  WriterHeads writer_heads_ GUARDED_BY(writing_);
  DetailCodec details_;
  WriterCounters counters_ GUARDED_BY(writing_);
  std::uint64_t log_frames_ GUARDED_BY(writing_) = 0;
  bool vacuum_due_ GUARDED_BY(writing_) = false;
  std::chrono::steady_clock::time_point last_write_ GUARDED_BY(writing_);
  std::unique_ptr<ReadPool> readers_;
  std::unique_ptr<WalKeeper> wal_;

  Mutex house_;
  CondVar house_work_;
  bool house_called_ GUARDED_BY(house_) = false;
  bool stopping_ GUARDED_BY(house_) = false;
  std::thread housekeeper_;
};

}  // namespace shepherd
