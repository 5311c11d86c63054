#include "store/search_sqlite/sqlite_search_index.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <functional>
#include <limits>
#include <optional>
#include <utility>

#include "base/limits.h"
#include "base/log.h"
#include "base/mutex.h"
#include "store/search_sqlite/database.h"
#include "store/search_sqlite/query.h"

namespace shepherd {
namespace {

using search::Database;
using search::is_corrupt;
using search::Statement;

// Change it with the schema, the tokenizer or model's searchable_text(): older files are then built again.
constexpr std::uint64_t kFormat = 1;

constexpr const char* kSchema =
    "BEGIN;"
    "CREATE TABLE progress(through INTEGER NOT NULL);"
    "INSERT INTO progress VALUES(0);"
    "CREATE VIRTUAL TABLE entries USING fts5(text, content='', tokenize='unicode61 remove_diacritics 2');"
    "PRAGMA user_version=1;"  // kFormat
    "COMMIT";

// Searches run on connections of their own; WAL lets them read beside the one writer.
struct Reader {
  Database database;
  Statement find;
  std::uint64_t generation = 0;  // of the file it has open
};

class SqliteSearchIndex final : public SearchIndex {
 public:
  explicit SqliteSearchIndex(std::string path) : path_(std::move(path)) {}

  Result<void> open(std::uint64_t store_head) {
    auto opened = open_writer();
    if (!opened) {
      // Anything but a damaged file (no such directory, no permission) would not go away with the file.
      if (!is_corrupt(opened.error())) return opened;
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
        add_->bind(1, entry.position);
        add_->bind(2, entry.text);
        if (auto done = run(*add_); !done) return done;
      }
      move_->bind(1, through);
      return run(*move_);
    });
    if (added) through_ = through;
    return added;
  }

  Result<void> remove(const std::vector<SearchEntry>& entries) override {
    if (damaged_) return start_over("it is damaged or gone");
    return transaction([&]() -> Result<void> {
      for (const auto& entry : entries) {
        // Deleting what is not there would corrupt a contentless table's counts.
        known_->bind(1, entry.position);
        auto known = known_->step();
        known_->reset();
        if (!known) return fail(known.error());
        if (!*known) continue;
        remove_->bind(1, entry.position);
        remove_->bind(2, entry.text);
        if (auto done = run(*remove_); !done) return done;
      }
      return {};
    });
  }

  Result<void> purge() override {
    if (damaged_) return start_over("it is corrupt");
    // Removed words stay in older segments until those are merged, their pages until they are used again, and both in
    // the write-ahead log until it is cut.
    auto purged = writer_->run("INSERT INTO entries(entries) VALUES('optimize')");
    if (purged) purged = writer_->run("VACUUM");
    if (purged) purged = writer_->run("PRAGMA wal_checkpoint(TRUNCATE)");
    if (!purged && is_corrupt(purged.error())) mark_damaged();
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
    // Whoever deletes the file while it is in use means it to be built again.
    if (::access(path_.c_str(), F_OK) != 0 && errno == ENOENT) {
      mark_damaged();
      return fail(ErrorCode::unavailable, "search_index_missing",
                  "the search index was deleted; it is built again with the next event that is stored");
    }
    auto reader = take_reader();
    if (!reader) return fail(reader.error());
    auto found = find(reader->find, expression, before, std::min(limit, kMaxSearchResults));
    if (found) {
      give_back(std::move(*reader));
    } else if (is_corrupt(found.error())) {
      mark_damaged();
    }
    return found;
  }

 private:
  static Result<void> run(Statement& statement) {
    auto done = statement.step();
    statement.reset();
    if (!done) return fail(done.error());
    return {};
  }

  static Result<std::vector<std::uint64_t>> find(Statement& statement, const std::string& expression,
                                                 std::uint64_t before, std::size_t limit) {
    statement.bind(1, expression);
    statement.bind(2, before == 0 ? std::numeric_limits<std::uint64_t>::max() : before);
    statement.bind(3, limit);
    std::vector<std::uint64_t> positions;
    auto row = statement.step();
    for (; row && *row; row = statement.step()) positions.push_back(statement.number(0));
    statement.reset();
    if (!row) return fail(row.error());
    return positions;
  }

  Result<void> transaction(const std::function<Result<void>()>& work) {
    auto done = writer_->run("BEGIN IMMEDIATE");
    if (done) done = work();
    if (done) done = writer_->run("COMMIT");
    if (done) return done;
    if (writer_->in_transaction()) {
      if (auto undone = writer_->run("ROLLBACK"); !undone) log_warn("{}", undone.error().message);
    }
    if (is_corrupt(done.error())) mark_damaged();
    return done;
  }

  void mark_damaged() const {
    if (!damaged_.exchange(true)) log_error("{} is damaged or gone; it will be built again", path_);
  }

  Result<void> open_writer() {
    auto database = Database::open(path_);
    if (!database) return fail(database.error());
    writer_ = std::move(*database);
    auto format = writer_->number("PRAGMA user_version");
    if (!format) return fail(format.error());
    auto tables = writer_->number("SELECT count(*) FROM sqlite_schema");
    if (!tables) return fail(tables.error());
    if (*format == 0 && *tables == 0) {
      if (auto made = writer_->run(kSchema); !made) return made;
    } else if (*format != kFormat) {
      return fail(ErrorCode::internal, "search_index_corrupt", "it has format " + std::to_string(*format));
    }
    return prepare();
  }

  Result<void> prepare() {
    for (auto [statement, sql] : {std::pair{&add_, "INSERT INTO entries(rowid, text) VALUES(?1, ?2)"},
                                  {&remove_, "INSERT INTO entries(entries, rowid, text) VALUES('delete', ?1, ?2)"},
                                  {&known_, "SELECT 1 FROM entries_docsize WHERE id = ?1"},
                                  {&move_, "UPDATE progress SET through = ?1"}}) {
      auto prepared = writer_->prepare(sql);
      // Tables that this format has are missing: not our file.
      if (!prepared) return fail(ErrorCode::internal, "search_index_corrupt", prepared.error().message);
      *statement = std::move(*prepared);
    }
    auto through = writer_->number("SELECT through FROM progress");
    if (!through) return fail(through.error());
    through_ = *through;
    return {};
  }

  // Searches under way go on reading the old file, which has no name any more.
  Result<void> start_over(const std::string& why) EXCLUDES(mutex_) {
    log_warn("the search index {} starts over from zero: {}", path_, why);
    for (auto* statement : {&add_, &remove_, &known_, &move_}) statement->reset();
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
    auto database = Database::open_to_read(path_);
    if (!database) return fail(database.error());
    auto find = database->prepare(
        "SELECT rowid FROM entries WHERE entries MATCH ?1 AND rowid < ?2 ORDER BY rowid DESC LIMIT ?3");
    if (!find) return fail(find.error());
    return Reader{std::move(*database), std::move(*find), generation};
  }

  void give_back(Reader reader) const EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    if (reader.generation == generation_ && idle_.size() < kReadConnections) idle_.push_back(std::move(reader));
  }

  const std::string path_;
  std::optional<Database> writer_;  // before its statements, so that it goes after them
  std::optional<Statement> add_, remove_, known_, move_;
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
