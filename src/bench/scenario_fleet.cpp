// The dashboard's requests to a server with a busy month of data: one request after the other, and a hundred pages that
// receive every change.
#include <fmt/format.h>

#include <algorithm>

#include "bench/fleet_data.h"
#include "bench/interrupt.h"
#include "bench/page_watchers.h"
#include "bench/process_usage.h"
#include "bench/scenario.h"
#include "bench/steady_time.h"
#include "bench/written_log.h"

namespace shepherd::bench {
namespace {

constexpr int kAsked = 30, kAskedQuick = 10;
constexpr std::uint64_t kLongLog = 100'000;
constexpr std::size_t kPages = 100;
constexpr double kEventsPerTask = 10;  // per second
constexpr double kUpdatesPerTask = 4;  // per second, at most
constexpr int kLedgerDays = 30, kLedgerDaysQuick = 5;
constexpr std::size_t kLedgerSpans = 100'000;

struct Question {
  std::string id, title, target;
  double most_ms;  // below what a person notices or, for the largest ranges, waits for
};

std::vector<Question> questions(const std::string& long_task) {
  return {
      {"inbox", "what needs you", "/api/v1/inbox", 10},
      {"stats.day", "stats over 24 hours", "/api/v1/stats?from=-24h", 20},
      {"stats.day.agent", "stats over 24 hours by agent, by the minute", "/api/v1/stats?from=-16h&step=60&by=agent",
       50},
      {"stats.month", "stats over 30 days by model", "/api/v1/stats?from=-30d&by=model", 100},
      {"timeline", "time bar of 100,000 events", "/api/v1/tasks/" + long_task + "/timeline", 100},
      {"tasks.page", "newest 100 tasks", "/api/v1/tasks?limit=100", 10},
      {"tasks.active", "the tasks under way", "/api/v1/tasks?active=true&limit=1000", 20},
      {"tasks.failed", "100 that failed", "/api/v1/tasks?state=failed&limit=100", 10},
      {"tasks.text", "tasks whose title has a word", "/api/v1/tasks?text=nowhere&limit=100", 50},
      {"tasks.hour", "tasks under way in an hour", "/api/v1/tasks?from=-1h&to=now&limit=100", 50},
      {"findings", "newest findings", "/api/v1/findings", 10},
  };
}

Result<void> ask(Bench& bench, ShepherdServer& server, const Question& question, const std::string& suffix = "") {
  LatencyHistogram times;
  for (int i = 0; i < (bench.options.quick ? kAskedQuick : kAsked); ++i) {
    if (Result<void> going = check_interrupt(); !going) return going;
    std::uint64_t start_ns = steady_ns();
    Result<HttpAnswer> answer = server.get(question.target);
    if (!answer) return fail(answer.error());
    times.record(steady_ns() - start_ns);
    if (answer->status != 200) {
      return fail(ErrorCode::unavailable, "refused",
                  fmt::format("{} was answered {}: {}", question.target, answer->status, answer->body.substr(0, 200)));
    }
  }
  Row row{.id = "fleet." + question.id + suffix, .title = question.title, .unit = Unit::milliseconds};
  row.set_latency(times);
  row.value = *row.p50_ms;
  row.judgements.push_back(
      {.what = "of the limit", .value = row.value / question.most_ms, .bound = 1, .at_least = false});
  row.more = {{"limitMs", question.most_ms}};
  bench.report.add(std::move(row));
  return {};
}

Result<void> measure_pages(Bench& bench, ShepherdServer& server, const Fleet& fleet, const Question& inbox) {
  PageWatchers pages;
  if (Result<void> started = pages.start(server.open(), server.authorization(), kPages); !started) return started;
  LoadPlan plan = server.plan_for(fleet.active, {.publishers = fleet.active.size()});
  plan.rate = kEventsPerTask * static_cast<double>(fleet.active.size());
  plan.warmup_seconds = 1;
  plan.seconds = bench.seconds(8);
  std::uint64_t before = pages.updates(), start_ns = steady_ns();
  double cpu_before = cpu_seconds(server.pid());
  Result<LoadResult> load = run_load(std::move(plan));
  if (!load) return fail(load.error());
  double seconds = static_cast<double>(steady_ns() - start_ns) / 1e9;
  double updates = static_cast<double>(pages.updates() - before) / seconds;
  Row row{
      .id = "fleet.updates", .title = fmt::format("rows sent to {} pages, 1,000 events/s", kPages), .value = updates};
  row.set_latency(load->answer_latency);  // how long producers wait meanwhile
  row.server_cpu = (cpu_seconds(server.pid()) - cpu_before) / seconds;
  row.server_us = updates > 0 ? *row.server_cpu * 1e6 / updates : 0;
  row.clean = load->clean() && pages.lost() == 0;
  double due = kUpdatesPerTask * static_cast<double>(fleet.active.size() * kPages);
  row.judgements.push_back({.what = "of four a second", .value = updates / due, .bound = 0.5});
  row.judgements.push_back({.what = "cores", .value = *row.server_cpu, .bound = 1, .at_least = false});
  row.more = {{"updatesDue", due}};
  bench.report.add(std::move(row));
  return ask(bench, server, inbox, ".with_pages");
}

}  // namespace

Result<void> measure_fleet(Bench& bench) {
  bench.report.heading("The dashboard's questions: 10,000 tasks, 100 under way, a month of figures (a request each)");
  std::filesystem::path directory = bench.new_directory("fleet");
  auto start = [&] {
    return ShepherdServer::start({.program = bench.options.server.empty() ? "/proc/self/exe" : bench.options.server,
                                  .arguments = bench.options.server_args,
                                  .directory = directory});
  };
  Fleet fleet;
  std::string long_task;
  {
    Result<ShepherdServer> server = start();
    if (!server) return fail(server.error());
    Result<Fleet> made = make_fleet(*server, {.tasks = bench.options.quick ? std::size_t{2'000} : std::size_t{10'000}});
    if (!made) return fail(made.error());
    fleet = std::move(*made);
    Result<WrittenLog> log = write_log(*server, kLongLog, 16);
    if (!log) return fail(log.error());
    long_task = log->task;
    if (Result<void> done = wait_for_index(*server); !done) return done;
    server->stop();
  }
  Result<std::uint64_t> rows =
      fill_ledger(directory / "data" / "ledger.db", bench.options.quick ? kLedgerDaysQuick : kLedgerDays, kLedgerSpans);
  if (!rows) return fail(rows.error());
  bench.report.note(fmt::format("{} rows in the ledger", *rows));
  Result<ShepherdServer> server = start();
  if (!server) return fail(server.error());
  if (Result<void> done = wait_for_ledger(*server); !done) return done;
  std::vector<Question> all = questions(long_task);
  for (const Question& question : all) {
    if (Result<void> done = ask(bench, *server, question); !done) return done;
  }
  return measure_pages(bench, *server, fleet, all.front());
}

}  // namespace shepherd::bench
