#include "store/sqlite/sqlite_store.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <span>
#include <utility>

#include "base/assert.h"
#include "base/log.h"
#include "store/sqlite/limits.h"
#include "store/sqlite/schema.h"

namespace shepherd {

namespace {

constexpr std::size_t kWalFrameHeaderBytes = 24;
constexpr const char* kDatabaseName = "shepherd.db";

// The database file for `path`. Creates a missing file and its directory, readable by the owner only.
Result<std::string> database_file(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  fs::path file = path;
  bool directory = fs::is_directory(file, ignored) || (!fs::exists(file, ignored) && !file.has_extension());
  if (directory) file /= kDatabaseName;
  if (file.has_parent_path() && fs::create_directories(file.parent_path(), ignored)) {
    fs::permissions(file.parent_path(), fs::perms::owner_all, ignored);
  }
  int descriptor = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (descriptor < 0) {
    return fail(ErrorCode::unavailable, "io_error", "Cannot open " + file.string() + ": " + std::strerror(errno) + ".");
  }
  ::close(descriptor);
  return file.string();
}

int remember_frames(void* frames, sqlite3*, const char*, int count) {
  *static_cast<std::uint64_t*>(frames) = static_cast<std::uint64_t>(count);
  return SQLITE_OK;
}

// Rolls back a transaction that was not committed, also if the caller's operations throw.
class Rollback {
 public:
  Rollback(Database& database, WriterHeads& heads) : database_(database), heads_(heads) {}
  ~Rollback() {
    if (committed_) return;
    heads_.rollback();
    if (database_.in_transaction()) (void)database_.use("ROLLBACK").run();
  }
  Rollback(const Rollback&) = delete;
  Rollback& operator=(const Rollback&) = delete;
  void committed() { committed_ = true; }

 private:
  Database& database_;
  WriterHeads& heads_;
  bool committed_ = false;
};

}  // namespace

Result<std::unique_ptr<SqliteStore>> SqliteStore::open(const std::string& path, SqliteOptions options) {
  auto file = database_file(path);
  if (!file) return fail(std::move(file.error()));
  auto lock = FileLock::take(*file + ".lock");
  if (!lock) return fail(std::move(lock.error()));
  auto writer = Database::open(*file, OpenMode::create, options.busy_wait);
  if (!writer) return fail(std::move(writer.error()));
  if (auto done = migrate(**writer, options.page_bytes); !done) return fail(std::move(done.error()));
  auto done = configure_writer(**writer, kWriterCacheBytes, options.wal.soft_bytes * 2);
  if (!done) return fail(std::move(done.error()));
  std::unique_ptr<SqliteStore> store(new SqliteStore(*file, options, std::move(*lock), std::move(*writer)));
  if (auto started = store->start(); !started) return fail(std::move(started.error()));
  return store;
}

SqliteStore::SqliteStore(std::string path, const SqliteOptions& options, FileLock lock,
                         std::unique_ptr<Database> writer)
    : path_(std::move(path)),
      options_(options),
      lock_(std::move(lock)),
      writer_(std::move(writer)),
      writer_heads_(*writer_, committed_) {}

SqliteStore::~SqliteStore() {
  {
    MutexLock lock(house_);
    stopping_ = true;
    house_work_.notify_all();
  }
  if (housekeeper_.joinable()) housekeeper_.join();
  if (!wal_) return;  // opening failed
  // The next start folds again what cannot be written now.
  if (auto flushed = flush(); !flushed) log_warn("closing {}: {}", path_, flushed.error().message);
}

Result<void> SqliteStore::start() {
  MutexLock lock(writing_);
  sqlite3_wal_hook(writer_->handle(), remember_frames, &log_frames_);
  auto page_bytes = one_number(*writer_, "PRAGMA page_size");
  if (!page_bytes) return fail(std::move(page_bytes.error()));
  auto readers = ReadPool::open(path_, options_.read_connections, options_.busy_wait);
  if (!readers) return fail(std::move(readers.error()));
  readers_ = std::move(*readers);
  auto keeper = Database::open(path_, OpenMode::read_write, options_.busy_wait);
  if (!keeper) return fail(std::move(keeper.error()));
  // A connection that has never read does not notice the write-ahead log and would not copy it.
  if (auto read = one_number(**keeper, "SELECT count(*) FROM meta"); !read) return fail(std::move(read.error()));
  wal_ = std::make_unique<WalKeeper>(std::move(*keeper), options_.wal,
                                     static_cast<std::size_t>(*page_bytes) + kWalFrameHeaderBytes);
  if (auto done = load_counters(); !done) return done;
  if (auto done = load_unprojected(); !done) return done;
  last_write_ = std::chrono::steady_clock::now();
  if (options_.housekeeping) housekeeper_ = std::thread([this] { keep_house(); });
  return {};
}

Result<void> SqliteStore::load_counters() {
  std::map<std::string, std::uint64_t> meta;
  auto row = writer_->use("SELECT name, value FROM meta");
  for (;;) {
    auto found = row.step();
    if (!found) return fail(std::move(found.error()));
    if (!*found) break;
    meta[row.text(0)] = row.number(1);
  }
  auto newest = one_number(*writer_, "SELECT max(position) FROM run");
  if (!newest) return fail(std::move(newest.error()));
  counters_.position = std::max(meta["position"], static_cast<std::uint64_t>(*newest));
  auto change = one_number(*writer_, "SELECT max(number) FROM change");
  if (!change) return fail(std::move(change.error()));
  counters_.change = static_cast<std::uint64_t>(*change);
  counters_.events = meta["events"];
  counters_.detail_bytes = meta["detail_bytes"];
  auto since = writer_->use("SELECT sum(count) FROM run WHERE position > ?", meta["projected_through"]);
  auto found = since.step();
  if (!found) return fail(std::move(found.error()));
  counters_.unprojected = since.number(0);
  counters_.events += counters_.unprojected;
  return {};
}

Result<void> SqliteStore::load_unprojected() {
  auto unplaced = unplaced_batches(*writer_);
  if (!unplaced) return fail(std::move(unplaced.error()));
  std::vector<std::string> tasks;
  for (auto& [key, batches] : *unplaced) {
    auto row = writer_->use("SELECT id FROM task WHERE key = ?", key);
    auto found = row.step();
    if (!found) return fail(std::move(found.error()));
    if (!*found) continue;  // `doctor` reports such batches
    tasks.push_back(row.text(0));
    committed_.load_unplaced(tasks.back(), std::move(batches));
  }
  {
    auto row = writer_->use(
        "SELECT DISTINCT task.id FROM run JOIN task ON task.key = run.task"
        " WHERE run.position > (SELECT value FROM meta WHERE name = 'projected_through')");
    for (;;) {
      auto found = row.step();
      if (!found) return fail(std::move(found.error()));
      if (!*found) break;
      tasks.push_back(row.text(0));
    }
  }
  writer_heads_.begin();
  std::vector<CommittedHeads::Change> heads;
  for (const std::string& task : tasks) {
    auto head = writer_heads_.find(task);
    if (!head) return fail(std::move(head.error()));
    if (!*head) continue;
    heads.push_back({&(*head)->id, (*head)->key, std::make_shared<TaskRow>((*head)->row())});
    (*head)->unplaced_before = 0;  // counts them as unplaced from now on
  }
  committed_.commit(heads, counters_);
  writer_heads_.commit();
  if (tasks.empty()) return {};
  // This only speeds up the next start, so a full disk must not make the store unreadable.
  auto flushed = transact([](WriteTxn&) {}, Flush::everything);
  if (!flushed) log_warn("projections of {} not written: {}", path_, flushed.error().message);
  return {};
}

Result<Commit> SqliteStore::write(const std::function<void(WriteTxn&)>& operations) {
  MutexLock lock(writing_);
  auto commit = transact(operations, Flush::no);
  if (commit) after_commit();
  return commit;
}

Result<void> SqliteStore::flush() {
  MutexLock lock(writing_);
  if (nothing_to_flush()) return {};
  auto commit = transact([](WriteTxn&) {}, Flush::everything);
  if (!commit) return fail(std::move(commit.error()));
  after_commit();
  return {};
}

Result<Commit> SqliteStore::transact(const std::function<void(WriteTxn&)>& operations, Flush flush) {
  SHEPHERD_ASSERT(!writer_->in_transaction(), "a transaction ends before the next begins");
  if (auto begun = writer_->use("BEGIN IMMEDIATE").run(); !begun) return fail(std::move(begun.error()));
  writer_heads_.begin();
  Rollback rollback(*writer_, writer_heads_);
  SqliteTxn txn(*writer_, writer_heads_, details_, counters_);
  operations(txn);
  if (writer_heads_.size() > options_.head_cache_tasks) {
    flush = Flush::everything;
  } else if (flush == Flush::no && txn.counters().unprojected >= options_.project_every) {
    flush = Flush::projections;
  }
  if (auto done = txn.finish(flush, options_.unplaced_batches); !done) return fail(std::move(done.error()));
  if (auto done = writer_->use("COMMIT").run(); !done) return fail(std::move(done.error()));
  SHEPHERD_ASSERT(txn.counters().position >= counters_.position, "positions are never given twice");
  rollback.committed();
  counters_ = txn.counters();
  vacuum_due_ = vacuum_due_ || txn.freed_pages();
  publish(txn, txn.commit());
  writer_heads_.commit();
  return std::move(txn.commit());
}

void SqliteStore::publish(const SqliteTxn& txn, const Commit& commit) {
  std::vector<CommittedHeads::Change> changes;
  changes.reserve(txn.deleted().size() + writer_heads_.changed().size());
  for (const std::string& task : txn.deleted()) changes.push_back({&task, 0, nullptr});
  auto told = commit.rows.begin();  // in the order of the changed heads
  for (const WriterHead* head : writer_heads_.changed()) {
    std::span<const BatchPlace> unplaced = head->unplaced;
    if (!head->placed) unplaced = unplaced.subspan(head->unplaced_before);
    RowPtr row = writer_heads_.told(*head) ? *told++ : std::make_shared<TaskRow>(head->row());
    changes.push_back({&head->id, head->key, std::move(row), head->placed, unplaced});
  }
  committed_.commit(changes, counters_);
}

bool SqliteStore::nothing_to_flush() const {
  return counters_.unprojected == 0 && writer_heads_.unplaced() == 0;
}

void SqliteStore::after_commit() {
  if (writer_heads_.size() > options_.head_cache_tasks) {
    committed_.forget(writer_heads_.evict(options_.head_cache_tasks));
  }
  last_write_ = std::chrono::steady_clock::now();
  wal_->finish(*writer_, wal_->committed(log_frames_));
  if (!wal_->due() && !vacuum_due_) return;
  MutexLock lock(house_);
  house_called_ = true;
  house_work_.notify_one();
}

bool SqliteStore::housekeep() {
  bool more = false;
  if (wal_->due()) {
    wal_->pass();
    more = wal_->due();
  }
  MutexLock lock(writing_);
  if (vacuum_due_) vacuum_due_ = vacuum_step();
  bool idle = std::chrono::steady_clock::now() - last_write_ >= kIdleProject;
  if (idle && !nothing_to_flush()) {
    auto flushed = transact([](WriteTxn&) {}, Flush::everything);
    if (!flushed) log_warn("projections of {} not written: {}", path_, flushed.error().message);
    last_write_ = std::chrono::steady_clock::now();
  }
  return more || vacuum_due_;
}

bool SqliteStore::vacuum_step() {
  // The next events reuse free pages; only pages that stay unused are returned to the file system.
  auto pages = one_number(*writer_, "PRAGMA page_count");
  auto unused = one_number(*writer_, "PRAGMA freelist_count");
  if (!pages || !unused || *unused < kVacuumPages || *unused < *pages / 4) return false;
  auto done = writer_->execute("PRAGMA incremental_vacuum(" + std::to_string(kVacuumPages) + ")");
  if (!done) log_warn("{}", done.error().message);
  if (done) wal_->finish(*writer_, wal_->committed(log_frames_));
  return done.has_value();
}

void SqliteStore::keep_house() {
  for (;;) {
    {
      MutexLock lock(house_);
      if (!stopping_ && !house_called_) house_work_.wait_for(house_, kIdleProject);
      if (stopping_) return;
      house_called_ = false;
    }
    if (housekeep()) {
      MutexLock lock(house_);
      house_called_ = true;
    }
  }
}

}  // namespace shepherd
