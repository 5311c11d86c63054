// Durable batches: 16 producers, 16 events per POST, over 1,000 tasks, at the start and with a large database. Compared
// with SQLite inserting the rows that the server wrote.
#include <fmt/format.h>

#include "bench/read_log.h"
#include "bench/scenario.h"
#include "bench/sqlite_peer.h"

namespace shepherd::bench {
namespace {

constexpr Shape kBatchShape{.channels = 1'000, .publishers = 16, .batch = 16};
constexpr double kOfSqlite = 0.6;
constexpr double kOfStart = 0.5;
constexpr std::uint64_t kLarge = 5'000'000, kLargeQuick = 500'000;
constexpr std::uint64_t kInsertEvents = 200'000;
constexpr double kBatchReadSeconds = 300;

struct Counts {
  double events = 0, commits = 0;
};

Result<Counts> counts_of(ShepherdServer& server) {
  Result<double> events = server.metric("shepherd_events_appended_total");
  if (!events) return fail(events.error());
  Result<double> commits = server.metric("shepherd_commits_total");
  if (!commits) return fail(commits.error());
  return Counts{*events, *commits};
}

// Runs one load on fresh tasks and reads every log again.
Result<LoadResult> load_and_read(Bench& bench, ShepherdServer& server, double seconds, std::uint64_t max_events) {
  Result<std::vector<std::string>> tasks = server.create_tasks(kBatchShape.channels);
  if (!tasks) return fail(tasks.error());
  LoadPlan plan = server.plan_for(*tasks, kBatchShape);
  plan.warmup_seconds = max_events > 0 ? 0 : bench.warmup();
  plan.seconds = seconds;
  plan.max_events = max_events;
  Result<LoadResult> result = run_load(std::move(plan));
  if (!result) return result;
  Result<LogRead> read =
      read_log(server.subscribe(*tasks, tasks->size(), Transport::websocket), *result, 0, kBatchReadSeconds);
  if (!read) return fail(read.error());
  result->defects += read->defects;
  return result;
}

}  // namespace

Result<void> measure_batches(Bench& bench) {
  bench.report.heading("Durable batches: 16 producers, 16 events a POST, 1,000 tasks");
  Result<ShepherdServer> server = bench.start_server();
  if (!server) return fail(server.error());

  std::vector<LoadResult> own;
  std::vector<double> sqlite;
  double events_per_commit = 0;
  for (int round = 0; round < bench.rounds(); ++round) {
    Result<Counts> before = counts_of(*server);
    if (!before) return fail(before.error());
    Result<LoadResult> result = load_and_read(bench, *server, bench.seconds(2), 0);
    if (!result) return fail(result.error());
    own.push_back(std::move(*result));
    Result<Counts> after = counts_of(*server);
    if (!after) return fail(after.error());
    // Creating the tasks also took commits, but only a few, because they were created together.
    events_per_commit = (after->events - before->events) / std::max(1.0, after->commits - before->commits);
    Result<SqliteInserts> inserts =
        insert_rows_again(server->data() / "shepherd.db", bench.new_directory("sqlite") / "copy.db", events_per_commit,
                          bench.options.quick ? kInsertEvents / 4 : kInsertEvents);
    if (!inserts) return fail(inserts.error());
    sqlite.push_back(inserts->events_per_second());
  }

  Row alone{.id = "ingest.batch.sqlite",
            .title = fmt::format("SQLite alone, the same rows, {:.0f} events a commit", events_per_commit),
            .value = median(sqlite)};
  Row row = load_row("ingest.batch", "Shepherd at the start",
                     median_run(std::move(own), &LoadResult::answered_per_second), &LoadResult::answered_per_second);
  row.more.emplace_back("eventsPerCommit", events_per_commit);
  row.judgements.push_back({.what = "x SQLite", .value = row.value / alone.value, .bound = kOfSqlite});
  double start_rate = row.value;
  bench.report.add(std::move(alone));
  bench.report.add(std::move(row));

  std::uint64_t large = bench.options.quick ? kLargeQuick : kLarge;
  Result<LoadResult> filled = load_and_read(bench, *server, 3'600, large);
  if (!filled) return fail(filled.error());
  Row on_the_way = load_row("ingest.batch.sustained", fmt::format("Shepherd through {} thousand events", large / 1'000),
                            *filled, &LoadResult::answered_per_second);
  bench.report.add(std::move(on_the_way));

  std::vector<LoadResult> late;
  for (int round = 0; round < bench.rounds(); ++round) {
    Result<LoadResult> result = load_and_read(bench, *server, bench.seconds(2), 0);
    if (!result) return fail(result.error());
    late.push_back(std::move(*result));
  }
  Row after = load_row("ingest.batch.late", fmt::format("Shepherd after {} thousand events", large / 1'000),
                       median_run(std::move(late), &LoadResult::answered_per_second), &LoadResult::answered_per_second);
  after.judgements.push_back({.what = "x start", .value = after.value / start_rate, .bound = kOfStart});
  bench.report.add(std::move(after));
  return {};
}

}  // namespace shepherd::bench
