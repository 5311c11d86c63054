#include "store/sqlite/sqlite_ledger.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <functional>
#include <map>
#include <tuple>
#include <utility>

#include "base/limits.h"
#include "base/log.h"
#include "sqlite/database.h"
#include "store/sqlite/ledger_forget.h"
#include "store/sqlite/ledger_trim.h"
#include "store/sqlite/read_pool.h"

namespace shepherd {
namespace {

// Figures are stored twice, so that a year can be added up quickly: by minute, and by the quarter of an hour, because
// days start on a quarter in every time zone.
constexpr std::array<std::int64_t, 2> kUnits{60, kLedgerCoarseSeconds};
constexpr std::size_t kReaders = 2;
constexpr const char* kDamaged = "-damaged";  // suffix of a marker file, read at the next start

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
CREATE TABLE finding(position INTEGER PRIMARY KEY, task TEXT NOT NULL, sequence INTEGER NOT NULL, severity TEXT NOT NULL);
CREATE INDEX finding_severity ON finding(severity, position);
CREATE INDEX finding_task ON finding(task, position);
CREATE TABLE state(task TEXT PRIMARY KEY, fold TEXT NOT NULL) WITHOUT ROWID;
PRAGMA user_version = 1;  -- kLedgerFormat
COMMIT;
)sql";

std::int64_t unit_of(const LedgerRange& range) {
  return range.from % kUnits[1] == 0 && range.step % kUnits[1] == 0 ? kUnits[1] : kUnits[0];
}

class SqliteLedger final : public Ledger {
 public:
  explicit SqliteLedger(std::string path) : path_(std::move(path)) {}

  Result<void> open(std::uint64_t store_head) {
    int made = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);  // readable by the owner only
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

  Result<std::vector<std::string>> add(const LedgerBatch& batch) override {
    std::vector<std::string> gone;
    auto done = writer_->use("BEGIN IMMEDIATE").run();
    if (done) done = write(batch);
    if (done) done = forget_tasks(*writer_, batch.forgotten, gone);
    if (done) done = writer_->use("COMMIT").run();
    if (!done && writer_->in_transaction()) (void)writer_->use("ROLLBACK").run();
    if (!done) return fail(noted(done.error()));
    return gone;
  }

  Result<void> purge() override {
    auto done = purge_ledger(*writer_);
    if (!done) return fail(noted(done.error()));
    return {};
  }

  Result<bool> trim(const LedgerKeep& keep) override {
    auto begun = writer_->use("BEGIN IMMEDIATE").run();
    if (!begun) return fail(noted(begun.error()));
    auto more = trim_ledger(*writer_, keep);
    auto done = more ? writer_->use("COMMIT").run() : Result<void>(fail(more.error()));
    if (!done && writer_->in_transaction()) (void)writer_->use("ROLLBACK").run();
    if (!done) return fail(noted(done.error()));
    return more;
  }

  Result<std::vector<std::string>> tasks() const override {
    auto database = readers_->lease();
    auto row = database->use(kKnownTasks);
    std::vector<std::string> tasks;
    for (;;) {
      auto found = row.step();
      if (!found) return fail(noted(found.error()));
      if (!*found) return tasks;
      tasks.push_back(row.text(0));
    }
  }

  // The end of the newest quarter that is older than all minutes. Nothing happened between the two.
  Result<std::int64_t> minutes_from() const override {
    auto database = readers_->lease();
    auto row = database->use(
        "SELECT max(at) + ?2 FROM amount WHERE unit = ?2 AND at + ?2 <="
        " (SELECT coalesce(min(at), 1 << 62) FROM amount WHERE unit = ?1)",
        kUnits[0], kUnits[1]);
    auto found = row.step();
    if (!found) return fail(noted(found.error()));
    return row.integer(0);  // 0 if there is no row
  }

  Result<std::uint64_t> kept_through() const override {
    auto database = readers_->lease();
    auto through = one_number(*database, "SELECT through FROM progress");
    if (!through) return fail(noted(through.error()));
    return static_cast<std::uint64_t>(*through);
  }

  Result<std::string> state(const std::string& task) const override {
    auto database = readers_->lease();
    auto row = database->use("SELECT fold FROM state WHERE task = ?", task);
    auto found = row.step();
    if (!found) return fail(noted(found.error()));
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
      if (!found) return fail(noted(found.error()));
      if (!*found) return curves;
      curves[{row.text(0), static_cast<std::size_t>(row.number(1))}] = {row.integer(2), row.number(3), row.number(4),
                                                                        row.number(5),  row.number(6), row.number(7),
                                                                        row.number(8),  row.number(9), row.number(10)};
    }
  }

  Result<std::map<std::string, ToolUse>> tools(const LedgerRange& range) const override {
    auto database = readers_->lease();
    Snapshot snapshot(*database);
    if (auto begun = snapshot.begin(); !begun) return fail(noted(begun.error()));
    std::int64_t unit = unit_of(range);
    std::map<std::string, ToolUse> tools;
    auto row = database->use(
        "SELECT name, sum(calls), sum(failures) FROM tool WHERE unit = ? AND at >= ? AND at < ? GROUP BY name", unit,
        range.from, range.to);
    for (;;) {
      auto found = row.step();
      if (!found) return fail(noted(found.error()));
      if (!*found) break;
      tools[row.text(0)] = {row.number(1), row.number(2), {}};
    }
    auto time = database->use(
        "SELECT name, class, sum(count) FROM tool_time WHERE unit = ? AND at >= ? AND at < ? GROUP BY name, class",
        unit, range.from, range.to);
    for (;;) {
      auto found = time.step();
      if (!found) return fail(noted(found.error()));
      if (!*found) return tools;
      tools[time.text(0)].times[static_cast<int>(time.integer(1))] = time.number(2);
    }
  }

  // Counted here, because SQLite would sort all rows, which takes four times as long as reading them.
  Result<std::vector<RunningTasks>> running(const LedgerRange& range,
                                            const std::optional<EndedIn>& ended) const override {
    auto database = readers_->lease();
    EndedIn in = ended ? EndedIn{std::max({ended->from_ms, range.from * 1000, std::int64_t{1}}), ended->to_ms}
                       : EndedIn{0, 1};  // the end of an open task is 0
    auto row = database->use(
        "SELECT begun, ended, CASE ?1 WHEN 1 THEN agent WHEN 2 THEN model ELSE '' END FROM span"
        " WHERE ended >= ?2 AND ended < ?3 AND begun < ?4",
        static_cast<int>(range.by), in.from_ms, in.to_ms, range.to * 1000);
    using Steps = std::tuple<std::size_t, std::size_t, bool>;  // first, last, open
    std::map<std::string, std::map<Steps, std::uint64_t>, std::less<>> counts;
    auto step_of = [&](std::int64_t ms) {
      std::int64_t second = std::clamp(ms / 1000, range.from, range.to - 1);
      return static_cast<std::size_t>((second - range.from) / range.step);
    };
    for (;;) {
      auto found = row.step();
      if (!found) return fail(noted(found.error()));
      if (!*found) break;
      bool open = row.integer(1) == 0;
      std::size_t first = step_of(row.integer(0));
      std::size_t last = open ? step_of(range.to * 1000) : std::max(first, step_of(row.integer(1)));
      auto key = counts.find(row.bytes(2));
      if (key == counts.end()) key = counts.emplace(row.text(2), std::map<Steps, std::uint64_t>()).first;
      ++key->second[{first, last, open}];
    }
    std::vector<RunningTasks> tasks;
    for (const auto& [key, steps] : counts) {
      for (const auto& [at, count] : steps) {
        auto [first, last, open] = at;
        tasks.push_back({key, first, last, open, count});
      }
    }
    return tasks;
  }

  Result<std::int64_t> newest_end_ms() const override {
    auto database = readers_->lease();
    auto newest = one_number(*database, "SELECT coalesce(max(ended), 0) FROM span");
    if (!newest) return fail(noted(newest.error()));
    return static_cast<std::int64_t>(*newest);
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
      if (!found) return fail(noted(found.error()));
      if (!*found) return places;
      places.push_back({row.number(0), row.text(1), row.number(2), row.text(3)});
    }
  }

 private:
  Result<void> prepare(std::uint64_t store_head) {
    if (::access((path_ + kDamaged).c_str(), F_OK) == 0) {
      return fail(ErrorCode::internal, "corrupt", "it was found damaged");
    }
    auto format = one_number(*writer_, "PRAGMA user_version");
    if (!format) return fail(std::move(format.error()));
    auto tables = one_number(*writer_, "SELECT count(*) FROM sqlite_schema");
    if (!tables) return fail(std::move(tables.error()));
    // The store still has what a crash of the machine loses here.
    auto done = writer_->execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL");
    if (done && *format == 0 && *tables == 0) done = writer_->execute(kSchema);
    if (!done) return done;
    format = one_number(*writer_, "PRAGMA user_version");
    if (!format || *format != kLedgerFormat) return fail(ErrorCode::internal, "corrupt", "it has another format");
    // The indexes contain everything that running() reads, so that it never looks up a task.
    done = writer_->execute(
        "DROP INDEX IF EXISTS span_ended;"
        "CREATE INDEX IF NOT EXISTS span_while ON span(ended, begun, agent, model)");
    if (done) done = prepare_forgetting(*writer_);
    if (!done) return done;
    auto through = one_number(*writer_, "SELECT through FROM progress");
    if (!through) return fail(std::move(through.error()));
    if (static_cast<std::uint64_t>(*through) > store_head) {
      return fail(ErrorCode::internal, "corrupt", "it is ahead of the store");
    }
    return {};
  }

  // Damage found while in use: marks the file, so that the next start rebuilds it even if its first page looks sound.
  Error noted(const Error& error) const {
    if (error.reason != "corrupt") return error;
    int made = ::open((path_ + kDamaged).c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (made >= 0) {
      ::close(made);
      log_warn("{} is damaged; the next start sets it aside and builds it again from the events that are kept", path_);
    }
    return error;
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
    for (const auto& [tool, task] : batch.tool_tasks) {
      if (auto done = writer_->use("INSERT OR IGNORE INTO tool_task VALUES(?, ?)", tool, task).run(); !done)
        return done;
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
  (void)std::remove((path + kDamaged).c_str());
  if (opened = ledger->open(store_head); !opened) return fail(opened.error());
  return ledger;
}

}  // namespace shepherd
