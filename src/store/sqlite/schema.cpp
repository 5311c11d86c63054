#include "store/sqlite/schema.h"

namespace shepherd {

namespace {

constexpr int kApplicationId = 0x53687031;  // "Shp1"

// One entry per version. An entry never changes after its release.
constexpr const char* kMigrations[] = {
    R"sql(
-- projected_through: every projection below contains the events up to this position (others are folded again at start)
-- position: the newest position ever given, kept when its run is deleted
-- events: how many are kept, as of projected_through;  detail_bytes: size of all blobs
CREATE TABLE meta(name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;

-- Small on purpose: it is rewritten whenever the task's state changes. `state`, `first`, `last` are of `projection`.
CREATE TABLE task(
  key INTEGER PRIMARY KEY AUTOINCREMENT,  -- never given twice, so that a reader cannot meet another task's runs
  id TEXT NOT NULL UNIQUE,
  created INTEGER NOT NULL,
  request BLOB NOT NULL,                  -- hash of what the creator asked for
  idempotency_key TEXT UNIQUE,
  agent TEXT NOT NULL, workflow TEXT NOT NULL, repo TEXT NOT NULL, source TEXT NOT NULL,
  labels TEXT NOT NULL,                   -- JSON object
  state TEXT NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL,
  projection TEXT NOT NULL);              -- the fold's cache: JSON
CREATE INDEX task_newest ON task(created, id);
CREATE INDEX task_active ON task(created, id) WHERE state NOT IN ('completed', 'failed', 'timed_out', 'cancelled');
CREATE INDEX task_workflow ON task(workflow, created, id) WHERE workflow <> '';
CREATE TABLE task_spec(task INTEGER PRIMARY KEY, spec TEXT NOT NULL);

-- One row for consecutive events of one task from one commit: see store/batch_codec.h for `lengths` and `events`.
CREATE TABLE run(
  position INTEGER PRIMARY KEY,           -- of its last event, so that reading on is `position > ?`
  task INTEGER NOT NULL, last INTEGER NOT NULL, count INTEGER NOT NULL,
  types INTEGER NOT NULL, received_first INTEGER NOT NULL, received_last INTEGER NOT NULL,
  producer INTEGER, producer_first INTEGER,  -- strict: whose numbers, and the first one's
  loose_first INTEGER,                       -- fire and forget: the first one's number
  lengths BLOB NOT NULL, events TEXT NOT NULL);
CREATE UNIQUE INDEX run_task ON run(task, last);
-- A strict producer's numbers rise with `last`, so they are found by run_task alone; an index would cost a third of
-- what ingest can do.
CREATE INDEX run_loose ON run(task, loose_first) WHERE loose_first IS NOT NULL;

CREATE TABLE producer(
  key INTEGER PRIMARY KEY AUTOINCREMENT, task INTEGER NOT NULL, name TEXT NOT NULL,
  high INTEGER NOT NULL, holes TEXT NOT NULL,
  UNIQUE(task, name));
CREATE TABLE event_key(
  task INTEGER NOT NULL, event_id TEXT NOT NULL, sequence INTEGER NOT NULL, PRIMARY KEY(task, event_id)) WITHOUT ROWID;

-- Full content beside an event; equal content is kept once.
CREATE TABLE detail(position INTEGER PRIMARY KEY, blob INTEGER NOT NULL);
CREATE TABLE blob(
  key INTEGER PRIMARY KEY, hash BLOB NOT NULL UNIQUE, refs INTEGER NOT NULL, bytes BLOB NOT NULL);

CREATE TABLE record(kind TEXT NOT NULL, key TEXT NOT NULL, value BLOB NOT NULL, PRIMARY KEY(kind, key)) WITHOUT ROWID;

INSERT INTO meta VALUES('projected_through', 0), ('position', 0), ('events', 0), ('detail_bytes', 0);
)sql",
    // The places of a task's batches move from an index, which every commit wrote, to a table that is written from time
    // to time.
    R"sql(
-- placed_through: every run up to this position is in run_place (a newer one may be)
CREATE TABLE run_place(
  task INTEGER NOT NULL, last INTEGER NOT NULL, position INTEGER NOT NULL, PRIMARY KEY(task, last)) WITHOUT ROWID;
INSERT INTO run_place SELECT task, last, position FROM run ORDER BY task, last;
INSERT INTO meta SELECT 'placed_through', coalesce(max(position), 0) FROM run;
DROP INDEX run_task;
)sql",
    // New batches have checksums (store/batch_codec.h), which older programs cannot read. Existing batches stay
    // unchanged.
    "",
    // Lists and followers read tasks without their payload, followers read what is no event, and the state at an event
    // is read without folding the whole log.
    R"sql(
-- The part of task_spec that lists show: JSON, small whatever the payload is.
CREATE TABLE task_info(task INTEGER PRIMARY KEY, info TEXT NOT NULL);
INSERT INTO task_info
SELECT task,
       json_set(json_remove(spec, '$.task.description', '$.task.context', '$.allowedTools', '$.command', '$.mcpServers'),
                '$.title', coalesce(nullif(json_extract(spec, '$.title'), ''), substr(line, 1, 120)))
FROM (SELECT task, spec, substr(words, 1, min(instr(words || char(10), char(10)), instr(words || char(13), char(13))) - 1) AS line
      FROM (SELECT task, spec, coalesce(json_extract(spec, '$.task.description'), '') AS words FROM task_spec));

-- Changes that are no events (store/change.h), the newest ones. `after`: the events up to this position come before it.
CREATE TABLE change(
  number INTEGER PRIMARY KEY, after INTEGER NOT NULL, kind INTEGER NOT NULL, name TEXT NOT NULL, key TEXT NOT NULL);

-- States at some events.
CREATE TABLE checkpoint(
  task INTEGER NOT NULL, sequence INTEGER NOT NULL,
  whole INTEGER NOT NULL,                 -- 0 if it lacks the log's beginning, which was dropped before
  state TEXT NOT NULL,                    -- as `projection`
  PRIMARY KEY(task, sequence)) WITHOUT ROWID;
)sql",
    // Who has what, and until when (store/lease.h). There is no index over `until`: renewals are far more frequent than
    // looks at what is over, and the table is small.
    R"sql(
CREATE TABLE lease(
  kind INTEGER NOT NULL, name TEXT NOT NULL, holder TEXT NOT NULL, epoch INTEGER NOT NULL,
  until INTEGER NOT NULL,                 -- on the service clock
  heard INTEGER NOT NULL, note TEXT NOT NULL,
  PRIMARY KEY(kind, name, holder)) WITHOUT ROWID;
)sql",
    // A deletion is one short transaction; the deleted task's other rows go later (store/sqlite/leftovers.h).
    R"sql(
-- Keys of deleted tasks that still have rows in run, run_place, detail, event_key, producer or checkpoint.
CREATE TABLE leftover(task INTEGER PRIMARY KEY);
)sql",
};
static_assert(std::size(kMigrations) == kSchemaVersion);

// Every migration recreates the views.
constexpr const char* kViews = R"sql(
DROP VIEW IF EXISTS agent_sessions;
DROP VIEW IF EXISTS agent_events;
DROP VIEW IF EXISTS run_of_task;

-- For other programs: an event a row, a session a row.
CREATE VIEW run_of_task(task, last, position) AS
SELECT task, last, position FROM run_place
UNION ALL
SELECT run.task, run.last, run.position
FROM run LEFT JOIN run_place ON run_place.task = run.task AND run_place.last = run.last
WHERE run.position > (SELECT value FROM meta WHERE name = 'placed_through') AND run_place.position IS NULL;

CREATE VIEW agent_events(id, agent_id, session_id, event_type, event_data, timestamp) AS
SELECT printf('%08x-%04x-8%03x-8000-%012x', task.key >> 28, (task.key >> 12) & 65535, task.key & 4095,
              run.position - run.count + 1 + event.key),
       task.id,
       json_extract(event.value, '$.sessionID'),
       json_extract(event.value, '$.type'),
       event.value,
       json_extract(event.value, '$.timestamp')
FROM task JOIN run_of_task ON run_of_task.task = task.key JOIN run ON run.position = run_of_task.position
     JOIN json_each(run.events) AS event;

CREATE VIEW agent_sessions(session_id, agent_id, workflow_id, started_at, completed_at, status, metrics) AS
SELECT event.session_id,
       event.agent_id,
       nullif(task.workflow, ''),
       min(event.timestamp),
       CASE WHEN task.state IN ('completed', 'failed', 'timed_out', 'cancelled') THEN max(event.timestamp) END,
       task.state,
       (SELECT json_extract(usage.event_data, '$.data') FROM agent_events AS usage
        WHERE usage.agent_id = event.agent_id AND usage.session_id = event.session_id AND usage.event_type = 'usage'
        ORDER BY json_extract(usage.event_data, '$.sequence') DESC LIMIT 1)
FROM agent_events AS event JOIN task ON task.id = event.agent_id
WHERE event.session_id IS NOT NULL
GROUP BY event.session_id, event.agent_id;
)sql";

Result<std::int64_t> pragma(Database& database, const char* sql) {
  auto row = database.use(sql);
  auto found = row.step();
  if (!found) return fail(std::move(found.error()));
  return *found ? row.integer(0) : 0;
}

Result<void> apply(Database& database, int from) {
  for (int version = from; version < kSchemaVersion; ++version) {
    if (auto done = database.execute(kMigrations[version]); !done) return done;
  }
  if (auto done = database.execute(kViews); !done) return done;
  return database.execute("PRAGMA application_id = " + std::to_string(kApplicationId) +
                          "; PRAGMA user_version = " + std::to_string(kSchemaVersion));
}

}  // namespace

Result<int> schema_version(Database& database) {
  auto version = pragma(database, "PRAGMA user_version");
  if (!version) return fail(std::move(version.error()));
  return static_cast<int>(*version);
}

Error bad_schema_version(const Database& database, int version) {
  return Error{ErrorCode::internal,
               "corrupt",
               database.path() + " says that its schema has version " + std::to_string(version) +
                   ", which never was. Its first page is damaged: restore a backup, or run `shepherd doctor`.",
               {}};
}

Result<void> migrate(Database& database, int page_bytes) {
  auto version = schema_version(database);
  if (!version) return fail(std::move(version.error()));
  auto application = pragma(database, "PRAGMA application_id");
  if (!application) return fail(std::move(application.error()));
  auto tables = pragma(database, "SELECT count(*) FROM sqlite_schema");
  if (!tables) return fail(std::move(tables.error()));

  bool empty = *tables == 0;
  if (!empty && *application != kApplicationId) {
    return fail(ErrorCode::internal, "corrupt",
                database.path() + " is a database of another program. Name another file, or run `shepherd doctor`.");
  }
  if (*version < (empty ? 0 : 1)) return fail(bad_schema_version(database, *version));
  if (*version > kSchemaVersion) {
    return fail(ErrorCode::internal, "newer_schema",
                database.path() + " has schema version " + std::to_string(*version) + "; this program knows up to " +
                    std::to_string(kSchemaVersion) + ". Start the newer program that wrote it, or restore a backup.");
  }
  if (*version == kSchemaVersion) return {};
  if (empty) {
    // Both must be set before the first table is created.
    auto set =
        database.execute("PRAGMA page_size = " + std::to_string(page_bytes) + "; PRAGMA auto_vacuum = INCREMENTAL");
    if (!set) return set;
  }
  if (auto begun = database.execute("BEGIN IMMEDIATE"); !begun) return begun;
  auto done = apply(database, *version);
  if (done) done = database.execute("COMMIT");
  if (!done && database.in_transaction()) (void)database.execute("ROLLBACK");
  return done;
}

Result<void> configure_writer(Database& database, std::size_t cache_bytes, std::size_t wal_keep_bytes) {
  // Debian's default for secure_delete overwrites every freed page, which doubles what retention writes.
  return database.execute(
      "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA temp_store = MEMORY;"
      "PRAGMA secure_delete = FAST; PRAGMA wal_autocheckpoint = 0; PRAGMA cache_spill = OFF;"
      "PRAGMA journal_size_limit = " +
      std::to_string(wal_keep_bytes) +
      ";"
      "PRAGMA cache_size = -" +
      std::to_string(cache_bytes / 1024));
}

Result<void> configure_reader(Database& database, std::size_t cache_bytes) {
  return database.execute(
      "PRAGMA query_only = ON; PRAGMA temp_store = MEMORY;"
      "PRAGMA cache_size = -" +
      std::to_string(cache_bytes / 1024));
}

}  // namespace shepherd
