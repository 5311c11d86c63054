#include "store/sqlite/sqlite_ledger.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "base/limits.h"
#include "base/log.h"
#include "store/sqlite/database.h"
#include "store/sqlite/read_pool.h"

namespace shepherd {
namespace {

constexpr std::int64_t kFormat = 1;
// Kept twice, so that a year is quick to add up: by minute, and by the quarter of an hour, at which the day begins in
// every time zone.
constexpr std::array<std::int64_t, 2> kUnits{60, kLedgerCoarseSeconds};
constexpr std::size_t kReaders = 2;

constexpr const char* kSchema = R"sql(
BEGIN;
CREATE TABLE progress(through INTEGER NOT NULL);
INSERT INTO progress VALUES(0);
-- at: the first second of a minute (unit 60) or of a quarter of an hour (unit 900)
CREATE TABLE amount(
  unit INTEGER NOT NULL, at INTEGER NOT NULL, agent TEXT NOT NULL, model TEXT NOT NULL,
  nano_usd INTEGER NOT NULL, input INTEGER NOT NULL, output INTEGER NOT NULL,
  cache_read INTEGER NOT NULL, cache_write INTEGER NOT NULL,
  events INTEGER NOT NULL, errors INTEGER NOT NULL, tool_calls INTEGER NOT NULL, failed INTEGER NOT NULL,
  PRIMARY KEY(unit, at, agent, model)) WITHOUT ROWID;
CREATE TABLE tool(
  unit INTEGER NOT NULL, at INTEGER NOT NULL, name TEXT NOT NULL, calls INTEGER NOT NULL, failures INTEGER NOT NULL,
  PRIMARY KEY(unit, at, name)) WITHOUT ROWID;
CREATE TABLE tool_time(
  unit INTEGER NOT NULL, at INTEGER NOT NULL, name TEXT NOT NULL, class INTEGER NOT NULL, count INTEGER NOT NULL,
  PRIMARY KEY(unit, at, name, class)) WITHOUT ROWID;
CREATE TABLE span(
  task TEXT PRIMARY KEY, agent TEXT NOT NULL, model TEXT NOT NULL, begun INTEGER NOT NULL,
  ended INTEGER NOT NULL) WITHOUT ROWID;
CREATE INDEX span_ended ON span(ended, begun);
CREATE TABLE finding(position INTEGER PRIMARY KEY, task TEXT NOT NULL, sequence INTEGER NOT NULL, severity TEXT NOT NULL);
CREATE INDEX finding_severity ON finding(severity, position);
CREATE INDEX finding_task ON finding(task, position);
CREATE TABLE state(task TEXT PRIMARY KEY, fold TEXT NOT NULL) WITHOUT ROWID;
PRAGMA user_version = 1;  -- kFormat
COMMIT;
)sql";

Result<std::int64_t> one_number(Database& database, const char* sql) {
  auto row = database.use(sql);
  auto found = row.step();
  if (!found) return fail(std::move(found.error()));
  return *found ? row.integer(0) : 0;
}

std::int64_t unit_of(const LedgerRange& range) {
  return range.from % kUnits[1] == 0 && range.step % kUnits[1] == 0 ? kUnits[1] : kUnits[0];
}

class SqliteLedger final : public Ledger {
 public:
  explicit SqliteLedger(std::string path) : path_(std::move(path)) {}

  Result<void> open(std::uint64_t store_head) {
    int made = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);  // for the owner's eyes only
    if (made < 0) {
      return fail(ErrorCode::unavailable, "io_error", "Cannot open " + path_ + ": " + std::strerror(errno) + ".");
    }
    ::close(made);
    auto writer = Database::open(path_, OpenMode::create, kBusyWait);
    if (!writer) return fail(std::move(writer.error()));
    writer_ = std::move(*writer);
    if (auto prepared = prepare(store_head); !prepared) return prepared;
    auto readers = ReadPool::open(path_, kReaders, kBusyWait);
    if (!readers) return fail(std::move(readers.error()));
    readers_ = std::move(*readers);
    return {};
  }

  Result<void> add(const LedgerBatch& batch) override {
    auto done = writer_->use("BEGIN IMMEDIATE").run();
    if (done) done = write(batch);
    if (done) done = writer_->use("COMMIT").run();
    if (!done && writer_->in_transaction()) (void)writer_->use("ROLLBACK").run();
    return done;
  }

  Result<std::uint64_t> kept_through() const override {
    auto database = readers_->lease();
    auto through = one_number(*database, "SELECT through FROM progress");
    if (!through) return fail(std::move(through.error()));
    return static_cast<std::uint64_t>(*through);
  }

  Result<std::string> state(const std::string& task) const override {
    auto database = readers_->lease();
    auto row = database->use("SELECT fold FROM state WHERE task = ?", task);
    auto found = row.step();
    if (!found) return fail(std::move(found.error()));
    return *found ? row.text(0) : std::string();
  }

  Result<Curves> amounts(const LedgerRange& range) const override {
    auto database = readers_->lease();
    auto row = database->use(
        "SELECT CASE ?1 WHEN 1 THEN agent WHEN 2 THEN model ELSE '' END AS key, (at - ?2) / ?3 AS step, sum(nano_usd),"
        " sum(input), sum(output), sum(cache_read), sum(cache_write), sum(events), sum(errors), sum(tool_calls),"
        " sum(failed) FROM amount WHERE unit = ?4 AND at >= ?2 AND at < ?5 GROUP BY key, step",
        static_cast<int>(range.by), range.from, range.step, unit_of(range), range.to);
    Curves curves;
    for (;;) {
      auto found = row.step();
      if (!found) return fail(std::move(found.error()));
      if (!*found) return curves;
      curves[{row.text(0), static_cast<std::size_t>(row.number(1))}] = {row.integer(2), row.number(3), row.number(4),
                                                                        row.number(5),  row.number(6), row.number(7),
                                                                        row.number(8),  row.number(9), row.number(10)};
    }
  }

  Result<std::map<std::string, ToolUse>> tools(const LedgerRange& range) const override {
    auto database = readers_->lease();
    Snapshot snapshot(*database);
    if (auto begun = snapshot.begin(); !begun) return fail(std::move(begun.error()));
    std::int64_t unit = unit_of(range);
    std::map<std::string, ToolUse> tools;
    auto row = database->use(
        "SELECT name, sum(calls), sum(failures) FROM tool WHERE unit = ? AND at >= ? AND at < ? GROUP BY name", unit,
        range.from, range.to);
    for (;;) {
      auto found = row.step();
      if (!found) return fail(std::move(found.error()));
      if (!*found) break;
      tools[row.text(0)] = {row.number(1), row.number(2), {}};
    }
    auto time = database->use(
        "SELECT name, class, sum(count) FROM tool_time WHERE unit = ? AND at >= ? AND at < ? GROUP BY name, class",
        unit, range.from, range.to);
    for (;;) {
      auto found = time.step();
      if (!found) return fail(std::move(found.error()));
      if (!*found) return tools;
      tools[time.text(0)].times[static_cast<int>(time.integer(1))] = time.number(2);
    }
  }

  Result<std::vector<TaskSpan>> spans(const LedgerRange& range) const override {
    auto database = readers_->lease();
    auto row = database->use(
        "SELECT task, agent, model, begun, ended FROM span"
        " WHERE (ended = 0 OR ended >= ?1) AND begun < ?2",
        range.from * 1'000, range.to * 1'000);
    std::vector<TaskSpan> spans;
    for (;;) {
      auto found = row.step();
      if (!found) return fail(std::move(found.error()));
      if (!*found) return spans;
      spans.push_back({row.text(0), {row.text(1), row.text(2)}, row.integer(3), row.integer(4)});
    }
  }

  Result<std::vector<FindingPlace>> findings(const FindingFilter& filter) const override {
    auto database = readers_->lease();
    std::string sql = "SELECT position, task, sequence, severity FROM finding WHERE (?1 = 0 OR position < ?1)";
    if (!filter.severity.empty()) sql += " AND severity = ?2";
    if (!filter.task.empty()) sql += " AND task = ?3";
    auto row = database->prepare_once(sql + " ORDER BY position DESC LIMIT ?4");
    row.bind(1, filter.before);
    if (!filter.severity.empty()) row.bind(2, std::string_view(filter.severity));
    if (!filter.task.empty()) row.bind(3, std::string_view(filter.task));
    row.bind(4, static_cast<std::uint64_t>(filter.limit));
    std::vector<FindingPlace> places;
    for (;;) {
      auto found = row.step();
      if (!found) return fail(std::move(found.error()));
      if (!*found) return places;
      places.push_back({row.number(0), row.text(1), row.number(2), row.text(3)});
    }
  }

 private:
  Result<void> prepare(std::uint64_t store_head) {
    auto format = one_number(*writer_, "PRAGMA user_version");
    if (!format) return fail(std::move(format.error()));
    auto tables = one_number(*writer_, "SELECT count(*) FROM sqlite_schema");
    if (!tables) return fail(std::move(tables.error()));
    // What is lost with a crash of the machine is read again from the store.
    auto done = writer_->execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL");
    if (done && *format == 0 && *tables == 0) done = writer_->execute(kSchema);
    if (!done) return done;
    format = one_number(*writer_, "PRAGMA user_version");
    if (!format || *format != kFormat) return fail(ErrorCode::internal, "corrupt", "it has another format");
    auto through = one_number(*writer_, "SELECT through FROM progress");
    if (!through) return fail(std::move(through.error()));
    if (static_cast<std::uint64_t>(*through) > store_head) {
      return fail(ErrorCode::internal, "corrupt", "it is ahead of the store");
    }
    return {};
  }

  Result<void> write(const LedgerBatch& batch) {
    for (std::int64_t unit : kUnits) {
      if (auto done = write_amounts(batch, unit); !done) return done;
      if (auto done = write_tools(batch, unit); !done) return done;
    }
    for (const TaskSpan& span : batch.spans) {
      auto done = writer_
                      ->use(
                          "INSERT INTO span VALUES(?, ?, ?, ?, ?) ON CONFLICT(task) DO UPDATE SET"
                          " agent = excluded.agent, model = excluded.model, ended = excluded.ended",
                          span.task, span.who.agent, span.who.model, span.begun_ms, span.ended_ms)
                      .run();
      if (!done) return done;
    }
    for (const FindingPlace& place : batch.findings) {
      auto done = writer_
                      ->use("INSERT OR REPLACE INTO finding VALUES(?, ?, ?, ?)", place.position, place.task,
                            place.sequence, place.severity)
                      .run();
      if (!done) return done;
    }
    for (const auto& [task, fold] : batch.states) {
      auto done = fold.empty() ? writer_->use("DELETE FROM state WHERE task = ?", task).run()
                               : writer_->use("INSERT OR REPLACE INTO state VALUES(?, ?)", task, fold).run();
      if (!done) return done;
    }
    for (const std::string& task : batch.forgotten) {
      if (auto done = writer_->use("DELETE FROM finding WHERE task = ?", task).run(); !done) return done;
      if (auto done = writer_->use("DELETE FROM state WHERE task = ?", task).run(); !done) return done;
      // What ends with its task does not go on for ever.
      auto done = writer_->use("DELETE FROM span WHERE task = ? AND ended = 0", task).run();
      if (!done) return done;
    }
    return writer_->use("UPDATE progress SET through = max(through, ?)", batch.through).run();
  }

  Result<void> write_amounts(const LedgerBatch& batch, std::int64_t unit) {
    for (const auto& [key, amounts] : batch.amounts) {
      auto done =
          writer_
              ->use(
                  "INSERT INTO amount VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
                  " ON CONFLICT DO UPDATE SET nano_usd = nano_usd + excluded.nano_usd,"
                  " input = input + excluded.input, output = output + excluded.output,"
                  " cache_read = cache_read + excluded.cache_read,"
                  " cache_write = cache_write + excluded.cache_write, events = events + excluded.events,"
                  " errors = errors + excluded.errors, tool_calls = tool_calls + excluded.tool_calls,"
                  " failed = failed + excluded.failed",
                  unit, key.first - key.first % unit, key.second.agent, key.second.model, amounts.nano_usd,
                  amounts.input_tokens, amounts.output_tokens, amounts.cache_read_tokens, amounts.cache_write_tokens,
                  amounts.events, amounts.errors, amounts.tool_calls, amounts.failed)
              .run();
      if (!done) return done;
    }
    return {};
  }

  Result<void> write_tools(const LedgerBatch& batch, std::int64_t unit) {
    for (const auto& [key, use] : batch.tools) {
      std::int64_t at = key.first - key.first % unit;
      auto done = writer_
                      ->use(
                          "INSERT INTO tool VALUES(?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET"
                          " calls = calls + excluded.calls, failures = failures + excluded.failures",
                          unit, at, key.second, use.calls, use.failures)
                      .run();
      if (!done) return done;
      for (const auto& [of_class, count] : use.times) {
        done = writer_
                   ->use(
                       "INSERT INTO tool_time VALUES(?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET"
                       " count = count + excluded.count",
                       unit, at, key.second, of_class, count)
                   .run();
        if (!done) return done;
      }
    }
    return {};
  }

  const std::string path_;
  std::unique_ptr<Database> writer_;
  mutable std::unique_ptr<ReadPool> readers_;
};

}  // namespace

Result<std::unique_ptr<Ledger>> open_sqlite_ledger(const std::string& path, std::uint64_t store_head) {
  auto ledger = std::make_unique<SqliteLedger>(path);
  auto opened = ledger->open(store_head);
  if (opened) return ledger;
  if (opened.error().code != ErrorCode::internal) return fail(opened.error());
  log_warn("the ledger {} is set aside and begun anew: {}", path, opened.error().message);
  ledger = std::make_unique<SqliteLedger>(path);
  for (const char* suffix : {"", "-wal", "-shm"}) {
    std::string file = path + suffix;
    if (std::rename(file.c_str(), (path + ".old" + suffix).c_str()) != 0 && errno != ENOENT) {
      return fail(ErrorCode::unavailable, "io_error", "Cannot rename " + file + ": " + std::strerror(errno) + ".");
    }
  }
  if (opened = ledger->open(store_head); !opened) return fail(opened.error());
  return ledger;
}

}  // namespace shepherd
