#include "store/search_sqlite/sqlite_search_index.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <functional>
#include <limits>
#include <memory>
#include <utility>

#include "base/descriptor.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/mutex.h"
#include "sqlite/database.h"
#include "store/search_sqlite/query.h"

namespace shepherd {
namespace {

// Change it with the schema, the tokenizer or model's searchable_text(). Older files are then rebuilt.
constexpr std::int64_t kFormat = 1;

constexpr const char* kSchema =
    "BEGIN;"
    "CREATE TABLE progress(through INTEGER NOT NULL);"
    "INSERT INTO progress VALUES(0);"
    "CREATE VIRTUAL TABLE entries USING fts5(text, content='', tokenize='unicode61 remove_diacritics 2');"
    "PRAGMA user_version=1;"  // kFormat
    "COMMIT";

constexpr const char* kAdd = "INSERT INTO entries(rowid, text) VALUES(?1, ?2)";
constexpr const char* kRemove = "INSERT INTO entries(entries, rowid, text) VALUES('delete', ?1, ?2)";
constexpr const char* kKnown = "SELECT 1 FROM entries_docsize WHERE id = ?1";
constexpr const char* kMove = "UPDATE progress SET through = ?1";
constexpr const char* kFind =
    "SELECT rowid FROM entries WHERE entries MATCH ?1 AND rowid < ?2 ORDER BY rowid DESC LIMIT ?3";

// Searches use connections of their own; WAL lets them read while the writer works.
struct Reader {
  std::unique_ptr<Database> database;
  std::uint64_t generation = 0;  // generation of the file that it has open
};

constexpr std::string_view kNotOurs = "search_index_corrupt";

// Whether the file must be deleted because it is damaged, not a database, or of another format.
bool must_go(const Error& error) {
  return error.reason == kNotOurs || error.reason == "corrupt";
}

Result<std::unique_ptr<Database>> open_to_write(const std::string& path) {
  // SQLite would create it readable by everyone; its WAL inherits the mode from here.
  Descriptor made(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, S_IRUSR | S_IWUSR));
  made.reset();
  auto database = Database::open(path, OpenMode::create, kBusyWait);
  if (!database) return database;
  auto set = (*database)->execute(
      "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA journal_size_limit=16777216;"
      "PRAGMA cache_size=-8192; PRAGMA temp_store=MEMORY;");
  if (!set) return fail(std::move(set.error()));
  return database;
}

Result<std::unique_ptr<Database>> open_to_read(const std::string& path) {
  // A read-only connection could not recover a WAL.
  auto database = Database::open(path, OpenMode::read_write, kBusyWait);
  if (!database) return database;
  auto set = (*database)->execute("PRAGMA query_only=1; PRAGMA cache_size=-2048;");
  if (!set) return fail(std::move(set.error()));
  return database;
}

class SqliteSearchIndex final : public SearchIndex {
 public:
  explicit SqliteSearchIndex(std::string path) : path_(std::move(path)) {}

  Result<void> open(std::uint64_t store_head) {
    auto opened = open_writer();
    if (!opened) {
      // Deleting the file only helps if it is damaged. Other errors (no such directory, no permission) would remain.
      if (!must_go(opened.error())) return opened;
      return start_over(opened.error().message);
    }
    if (through_ > store_head) return start_over("it is ahead of the store");
    return {};
  }

  Result<void> add(const std::vector<SearchEntry>& entries, std::uint64_t through) override {
    if (damaged_) {
      if (auto fresh = start_over("it is damaged or gone"); !fresh) return fresh;
      return fail(ErrorCode::unavailable, "search_index_started_over", "the search index starts over from zero");
    }
    auto added = transaction([&]() -> Result<void> {
      for (const auto& entry : entries) {
        if (entry.position <= through_ || entry.text.empty()) continue;
        if (auto done = writer_->use(kAdd, entry.position, entry.text).run(); !done) return done;
      }
      return writer_->use(kMove, through).run();
    });
    if (added) through_ = through;
    return added;
  }

  Result<void> remove(const std::vector<SearchEntry>& entries) override {
    if (damaged_) return start_over("it is damaged or gone");
    return transaction([&]() -> Result<void> {
      for (const auto& entry : entries) {
        // Deleting a missing entry would corrupt the counts of a contentless table.
        auto known = writer_->use(kKnown, entry.position).step();
        if (!known) return fail(std::move(known.error()));
        if (!*known) continue;
        if (auto done = writer_->use(kRemove, entry.position, entry.text).run(); !done) return done;
      }
      return {};
    });
  }

  Result<void> purge() override {
    if (damaged_) return start_over("it is corrupt");
    // Removed words stay in older segments until those are merged, in free pages until they are reused, and in the
    // write-ahead log until it is truncated.
    auto purged = writer_->execute("INSERT INTO entries(entries) VALUES('optimize')");
    if (purged) purged = writer_->execute("VACUUM");
    if (purged) purged = writer_->execute("PRAGMA wal_checkpoint(TRUNCATE)");
    if (!purged && must_go(purged.error())) mark_damaged();
    return purged;
  }

  Result<std::uint64_t> indexed_through() const override { return through_.load(); }

  Result<std::vector<std::uint64_t>> search(std::string_view query, std::uint64_t before,
                                            std::size_t limit) const override EXCLUDES(mutex_) {
    if (query.size() > kMaxQueryBytes) {
      return fail(ErrorCode::invalid_argument, "query_too_long",
                  "a query has at most " + std::to_string(kMaxQueryBytes) + " bytes");
    }
    if (query.find_first_not_of(" \t\r\n") == std::string_view::npos) {
      return fail(ErrorCode::invalid_argument, "empty_query", "say what to look for");
    }
    std::string expression = search::fts_expression(query);
    if (expression.empty()) return std::vector<std::uint64_t>{};
    // An operator may delete the file while it is in use; that asks for a rebuild.
    if (::access(path_.c_str(), F_OK) != 0 && errno == ENOENT) {
      mark_damaged();
      return fail(ErrorCode::unavailable, "search_index_missing",
                  "the search index was deleted; it is built again with the next event that is stored");
    }
    auto reader = take_reader();
    if (!reader) return fail(reader.error());
    auto found = find(*reader->database, expression, before, std::min(limit, kMaxSearchResults));
    if (found) {
      give_back(std::move(*reader));
    } else if (must_go(found.error())) {
      mark_damaged();
    }
    return found;
  }

 private:
  static Result<std::vector<std::uint64_t>> find(Database& database, const std::string& expression,
                                                 std::uint64_t before, std::size_t limit) {
    // SQLite's integers are signed.
    constexpr std::uint64_t kLast = std::numeric_limits<std::int64_t>::max();
    auto statement = database.use(kFind, expression, before == 0 ? kLast : std::min(before, kLast), limit);
    std::vector<std::uint64_t> positions;
    auto row = statement.step();
    for (; row && *row; row = statement.step()) positions.push_back(statement.number(0));
    if (!row) return fail(std::move(row.error()));
    return positions;
  }

  Result<void> transaction(const std::function<Result<void>()>& work) {
    auto done = writer_->execute("BEGIN IMMEDIATE");
    if (done) done = work();
    if (done) done = writer_->execute("COMMIT");
    if (done) return done;
    if (writer_->in_transaction()) {
      if (auto undone = writer_->execute("ROLLBACK"); !undone) log_warn("{}", undone.error().message);
    }
    if (must_go(done.error())) mark_damaged();
    return done;
  }

  void mark_damaged() const {
    if (!damaged_.exchange(true)) log_error("{} is damaged or gone; it will be built again", path_);
  }

  Result<void> open_writer() {
    auto database = open_to_write(path_);
    if (!database) return fail(std::move(database.error()));
    writer_ = std::move(*database);
    auto format = one_number(*writer_, "PRAGMA user_version");
    if (!format) return fail(std::move(format.error()));
    auto tables = one_number(*writer_, "SELECT count(*) FROM sqlite_schema");
    if (!tables) return fail(std::move(tables.error()));
    if (*format == 0 && *tables == 0) {
      if (auto made = writer_->execute(kSchema); !made) return made;
    } else if (*format != kFormat) {
      return fail(ErrorCode::internal, std::string(kNotOurs), "it has format " + std::to_string(*format));
    }
    return prepare();
  }

  Result<void> prepare() {
    for (const char* sql : {kAdd, kRemove, kKnown, kMove}) {
      // Tables of this format are missing, so it is not our file.
      if (auto there = writer_->use(sql).prepared(); !there) {
        return fail(ErrorCode::internal, std::string(kNotOurs), there.error().message);
      }
    }
    auto through = one_number(*writer_, "SELECT through FROM progress");
    if (!through) return fail(std::move(through.error()));
    through_ = static_cast<std::uint64_t>(*through);
    return {};
  }

  // Running searches continue to read the old file, which is already unlinked.
  Result<void> start_over(const std::string& why) EXCLUDES(mutex_) {
    log_warn("the search index {} starts over from zero: {}", path_, why);
    writer_.reset();
    for (const char* suffix : {"", "-wal", "-shm"}) {
      std::string file = path_ + suffix;
      if (::unlink(file.c_str()) != 0 && errno != ENOENT) {
        return fail(ErrorCode::unavailable, "search_index", "cannot remove " + file);
      }
    }
    {
      MutexLock lock(mutex_);
      ++generation_;
      idle_.clear();
    }
    through_ = 0;
    auto opened = open_writer();
    damaged_ = !opened.has_value();
    return opened;
  }

  Result<Reader> take_reader() const EXCLUDES(mutex_) {
    std::uint64_t generation = 0;
    {
      MutexLock lock(mutex_);
      if (!idle_.empty()) {
        Reader reader = std::move(idle_.back());
        idle_.pop_back();
        return reader;
      }
      generation = generation_;
    }
    auto database = open_to_read(path_);
    if (!database) return fail(std::move(database.error()));
    return Reader{std::move(*database), generation};
  }

  void give_back(Reader reader) const EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    if (reader.generation == generation_ && idle_.size() < kReadConnections) idle_.push_back(std::move(reader));
  }

  const std::string path_;
  std::unique_ptr<Database> writer_;
  std::atomic<std::uint64_t> through_{0};
  mutable std::atomic<bool> damaged_{false};
  mutable Mutex mutex_;
  mutable std::vector<Reader> idle_ GUARDED_BY(mutex_);
  std::uint64_t generation_ GUARDED_BY(mutex_) = 0;
};

}  // namespace

Result<std::unique_ptr<SearchIndex>> open_sqlite_search_index(const std::string& path, std::uint64_t store_head) {
  auto index = std::make_unique<SqliteSearchIndex>(path);
  if (auto opened = index->open(store_head); !opened) return fail(opened.error());
  return index;
}

}  // namespace shepherd
