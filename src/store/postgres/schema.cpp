#include "store/postgres/schema.h"

#include <string>

namespace shepherd {

namespace {

// One entry per version. An entry never changes after its release.
constexpr const char* kMigrations[] = {
    R"sql(
-- The newest position and change ever given, and sums over what is kept. Every transaction that changes something takes
-- this row last, so that both count in the order of the commits.
CREATE TABLE counter(
  one boolean PRIMARY KEY DEFAULT true CHECK (one),
  position bigint NOT NULL, change bigint NOT NULL, events bigint NOT NULL, detail_bytes bigint NOT NULL);
INSERT INTO counter(position, change, events, detail_bytes) VALUES(0, 0, 0, 0);

-- `version` grows with every change of the row: a replica's cached state is current if it has the same one.
CREATE SEQUENCE task_key;
CREATE TABLE task(
  key bigint PRIMARY KEY,                 -- never given twice, so that a reader cannot meet another task's batches
  id text COLLATE "C" NOT NULL UNIQUE,
  version bigint NOT NULL,
  created bigint NOT NULL,
  request bytea NOT NULL,                 -- hash of what the creator asked for
  idempotency_key text COLLATE "C" UNIQUE,
  agent text NOT NULL, workflow text NOT NULL,
  state text NOT NULL, first bigint NOT NULL, last bigint NOT NULL,
  info text NOT NULL,                     -- what lists show: JSON, small whatever the payload is
  projection text NOT NULL)               -- the fold's cache: JSON
  WITH (fillfactor = 70);
CREATE INDEX task_newest ON task(created, id);
CREATE INDEX task_active ON task(created, id) WHERE state NOT IN ('completed', 'failed', 'timed_out', 'cancelled');
CREATE INDEX task_workflow ON task(workflow, created, id) WHERE workflow <> '';
CREATE TABLE task_spec(task bigint PRIMARY KEY, spec text NOT NULL);

-- A row holds consecutive events of one task from one commit: see store/batch_codec.h for `lengths` and `events`.
CREATE TABLE batch(
  position bigint PRIMARY KEY,            -- of its last event, so that reading on is `position > $1`
  task bigint NOT NULL, last bigint NOT NULL, count bigint NOT NULL,
  types bigint NOT NULL, received_first bigint NOT NULL, received_last bigint NOT NULL,
  producer text COLLATE "C",              -- whose numbers; '': fire and forget
  producer_first bigint,                  -- the first one's number
  lengths bytea NOT NULL, events text NOT NULL);
CREATE UNIQUE INDEX batch_task ON batch(task, last);
CREATE INDEX batch_producer ON batch(task, producer, producer_first) WHERE producer IS NOT NULL;
-- Events are JSON of many short texts: lz4 costs ingest less than the default compression.
ALTER TABLE batch ALTER COLUMN events SET COMPRESSION lz4;

CREATE TABLE producer(
  task bigint NOT NULL, name text COLLATE "C" NOT NULL, high bigint NOT NULL, holes text NOT NULL,
  PRIMARY KEY(task, name));
CREATE TABLE event_key(
  task bigint NOT NULL, event_id text COLLATE "C" NOT NULL, sequence bigint NOT NULL, PRIMARY KEY(task, event_id));

-- Full content beside an event; equal content is kept once.
CREATE TABLE detail(task bigint NOT NULL, sequence bigint NOT NULL, blob bytea NOT NULL, PRIMARY KEY(task, sequence));
CREATE TABLE blob(hash bytea PRIMARY KEY, refs bigint NOT NULL, bytes bytea NOT NULL);
ALTER TABLE blob ALTER COLUMN bytes SET STORAGE EXTERNAL;
CREATE INDEX blob_unused ON blob(hash) WHERE refs <= 0;

-- States at some events.
CREATE TABLE checkpoint(
  task bigint NOT NULL, sequence bigint NOT NULL,
  whole boolean NOT NULL,                 -- false if it lacks the log's beginning, which was dropped before
  state text NOT NULL,                    -- as `projection`
  PRIMARY KEY(task, sequence));

CREATE TABLE record(
  kind text COLLATE "C" NOT NULL, key text COLLATE "C" NOT NULL, value bytea NOT NULL, PRIMARY KEY(kind, key));

-- Changes that are no events (store/change.h), the newest ones. `after`: the events up to this position come before it.
CREATE TABLE change(
  number bigint PRIMARY KEY, after bigint NOT NULL, kind bigint NOT NULL, name text NOT NULL, key text NOT NULL);

-- Who has what, and until when (store/lease.h).
CREATE TABLE lease(
  kind bigint NOT NULL, name text COLLATE "C" NOT NULL, holder text COLLATE "C" NOT NULL, epoch bigint NOT NULL,
  until bigint NOT NULL,                  -- on the service clock
  heard boolean NOT NULL, note text NOT NULL,
  PRIMARY KEY(kind, name, holder));

-- Keys of deleted tasks that still have rows in batch, detail, event_key, producer or checkpoint.
CREATE TABLE leftover(task bigint PRIMARY KEY);
)sql",
};
static_assert(std::size(kMigrations) == kPostgresSchemaVersion);

// Every migration recreates the views.
constexpr const char* kViews = R"sql(
DROP VIEW IF EXISTS agent_sessions;
DROP VIEW IF EXISTS agent_events;

-- For other programs: an event a row, a session a row.
CREATE VIEW agent_events(id, agent_id, session_id, event_type, event_data, timestamp) AS
SELECT (lpad(to_hex(task.key >> 28), 8, '0') || '-' || lpad(to_hex((task.key >> 12) & 65535), 4, '0') || '-8'
        || lpad(to_hex(task.key & 4095), 3, '0') || '-8000-'
        || lpad(to_hex(batch.position - batch.count + event.number), 12, '0'))::uuid,
       task.id,
       event.value ->> 'sessionID',
       event.value ->> 'type',
       event.value,
       (event.value ->> 'timestamp')::timestamptz
FROM task JOIN batch ON batch.task = task.key
     CROSS JOIN LATERAL json_array_elements(batch.events::json) WITH ORDINALITY AS event(value, number);

CREATE VIEW agent_sessions(session_id, agent_id, workflow_id, started_at, completed_at, status, metrics) AS
SELECT event.session_id,
       event.agent_id,
       nullif(task.workflow, ''),
       min(event.timestamp),
       CASE WHEN task.state IN ('completed', 'failed', 'timed_out', 'cancelled') THEN max(event.timestamp) END,
       task.state,
       (SELECT usage.event_data -> 'data' FROM agent_events AS usage
        WHERE usage.agent_id = event.agent_id AND usage.session_id = event.session_id AND usage.event_type = 'usage'
        ORDER BY (usage.event_data ->> 'sequence')::bigint DESC LIMIT 1)
FROM agent_events AS event JOIN task ON task.id = event.agent_id
WHERE event.session_id IS NOT NULL
GROUP BY event.session_id, event.agent_id, task.workflow, task.state;
)sql";

constexpr const char* kVersionTable = "CREATE TABLE IF NOT EXISTS schema_version(version bigint NOT NULL)";

Result<void> migrate_in(PostgresConnection& connection) {
  // The lock ends with the transaction. It is of this schema, so that installations can share a database.
  constexpr const char* kLock = "SELECT pg_advisory_xact_lock(hashtextextended(current_schema() || ' schema', 0))";
  if (auto locked = connection.execute(kLock); !locked) return locked;
  if (auto made = connection.execute(kVersionTable); !made) return made;
  auto rows = connection.run("SELECT coalesce(max(version), 0) FROM schema_version");
  if (!rows) return fail(std::move(rows.error()));
  auto version = static_cast<int>(rows->integer(0, 0));
  if (version > kPostgresSchemaVersion) {
    return fail(ErrorCode::internal, "newer_schema",
                "The database at " + connection.place() + " has schema version " + std::to_string(version) +
                    "; this program knows up to " + std::to_string(kPostgresSchemaVersion) +
                    ". Start the newer program that wrote it.");
  }
  if (version == kPostgresSchemaVersion) return {};
  for (int next = version; next < kPostgresSchemaVersion; ++next) {
    if (auto done = connection.execute(kMigrations[next]); !done) return done;
  }
  if (auto done = connection.execute(kViews); !done) return done;
  return connection.execute("DELETE FROM schema_version; INSERT INTO schema_version VALUES(" +
                            std::to_string(kPostgresSchemaVersion) + ")");
}

}  // namespace

Result<void> migrate(PostgresConnection& connection) {
  // Another replica's migration may take longer than an ordinary lock.
  if (auto begun = connection.execute("BEGIN; SET LOCAL lock_timeout = 0"); !begun) return begun;
  auto done = migrate_in(connection);
  auto ended = connection.execute(done ? "COMMIT" : "ROLLBACK");
  return done ? ended : done;
}

}  // namespace shepherd
