// Rows carry no payload: a list of tasks whose contexts are large costs what one of small tasks does, and a page that
// watches them gets bytes by what changes, not by what the tasks carry.
#include <fmt/format.h>

#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "bench/interrupt.h"
#include "bench/page_watchers.h"
#include "bench/scenario.h"
#include "bench/steady_time.h"

namespace shepherd::bench {
namespace {

constexpr std::size_t kRowTasks = 1'000, kRowTasksQuick = 100;
constexpr std::size_t kContextBytes = 1024 * 1024;
constexpr std::size_t kWatchedEvents = 1'500;
constexpr int kLists = 15, kListsQuick = 5;
constexpr std::chrono::milliseconds kSettle{2'000};  // the last rows are sent within kTaskUpdateInterval

struct Listed {
  double ms = 0;
  double bytes = 0;
};

Result<Listed> list(Bench& bench, ShepherdServer& server, std::size_t tasks) {
  LatencyHistogram times;
  Listed listed;
  for (int i = 0; i < (bench.options.quick ? kListsQuick : kLists); ++i) {
    if (Result<void> going = check_interrupt(); !going) return fail(going.error());
    std::uint64_t start_ns = steady_ns();
    Result<HttpAnswer> answer = server.get(fmt::format("/api/v1/tasks?limit={}", tasks));
    if (!answer) return fail(answer.error());
    times.record(steady_ns() - start_ns);
    listed.bytes = static_cast<double>(answer->body.size());
  }
  Row row{.id = "", .title = "", .unit = Unit::milliseconds};
  row.set_latency(times);
  listed.ms = *row.p50_ms;
  return listed;
}

Result<Listed> list_new_tasks(Bench& bench, std::size_t tasks, std::size_t context) {
  Result<ShepherdServer> server = bench.start_server();
  if (!server) return fail(server.error());
  if (Result<std::vector<std::string>> made = server->create_tasks(tasks, context); !made) return fail(made.error());
  return list(bench, *server, tasks);
}

Result<void> measure_watcher(Bench& bench) {
  Result<ShepherdServer> server = bench.start_server();
  if (!server) return fail(server.error());
  Result<std::vector<std::string>> tasks = server->create_tasks(10, kContextBytes);
  if (!tasks) return fail(tasks.error());
  PageWatchers page;
  if (Result<void> started = page.start(server->open(), server->authorization(), 1); !started) return started;
  std::uint64_t before = page.bytes();
  std::vector<HttpRequest> posts;
  posts.reserve(kWatchedEvents);
  for (std::size_t i = 0; i < kWatchedEvents; ++i) {
    posts.push_back({"POST", "/api/v1/tasks/" + (*tasks)[i % tasks->size()] + "/events",
                     "Content-Type: application/json\r\n", R"({"type":"log","summary":"a small step"})"});
  }
  Result<std::vector<HttpAnswer>> answers = server->internal_calls(std::move(posts));
  if (!answers) return fail(answers.error());
  std::this_thread::sleep_for(kSettle);
  Row row{.id = "rows.watch",
          .title = "1,500 small events of tasks with 1 MiB of context, to one page",
          .value = static_cast<double>(page.bytes() - before),
          .unit = Unit::bytes};
  row.clean = page.lost() == 0 && page.updates() >= tasks->size();
  constexpr double kMost = 2e6;
  row.judgements.push_back({.what = "of 2 MB", .value = row.value / kMost, .bound = 1, .at_least = false});
  bench.report.add(std::move(row));
  return {};
}

}  // namespace

Result<void> measure_rows(Bench& bench) {
  bench.report.heading("Rows without payload: tasks with 1 MiB of context beside small ones");
  std::size_t tasks = bench.options.quick ? kRowTasksQuick : kRowTasks;
  Result<Listed> small = list_new_tasks(bench, tasks, 0);
  if (!small) return fail(small.error());
  Result<Listed> large = list_new_tasks(bench, tasks, kContextBytes);
  if (!large) return fail(large.error());
  Row row{.id = "rows.list",
          .title = fmt::format("list of {} tasks with 1 MiB of context", tasks),
          .value = large->ms,
          .unit = Unit::milliseconds};
  row.judgements.push_back(
      {.what = "x the time of small ones", .value = large->ms / small->ms, .bound = 1.5, .at_least = false});
  row.judgements.push_back(
      {.what = "x their bytes", .value = large->bytes / small->bytes, .bound = 1.1, .at_least = false});
  row.more = {{"bytes", large->bytes}, {"smallMs", small->ms}, {"smallBytes", small->bytes}};
  bench.report.add(std::move(row));
  return measure_watcher(bench);
}

}  // namespace shepherd::bench
